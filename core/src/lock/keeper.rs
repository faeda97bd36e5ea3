//! Keeping a hold alive: when to extend it, when to stop.
//!
//! The keeper is an entry of the hold itself. It cannot outlive the release, which removes the hold
//! from its table. It never acquires again: it only begins extension rounds, and none before a caller has the
//! guard: the future that has won may not be polled for as long as its program likes.

use super::{Around, Attempt, Hold, Locks, Purpose};
use crate::quorum::Instant;
use crate::shared::{AttemptId, Cx, Event, Timer};

impl Locks {
    /// Reports that an extension by the keeper is due, and does so again in a while unless it begins.
    pub(crate) fn keep(&mut self, cx: &mut Cx, id: AttemptId) {
        if let Some(attempt) = self.attempts.get_mut(id.0) {
            attempt.keep_again(cx);
            cx.events.push(Event::Keep { attempt: id });
        }
    }

    /// Begins the keeper's extension of a hold that its caller has picked up.
    pub(crate) fn extend_kept(&mut self, at: &mut Around, id: AttemptId) {
        if let Some(hold) = self.attempts.get_mut(id.0).and_then(Attempt::held_mut)
            && at.cx.now < hold.deadline
        {
            hold.keep_at(&mut at.cx, id, None);
            self.begin_extend(at, id, Purpose::Renew(None));
        }
    }
}

impl Attempt {
    /// Schedules the next extension, after a round that began at `started` has won or extended the
    /// hold.
    pub(crate) fn keep_after(&mut self, cx: &mut Cx, started: Instant) {
        let (id, ttl, place) = (self.id, self.ttl.span(), self.claim.token.place());
        if let Some(hold) = self.held_mut()
            && let Some(keeper) = hold.keeper
        {
            let at = keeper.next(started, ttl, hold.deadline, place);
            hold.keep_at(cx, id, at);
        }
    }

    /// Schedules the next extension, if the last was neither won nor lost, or has not begun.
    pub(crate) fn keep_again(&mut self, cx: &mut Cx) {
        let id = self.id;
        if let Some(hold) = self.held_mut()
            && let Some(keeper) = hold.keeper
        {
            let at = keeper.retry(cx.now, hold.deadline);
            hold.keep_at(cx, id, Some(at));
        }
    }
}

impl Hold {
    fn keep_at(&mut self, cx: &mut Cx, id: AttemptId, at: Option<Instant>) {
        if let Some(old) = std::mem::replace(&mut self.extend_at, at) {
            cx.timers.cancel(old, Timer::Keep(id));
        }
        if let Some(at) = at {
            cx.timers.set(at, Timer::Keep(id));
        }
    }
}
