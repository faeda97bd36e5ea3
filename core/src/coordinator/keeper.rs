//! Keeping a hold alive: when to extend it, when to stop.
//!
//! The keeper is an entry of the hold itself. It cannot outlive the release, which removes the hold
//! from its table. It never acquires again: it only begins extension rounds.

use super::attempt::Attempt;
use super::purpose::{Asker, Purpose};
use super::timers::Timer;
use super::{AttemptId, Coordinator};
use crate::quorum::Instant;

impl Coordinator {
    /// Begins the keeper's extension, which is due.
    pub(super) fn keep(&mut self, now: Instant, id: AttemptId) {
        let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) else { return };
        hold.extend_at = None;
        if now < hold.deadline {
            self.begin_extend(now, id, Purpose::Renew(Asker::Keeper));
        }
    }

    /// Schedules the next extension, after a round that began at `started` has won or extended the
    /// hold.
    pub(super) fn keep_after(&mut self, started: Instant, id: AttemptId) {
        let Some(attempt) = self.attempts.get(id) else { return };
        let Some((keeper, hold)) = attempt.held().and_then(|hold| Some((hold.keeper?, hold)))
        else {
            return;
        };
        let place = attempt.claim.token.place();
        let at = keeper.next(started, attempt.ttl.span(), hold.deadline, place);
        self.keep_at(id, at);
    }

    /// Schedules the next extension, after a round of the keeper's that was neither won nor lost.
    pub(super) fn keep_again(&mut self, now: Instant, id: AttemptId) {
        let Some(hold) = self.attempts.get(id).and_then(Attempt::held) else { return };
        if let Some(keeper) = hold.keeper {
            let at = keeper.retry(now, hold.deadline);
            self.keep_at(id, Some(at));
        }
    }

    fn keep_at(&mut self, id: AttemptId, at: Option<Instant>) {
        let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) else { return };
        if let Some(old) = std::mem::replace(&mut hold.extend_at, at) {
            self.timers.cancel(old, Timer::Keep(id));
        }
        if let Some(at) = at {
            self.timers.set(at, Timer::Keep(id));
        }
    }
}
