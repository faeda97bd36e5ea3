//! The hint of a writer that waits. It is no vote: one that is lost, late or left behind costs at
//! most its life.

use crate::coordinator::session::PendingReply;
use crate::coordinator::timers::Timer;
use crate::coordinator::wire::{self, Token};
use crate::coordinator::{Coordinator, Keys, RequestId};
use crate::quorum::Instant;
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
pub(in crate::coordinator) struct Hints(BTreeMap<RequestId, Hint>);

/// The hint that a writer has set.
struct Hint {
    /// Who has set it: another writer's hint may have replaced it.
    id: Token,
    renew_at: Instant,
}

#[cfg(any(test, feature = "testing"))]
impl Hints {
    pub(in crate::coordinator) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Coordinator {
    /// Sets hints after a contender for `keys` was refused: its own if it is a writer, and otherwise
    /// that of the first writer which waits behind it. A plain acquire has no hint to set, and nor does
    /// one that waits in turn; the writer would starve with it.
    pub(in crate::coordinator) fn want(&mut self, now: Instant, request: RequestId, keys: &Keys) {
        if keys.as_writer().is_some() {
            return self.set_hint(now, request);
        }
        for key in keys.iter() {
            if self.local_queue.contender(key) == Some(request)
                && let Some(writer) = self.local_queue.first_writer(key)
            {
                self.set_hint(now, writer);
            }
        }
    }

    /// Does the same for the writers behind the contender for `key`, if that one has been refused.
    pub(in crate::coordinator) fn want_behind(&mut self, now: Instant, key: &str) {
        let contender = self.local_queue.contender(key);
        let acquisition = contender.and_then(|one| Some((one, self.acquisitions.get(one)?)));
        let Some((contender, acquisition)) = acquisition else { return };
        if acquisition.was_refused() {
            let keys = acquisition.request.keys.clone();
            self.want(now, contender, &keys);
        }
    }

    fn set_hint(&mut self, now: Instant, writer: RequestId) {
        if !self.hints.0.contains_key(&writer) {
            self.renew_hint(now, writer);
        }
    }

    /// Sets the hint on every master, for as long as it lives, and again before that is over. Behind a
    /// holder it is not renewed: that one keeps readers out, and passes on in the write of its release.
    pub(in crate::coordinator) fn renew_hint(&mut self, now: Instant, writer: RequestId) {
        let Some(acquisition) = self.acquisitions.get(writer) else { return };
        let keys = &acquisition.request.keys;
        let Some(beside) = keys.as_writer() else { return };
        if self.local_queue.contender(keys.first()).is_none() {
            let keys = keys.clone();
            return self.withdraw_hint(now, writer, &keys, false);
        }
        let id = match self.hints.0.get(&writer) {
            Some(hint) => Some(hint.id),
            None => self.random.bits().map(Token::new),
        };
        // Without a hint it waits all the same.
        let Some(id) = id else { return };
        let command = wire::want(&beside.hint, &id.to_string(), HINT_LIFE.into());
        self.send_hint(&command);
        let renew_at = now.after(RENEWED_AFTER);
        self.timers.set(renew_at, Timer::Hint(writer));
        self.hints.0.insert(writer, Hint { id, renew_at });
    }

    /// Takes back the hint of a writer that has won. If it has given up, the hint ends soon, and the
    /// next writer of this process sets its own.
    pub(in crate::coordinator) fn withdraw_hint(
        &mut self,
        now: Instant,
        writer: RequestId,
        keys: &Keys,
        has_won: bool,
    ) {
        let Some(beside) = keys.as_writer() else { return };
        let Some(hint) = self.hints.0.remove(&writer) else { return };
        self.timers.cancel(hint.renew_at, Timer::Hint(writer));
        let id = hint.id.digits();
        if has_won {
            return self.send_hint(&wire::delete(&beside.hint, &id));
        }
        self.send_hint(&wire::shorten_hint(&beside.hint, &id, LEFT_FOR.into()));
        self.want_behind(now, keys.first());
        self.notify_readers(now, keys);
    }

    /// Notifies the readers that wait, here and elsewhere, that they may be let in, or how soon.
    pub(in crate::coordinator) fn notify_readers(&mut self, now: Instant, keys: &Keys) {
        let key = keys.first();
        self.readers.stir(key);
        if let Some(first) = self.first_node(now, key).filter(|_| self.settings.wake_ups) {
            self.sessions[first].tell(key, "", &mut self.packer);
        }
    }

    fn send_hint(&mut self, command: &[u8]) {
        for session in self.sessions.iter_mut().filter(|one| one.admits(command.len()).is_ok()) {
            session.push(PendingReply::Uncounted, command);
        }
    }
}
