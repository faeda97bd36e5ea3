//! Warm locks: a hold that was given back stays idle in this process, and goes to the next acquire here
//! without the masters.
//!
//! To the masters it is held all the while. It goes to another guard within the first half of its validity,
//! counted from when its acquire has asked the masters: so that no guard begins with little time, and so that
//! clients that poll for it get their turn. Nothing extends a hold that is idle.

use super::{Attempt, Hold, Locks, Stage};
use crate::quorum::{ClockDrift, Instant, Nanos};
use crate::shared::{AcquireRequest, AttemptId, Cx, Event, RequestId, Timer};
use crate::waiting::{NextHolder, Waiters};

/// A hold that was given back, and that no guard has.
#[derive(Clone, Copy)]
pub(crate) struct Idle {
    deadline: Instant,
    /// It is released then.
    pub(crate) until: Instant,
}

impl Locks {
    /// Gives back a hold that was given up `in_time`, if its acquire has asked for a warm one: it goes to the
    /// next acquire in this process, or stays idle. Returns `false` if it is to be released.
    pub(crate) fn leave_idle(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        id: AttemptId,
        in_time: bool,
    ) -> bool {
        let may_stay = in_time && !cx.masters.departs();
        let is_warm = |attempt: &&Attempt| may_stay && attempt.warm > Nanos::ZERO;
        let Some(attempt) = self.attempts.get(id).filter(is_warm) else { return false };
        let Some(hold) = attempt.held().copied() else { return false };
        let passes_until = attempt.passes_until(hold.deadline, cx.masters.settings.drift);
        if cx.now >= passes_until {
            waiters.notify_others(&attempt.claim.keys);
            return false;
        }
        match waiters.next_holder(&attempt.claim.keys) {
            NextHolder::InThisProcess(request) => self.pass_on(cx, waiters, id, request),
            NextHolder::Elsewhere => false,
            NextHolder::NoClient => {
                let until = passes_until.min(cx.now.after(attempt.warm.span()));
                self.rest(cx, waiters, id, hold, until);
                true
            }
        }
    }

    fn rest(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        id: AttemptId,
        hold: Hold,
        until: Instant,
    ) {
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        hold.cancel_timers(&mut cx.timers, id);
        attempt.stage = Stage::Idle(Idle { deadline: hold.deadline, until });
        cx.timers.set(until, Timer::Idle(id));
        waiters.left_idle(&attempt.claim.keys, id);
    }

    /// Gives an acquire the hold that is idle under its key. If that does not suit it, what is idle under its
    /// keys is released, and the acquire asks the masters.
    pub(crate) fn reuse(&mut self, cx: &mut Cx, waiters: &mut Waiters, request: RequestId) {
        let Some(acquire) = waiters.request(request) else { return };
        let keys = acquire.keys.clone();
        if let Some(id) = waiters.idle(keys.first())
            && self.pass_on(cx, waiters, id, request)
        {
            return;
        }
        for key in keys.iter() {
            waiters.idle(key).into_iter().for_each(|id| self.release_idle(cx, waiters, id));
        }
    }

    /// Releases a hold that is idle.
    pub(crate) fn release_idle(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId) {
        if self.attempts.get(id).is_some_and(|attempt| attempt.idle().is_some()) {
            self.begin_release(cx, waiters, None, id, true);
        }
    }

    /// Releases all that is idle.
    pub(crate) fn release_all_idle(&mut self, cx: &mut Cx, waiters: &mut Waiters) {
        for id in self.attempts.ids(|attempt| attempt.idle().is_some()) {
            self.release_idle(cx, waiters, id);
        }
    }

    /// Passes a hold on to an acquire that waits in this process, if it suits that. No guard has it any more.
    /// It gets another id, so that nothing of the guard before it finds it: no answer, no keeper, no timer.
    fn pass_on(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        id: AttemptId,
        request: RequestId,
    ) -> bool {
        let Some(acquire) = waiters.request(request) else { return false };
        // A timer may be late, and very late after the process was stopped.
        let is_over = |attempt: &Attempt| attempt.idle().is_some_and(|idle| cx.now >= idle.until);
        let suits = |attempt: &Attempt| attempt.suits(acquire) && !is_over(attempt);
        if !self.attempts.get(id).is_some_and(suits) {
            return false;
        }
        let Some(mut attempt) = self.attempts.remove(id) else { return false };
        let deadline = match attempt.stage {
            Stage::Held(hold) => {
                hold.cancel_timers(&mut cx.timers, id);
                hold.deadline
            }
            Stage::Idle(idle) => {
                cx.timers.cancel(idle.until, Timer::Idle(id));
                idle.deadline
            }
            _ => cx.now,
        };
        let won = waiters.won_without_masters(cx, request, &attempt.claim.keys);
        let keeper = won.keep_alive.map(|keep_alive| keep_alive.keeper(cx.now));
        attempt.stage = Stage::Held(Hold { deadline, keeper, extend_at: None, untold: false });
        attempt.warm = won.warm;
        let asked = attempt.began;
        let id: AttemptId = self.attempts.reserve();
        self.attempts.insert(id, attempt);
        cx.timers.set(deadline, Timer::Deadline(id));
        cx.events.push(Event::Acquired { request, attempt: id, deadline, ballot: None });
        self.keep_after(cx, asked, id);
        true
    }
}

impl Attempt {
    /// Returns the hold that no guard has.
    pub(crate) const fn idle(&self) -> Option<&Idle> {
        match &self.stage {
            Stage::Idle(idle) => Some(idle),
            _ => None,
        }
    }

    /// Returns until when the hold may go to another guard without the masters.
    fn passes_until(&self, deadline: Instant, drift: ClockDrift) -> Instant {
        let ttl = self.ttl.span();
        self.began.after(ttl.saturating_sub(drift.of(ttl)) / 2).min(deadline)
    }

    /// Returns whether an acquire may have this hold: to the masters, and to whoever inspects it, it is the
    /// one that it would have won.
    fn suits(&self, acquire: &AcquireRequest) -> bool {
        let Attempt { claim, ttl, .. } = self;
        acquire.may_be_warm()
            && (&claim.keys, *ttl, &claim.label) == (&acquire.keys, acquire.ttl, &acquire.label)
    }
}
