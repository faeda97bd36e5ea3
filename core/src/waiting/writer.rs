//! The hint that a writer waits. It is no vote: one that is lost, late or left behind costs at most its
//! life.

use super::{Phase, Waiters};
use crate::master::PendingReply;
use crate::quorum::Instant;
use crate::shared::{Cx, Keys, RequestId, Timer};
use crate::waiting::tuning::SAID_AGAIN_AFTER;
use crate::wire::{self, Token};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The hints that this process has set, one for each key: the masters are sent no more for a long queue
/// than for a short one, and the next writer to win takes back what those before it have set.
#[derive(Default)]
pub(crate) struct Hints(BTreeMap<Arc<str>, Hint>);

struct Hint {
    /// Another process's hint may have replaced it.
    id: Token,
    writer: RequestId,
    /// When it is renewed, or over.
    due_at: Instant,
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
        if let Some(Phase::Waiting { failure, .. }) = acquisition.phase()
            && acquisition.attempts() > 0
            && failure.kind.is_contended()
        {
            let keys = acquisition.request.keys.clone();
            self.want(cx, contender, &keys);
        }
    }

    /// Sets the hint on every master, unless this process has one there. It is due again before its life is over.
    fn set_hint(&mut self, cx: &mut Cx, writer: RequestId) {
        let Some(acquisition) = self.acquisitions.get(writer) else { return };
        let keys = &acquisition.request.keys;
        let Some(beside) = keys.as_writer() else { return };
        let earlier = self.hints.0.get(keys.first());
        let is_there =
            |hint: &Hint| hint.due_at > cx.now && self.acquisitions.get(hint.writer).is_some();
        if earlier.is_some_and(is_there) {
            return;
        }
        // Without a hint it waits all the same.
        let Some(id) = earlier.map(|hint| hint.id).or_else(|| cx.masters.token()) else { return };
        if let Some(hint) = earlier {
            cx.timers.cancel(hint.due_at, Timer::Hint(hint.writer));
        }
        // One renewal may be lost. A writer that dies while it waits keeps new readers out for as long.
        let life = 3 * SAID_AGAIN_AFTER;
        let command = wire::want(&beside.hint, &id.to_string(), life.into());
        let (key, due_at) = (keys.first().clone(), cx.now.after(SAID_AGAIN_AFTER));
        self.send_hint(cx, &command);
        cx.timers.set(due_at, Timer::Hint(writer));
        self.hints.0.insert(key, Hint { id, writer, due_at });
    }

    /// Renews the hint of a writer that waits, and forgets that of a writer that has given up. Behind a holder it is
    /// not renewed: that one keeps readers out, and passes on in the write of its release.
    pub(crate) fn hint_is_due(&mut self, cx: &mut Cx, writer: RequestId) {
        let Some(acquisition) = self.acquisitions.get(writer) else {
            return self.hints.0.retain(|_, hint| hint.writer != writer);
        };
        if self.local_queue.contender(acquisition.request.keys.first()).is_some() {
            self.set_hint(cx, writer);
        }
    }

    /// Takes back the hint of this process once a writer has won. If the writer of the hint has given up, the next one
    /// renews it, or it ends soon.
    pub(crate) fn withdraw_hint(
        &mut self,
        cx: &mut Cx,
        writer: RequestId,
        keys: &Keys,
        has_won: bool,
    ) {
        let Some(beside) = keys.as_writer() else { return };
        let key = keys.first();
        if has_won {
            let Some(hint) = self.hints.0.remove(key) else { return };
            cx.timers.cancel(hint.due_at, Timer::Hint(hint.writer));
            return self.send_hint(cx, &wire::delete(&beside.hint, &hint.id.digits()));
        }
        self.want_behind(cx, key);
        let Some(hint) = self.hints.0.get_mut(key).filter(|hint| hint.writer == writer) else {
            return;
        };
        cx.timers.cancel(hint.due_at, Timer::Hint(writer));
        // It may have replaced the hint of a writer that goes on waiting: that one has renewed its own by then. A hint that
        // is deleted instead lets readers in before that (`proof/model/src/waiting`).
        let left_for = 3 * SAID_AGAIN_AFTER / 2;
        hint.due_at = cx.now.after(left_for);
        cx.timers.set(hint.due_at, Timer::Hint(writer));
        let command = wire::shorten_hint(&beside.hint, &hint.id.digits(), left_for.into());
        self.send_hint(cx, &command);
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
