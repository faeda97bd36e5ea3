//! The hint of a writer that waits. It is no vote: one that is lost, late or left behind costs at
//! most its life.

use crate::coordinator::acquisition::Acquisition;
use crate::coordinator::session::PendingReply;
use crate::coordinator::timers::Timer;
use crate::coordinator::wire::{self, Token};
use crate::coordinator::{Coordinator, Keys, RequestId};
use crate::quorum::Instant;
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

/// The hint that a waiting acquire has set.
pub(in crate::coordinator) struct Hint {
    /// Who has set it: another writer's hint may have replaced it.
    id: Token,
    renew_at: Instant,
}

impl Coordinator {
    /// Sets or renews the hint of a writer that has just been refused, unless it is still fresh.
    pub(in crate::coordinator) fn want(&mut self, now: Instant, request: RequestId) {
        let hint = self.acquisitions.contention(request).and_then(|one| one.hint.as_ref());
        if hint.is_none() {
            self.renew_hint(now, request);
        }
    }

    /// Sets the hint on every master, for as long as it lives, and again before that is over.
    pub(in crate::coordinator) fn renew_hint(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let Some(beside) = acquisition.request.keys.as_writer() else { return };
        let Some(contention) = &acquisition.contention else { return };
        let id = match &contention.hint {
            Some(hint) => Some(hint.id),
            None => self.random.bits().map(Token::new),
        };
        // Without a hint it waits all the same.
        let Some(id) = id else { return };
        let command = wire::want(&beside.hint, &id.to_string(), HINT_LIFE.into());
        self.send_hint(&command);
        let renew_at = now.after(RENEWED_AFTER);
        self.timers.set(renew_at, Timer::Hint(request));
        if let Some(contention) = self.acquisitions.contention_mut(request) {
            contention.hint = Some(Box::new(Hint { id, renew_at }));
        }
    }

    /// Takes back the hint of a writer that has won. If it has given up, the hint ends soon.
    pub(in crate::coordinator) fn withdraw_hint(
        &mut self,
        now: Instant,
        request: RequestId,
        acquisition: &mut Acquisition,
        has_won: bool,
    ) {
        let hint = acquisition.contention.as_mut().and_then(|one| one.hint.take());
        let keys = &acquisition.request.keys;
        let Some((hint, beside)) = hint.zip(keys.as_writer()) else { return };
        self.timers.cancel(hint.renew_at, Timer::Hint(request));
        let id = hint.id.digits();
        if has_won {
            return self.send_hint(&wire::delete(&beside.hint, &id));
        }
        self.send_hint(&wire::shorten(&beside.hint, &id, LEFT_FOR.into()));
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
