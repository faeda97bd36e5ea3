//! The hint of a writer that waits. It is no vote: one that is lost, late or left behind costs at
//! most its life.

use super::Waiters;
use crate::master::PendingReply;
use crate::quorum::Instant;
use crate::shared::{Cx, Keys, RequestId, Timer};
use crate::wire::{self, Token};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a hint stands unless it is renewed: a writer that dies while it waits keeps new readers
/// out for this long.
const HINT_LIFE: Duration = Duration::from_secs(3);

/// The time between two renewals. One may be lost.
const RENEWED_AFTER: Duration = Duration::from_secs(1);

/// How long the hint of a writer that gives up still stands. It may have replaced the hint of a writer
/// that goes on waiting: that one has renewed its own by then. A hint that is deleted instead lets
/// readers in before that (`proof/model/src/waiting`).
const LEFT_FOR: Duration = Duration::from_millis(1_500);

/// The hints of the writers of this process, by the writer's request. At most one for each key, so that
/// the masters are sent no more for a long queue than for a short one.
#[derive(Default)]
pub(crate) struct Hints(BTreeMap<RequestId, Hint>);

/// The hint that a writer has set.
struct Hint {
    /// The writer that has set it: another writer's hint may have replaced it.
    id: Token,
    renew_at: Instant,
}

#[cfg(any(test, feature = "testing"))]
impl Hints {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Waiters {
    /// Sets hints after a contender for `keys` was refused: its own if it is a writer, and otherwise
    /// that of the first writer which waits behind it. A plain acquire has no hint to set, and nor does
    /// one that waits in turn; the writer would starve with it.
    pub(crate) fn want(&mut self, cx: &mut Cx, request: RequestId, keys: &Keys) {
        if keys.as_writer().is_some() {
            return self.set_hint(cx, request);
        }
        for key in keys.iter() {
            if self.local_queue.contender(key) == Some(request)
                && let Some(writer) = self.local_queue.first_writer(key)
            {
                self.set_hint(cx, writer);
            }
        }
    }

    /// Does the same for the writers behind the contender for `key`, if that one has been refused.
    pub(crate) fn want_behind(&mut self, cx: &mut Cx, key: &str) {
        let contender = self.local_queue.contender(key);
        let acquisition = contender.and_then(|id| Some((id, self.acquisitions.get(id)?)));
        let Some((contender, acquisition)) = acquisition else { return };
        if acquisition.was_refused() {
            let keys = acquisition.request.keys.clone();
            self.want(cx, contender, &keys);
        }
    }

    fn set_hint(&mut self, cx: &mut Cx, writer: RequestId) {
        if !self.hints.0.contains_key(&writer) {
            self.renew_hint(cx, writer);
        }
    }

    /// Sets the hint on every master, for as long as it lives, and again before that is over. Behind a
    /// holder it is not renewed: that one keeps readers out, and passes on in the write of its release.
    pub(crate) fn renew_hint(&mut self, cx: &mut Cx, writer: RequestId) {
        let Some(acquisition) = self.acquisitions.get(writer) else { return };
        let keys = &acquisition.request.keys;
        let Some(beside) = keys.as_writer() else { return };
        if self.local_queue.contender(keys.first()).is_none() {
            let keys = keys.clone();
            return self.withdraw_hint(cx, writer, &keys, false);
        }
        let id = match self.hints.0.get(&writer) {
            Some(hint) => Some(hint.id),
            None => cx.masters.token(),
        };
        // Without a hint it waits all the same.
        let Some(id) = id else { return };
        let command = wire::want(&beside.hint, &id.to_string(), HINT_LIFE.into());
        self.send_hint(cx, &command);
        let renew_at = cx.now.after(RENEWED_AFTER);
        cx.timers.set(renew_at, Timer::Hint(writer));
        self.hints.0.insert(writer, Hint { id, renew_at });
    }

    /// Takes back the hint of a writer that has won. If it has given up, the hint ends soon, and the
    /// next writer of this process sets its own.
    pub(crate) fn withdraw_hint(
        &mut self,
        cx: &mut Cx,
        writer: RequestId,
        keys: &Keys,
        has_won: bool,
    ) {
        let Some(beside) = keys.as_writer() else { return };
        let Some(hint) = self.hints.0.remove(&writer) else { return };
        cx.timers.cancel(hint.renew_at, Timer::Hint(writer));
        let id = hint.id.digits();
        if has_won {
            return self.send_hint(cx, &wire::delete(&beside.hint, &id));
        }
        self.send_hint(cx, &wire::shorten_hint(&beside.hint, &id, LEFT_FOR.into()));
        self.want_behind(cx, keys.first());
        self.shared(cx, keys);
    }

    /// Notifies the readers that wait, here and elsewhere, that they may be let in, or how soon.
    pub(crate) fn shared(&mut self, cx: &mut Cx, keys: &Keys) {
        let key = keys.first();
        self.readers.stir(key);
        let set = keys.as_reader().or_else(|| keys.as_writer());
        if let Some(set) = set.filter(|_| cx.masters.settings.wake_ups) {
            cx.masters.tell_readers(cx.now, key, &set.hint);
        }
    }

    fn send_hint(&mut self, cx: &mut Cx, command: &[u8]) {
        for session in
            cx.masters.sessions.iter_mut().filter(|session| session.admits(command.len()).is_ok())
        {
            session.push(PendingReply::Uncounted, command);
        }
    }
}
