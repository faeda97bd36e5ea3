//! Keeping a hold alive: when to extend it, when to stop.
//!
//! The keeper is an entry of the hold itself. It cannot outlive the release, which removes the hold
//! from its table. It never acquires again: it only begins extension rounds.

use super::{Asker, Attempt, Locks, Purpose};
use crate::quorum::Instant;
use crate::shared::{AttemptId, Cx, Timer};
use crate::waiting::Waiters;

impl Locks {
    /// Begins the keeper's extension, which is due.
    pub(crate) fn keep(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId) {
        let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) else { return };
        hold.extend_at = None;
        if cx.now < hold.deadline {
            self.begin_extend(cx, waiters, id, Purpose::Renew(Asker::Keeper));
        }
    }

    /// Schedules the next extension, after a round that began at `started` has won or extended the
    /// hold.
    pub(crate) fn keep_after(&mut self, cx: &mut Cx, started: Instant, id: AttemptId) {
        let Some(attempt) = self.attempts.get(id) else { return };
        let Some((keeper, hold)) = attempt.held().and_then(|hold| Some((hold.keeper?, hold)))
        else {
            return;
        };
        let place = attempt.claim.token.place();
        let at = keeper.next(started, attempt.ttl.span(), hold.deadline, place);
        self.keep_at(cx, id, at);
    }

    /// Schedules the next extension, after a round of the keeper's that was neither won nor lost.
    pub(crate) fn keep_again(&mut self, cx: &mut Cx, id: AttemptId) {
        let Some(hold) = self.attempts.get(id).and_then(Attempt::held) else { return };
        if let Some(keeper) = hold.keeper {
            let at = keeper.retry(cx.now, hold.deadline);
            self.keep_at(cx, id, Some(at));
        }
    }

    fn keep_at(&mut self, cx: &mut Cx, id: AttemptId, at: Option<Instant>) {
        let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) else { return };
        if let Some(old) = std::mem::replace(&mut hold.extend_at, at) {
            cx.timers.cancel(old, Timer::Keep(id));
        }
        if let Some(at) = at {
            cx.timers.set(at, Timer::Keep(id));
        }
    }
}
