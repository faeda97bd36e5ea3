//! Keeping a hold alive: when to extend it, when to stop.
//!
//! The keeper is an entry of the hold itself. It cannot outlive the release, which removes the hold
//! from its table. It never acquires again: it only begins extension rounds, and none before a caller has the
//! guard: the future that has won may not be polled for as long as its program likes.

use super::{Attempt, Hold, Locks, Purpose};
use crate::quorum::Instant;
use crate::shared::{AttemptId, Cx, Event, Timer};
use crate::waiting::Waiters;

impl Locks {
    /// Begins the keeper's extension, which is due.
    pub(crate) fn keep(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId) {
        let Some(hold) = self.held_mut(id) else { return };
        hold.extend_at = None;
        if hold.waits_for_guard {
            cx.events.push(Event::Keep { attempt: id });
        } else if cx.now < hold.deadline {
            self.begin_extend(cx, waiters, id, Purpose::Renew(None));
        }
    }

    /// Extends a hold only once its caller has picked it up.
    pub(crate) fn await_guard(&mut self, id: AttemptId) {
        if let Some(hold) = self.held_mut(id) {
            hold.waits_for_guard = hold.keeper.is_some();
        }
    }

    /// Extends a hold that its caller has picked up: at once if that has been due.
    pub(crate) fn picked_up(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId) {
        if let Some(hold) = self.held_mut(id)
            && std::mem::take(&mut hold.waits_for_guard)
            && hold.extend_at.is_none()
        {
            self.keep(cx, waiters, id);
        }
    }

    fn held_mut(&mut self, id: AttemptId) -> Option<&mut Hold> {
        self.attempts.get_mut(id)?.held_mut()
    }
}

impl Attempt {
    /// Schedules the next extension, after a round that began at `started` has won or extended the
    /// hold.
    pub(crate) fn keep_after(&mut self, cx: &mut Cx, id: AttemptId, started: Instant) {
        let (ttl, place) = (self.ttl.span(), self.claim.token.place());
        if let Some(hold) = self.held_mut()
            && let Some(keeper) = hold.keeper
        {
            let at = keeper.next(started, ttl, hold.deadline, place);
            hold.keep_at(cx, id, at);
        }
    }

    /// Schedules the next extension, after a round of the keeper's that was neither won nor lost.
    pub(crate) fn keep_again(&mut self, cx: &mut Cx, id: AttemptId) {
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
