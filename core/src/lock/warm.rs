//! Warm locks: a hold that was given back stays idle in this process, and goes to the next acquire here
//! without the masters.
//!
//! To the masters it is held all the while. It goes to another guard within the first half of its validity,
//! counted from when its acquire has asked the masters: so that no guard begins with little time, and so that
//! clients that poll for it get their turn; and no longer than until it is left to them (`waiting/left.rs`). Nothing
//! extends a hold that is idle.
//!
//! A fenced acquire takes a block of numbers. The first guard has its first number, and each guard after it the
//! next. The fence is at the end of the block, and so is the hold once all are used: it is released.

use super::{Attempt, Hold, Locks, Stage};
use crate::quorum::{Instant, Keeper, Nanos};
use crate::shared::{AcquireRequest, AttemptId, Cx, IdleEnd, RequestId, Settings, Timer};
use crate::shelf::{IdleHold, Recalled, WarmTerms, idle_until};
use crate::waiting::{NextHolder, Waiters, left_at};
use std::sync::Arc;

/// A hold that was given back. No guard has it, unless one has taken it from the shelf.
#[derive(Clone, Copy)]
pub(crate) struct Idle {
    deadline: Instant,
    /// No guard gets it from then on.
    passes_until: Instant,
    /// No guard has had it since then.
    since: Instant,
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
        let is_warm = |attempt: &&mut Attempt| may_stay && attempt.warm > Nanos::ZERO;
        let Some(attempt) = self.attempts.get_mut(id).filter(is_warm) else { return false };
        let Some(&hold) = attempt.held() else { return false };
        let passes_until = attempt.passes_until(hold.deadline, &cx.masters.settings);
        if cx.now >= passes_until || !attempt.has_number_left() {
            waiters.notify_others(&attempt.claim.keys);
            return false;
        }
        match waiters.next_holder(&attempt.claim.keys) {
            NextHolder::InThisProcess(request) => self.pass_on(cx, waiters, id, request),
            NextHolder::Elsewhere => false,
            NextHolder::NoClient if self.unpaid.has(cx.now, attempt.claim.keys.first()) => false,
            NextHolder::NoClient => {
                attempt.leave(cx, waiters, id, hold);
                attempt.put_on_shelf(cx, id);
                true
            }
        }
    }

    /// Takes a hold from the shelf, as [`Attempt::recall`] does.
    pub(crate) fn recall(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId) -> bool {
        self.attempts.get_mut(id).is_some_and(|attempt| attempt.recall(cx, waiters, id))
    }

    /// Releases a hold that has been idle for its time. A guard may have had it since it was set.
    pub(crate) fn end_idle(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId) {
        if let Some(attempt) = self.attempts.get_mut(id)
            && attempt.recall(cx, waiters, id)
        {
            if attempt.was_idle_long_enough(cx.now) {
                let _is_idle = self.release_idle(cx, waiters, id, IdleEnd::Unused);
            } else {
                attempt.put_on_shelf(cx, id);
            }
        }
    }

    /// Gives an acquire the hold that is idle under its key. If that does not suit it, what is idle under its
    /// keys is released, and the acquire asks the masters. If a guard has such a hold, the acquire waits for it.
    pub(crate) fn reuse(&mut self, cx: &mut Cx, waiters: &mut Waiters, request: RequestId) {
        let Some(acquire) = waiters.request(request) else { return };
        let keys = acquire.keys.clone();
        let mut is_in_use = false;
        if let Some(id) = waiters.idle(keys.first()) {
            is_in_use = !self.recall(cx, waiters, id);
            if !is_in_use && self.pass_on(cx, waiters, id, request) {
                return;
            }
        }
        for key in keys.iter() {
            if let Some(id) = waiters.idle(key) {
                is_in_use |= !self.release_idle(cx, waiters, id, IdleEnd::NotSuited);
            }
        }
        if is_in_use {
            waiters.found_in_use(cx, request);
        }
    }

    /// Releases a hold that is idle. Returns `false` if a guard has it.
    pub(crate) fn release_idle(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        id: AttemptId,
        reason: IdleEnd,
    ) -> bool {
        let Some(attempt) = self.attempts.get_mut(id) else { return false };
        let is_idle = attempt.recall(cx, waiters, id);
        if is_idle {
            let (key, guards) = (attempt.claim.keys.first(), attempt.reuses);
            // It is not kept warm for a while if a client elsewhere asks for it too soon.
            if reason == IdleEnd::Asked && self.unpaid.asked(cx.now, key, guards) {
                cx.events.pauses_warm();
            }
            // A timer may be late.
            let reason =
                if attempt.was_idle_long_enough(cx.now) { IdleEnd::Unused } else { reason };
            cx.events.idle_released(key, reason);
            self.begin_release(cx, waiters, None, id, true);
        }
        is_idle
    }

    /// Releases all that is idle.
    pub(crate) fn release_all_idle(&mut self, cx: &mut Cx, waiters: &mut Waiters) {
        for id in self.attempts.ids(|attempt| attempt.idle().is_some()) {
            let _is_idle = self.release_idle(cx, waiters, id, IdleEnd::Shutdown);
        }
    }

    /// Passes a hold on to an acquire that waits in this process, if it suits that. No guard has it any more, and
    /// a fenced one has a number left, or it would not have been left here.
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
        let suits =
            |attempt: &Attempt| attempt.suits(acquire) && !attempt.was_idle_long_enough(cx.now);
        if !self.attempts.get(id).is_some_and(suits) {
            return false;
        }
        let Some(mut attempt) = self.attempts.remove(id) else { return false };
        attempt.cancel_timers(&mut cx.timers, id);
        let deadline = match attempt.stage {
            Stage::Held(hold) => hold.deadline,
            Stage::Idle(idle) => idle.deadline,
            _ => cx.now,
        };
        cx.events.reused(request);
        let won = waiters.won_without_masters(cx, request, &attempt.claim.keys);
        let keeper = won.keep_alive.map(|most| Keeper::new(cx.now.after(most.span())));
        attempt.warm = won.warm;
        attempt.reuses = attempt.reuses.saturating_add(1);
        if let Some(ballot) = &mut attempt.claim.ballot {
            ballot.take_next();
        }
        let (hold, asked) = (Hold::until(deadline, keeper), attempt.began);
        let id: AttemptId = self.attempts.reserve();
        attempt.begin_hold(cx, request, id, hold, asked);
        if keeper.is_none() && !self.unpaid.has(cx.now, attempt.claim.keys.first()) {
            attempt.lend(cx, waiters, id, hold);
        }
        self.attempts.insert(id, attempt);
        true
    }
}

impl Attempt {
    /// Leaves a hold idle from now on.
    fn leave(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId, hold: Hold) {
        self.cancel_timers(&mut cx.timers, id);
        let (deadline, since) = (hold.deadline, cx.now);
        let passes_until = self.passes_until(deadline, &cx.masters.settings);
        let until = idle_until(passes_until, since, self.warm);
        self.stage = Stage::Idle(Idle { deadline, passes_until, since, until });
        cx.timers.set(until, Timer::Idle(id));
        waiters.left_idle(&self.claim.keys, id);
    }

    /// Lets callers of this process take a hold that is idle.
    fn put_on_shelf(&self, cx: &Cx, id: AttemptId) {
        if let Some(shelf) = &cx.shelf
            && let Some((key, hold, since)) = self.idle_hold(id)
        {
            shelf.put(key, hold, since);
        }
    }

    /// Leaves it to the guard of a hold to put that on the shelf, unless a client waits for it.
    fn lend(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId, hold: Hold) {
        if self.warm > Nanos::ZERO
            && self.may_be_lent()
            && matches!(waiters.next_holder(&self.claim.keys), NextHolder::NoClient)
            && let Some(shelf) = cx.shelf.clone()
        {
            self.leave(cx, waiters, id, hold);
            if let Some((key, hold, _)) = self.idle_hold(id) {
                shelf.promise(key, hold);
            }
        }
    }

    /// Returns what a caller of this process has to know of a hold that is idle, and since when it is; `None` if no
    /// caller may take it by itself.
    fn idle_hold(&self, id: AttemptId) -> Option<(&Arc<str>, IdleHold, Instant)> {
        let &Idle { deadline, passes_until, since, .. } =
            self.idle().filter(|_| self.may_be_lent())?;
        let terms = WarmTerms { ttl: self.ttl, label: self.claim.label.clone(), warm: self.warm };
        let hold = IdleHold { attempt: id, terms, deadline, passes_until };
        Some((self.claim.keys.first(), hold, since))
    }

    /// Takes a hold from the shelf. Returns `false` if a guard has it: then it is held. Otherwise it is idle, and
    /// to be released at its time.
    pub(crate) fn recall(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: AttemptId) -> bool {
        let Stage::Idle(idle) = &mut self.stage else { return false };
        let key = self.claim.keys.first();
        let recalled = cx.shelf.as_ref().and_then(|shelf| shelf.recall(key, id));
        let Some(Recalled { idle_since, taken }) = recalled else { return true };
        self.reuses = self.reuses.saturating_add(taken);
        cx.timers.cancel(idle.until, Timer::Idle(id));
        match idle_since {
            Some(since) => {
                (idle.since, idle.until) = (since, idle_until(idle.passes_until, since, self.warm));
                cx.timers.set(idle.until, Timer::Idle(id));
            }
            None => {
                let deadline = idle.deadline;
                cx.timers.set(deadline, Timer::Deadline(id));
                waiters.occupy_idle(&self.claim.keys, id);
                self.stage = Stage::Held(Hold::until(deadline, None));
            }
        }
        idle_since.is_some()
    }

    /// Returns the hold that no guard has.
    pub(crate) const fn idle(&self) -> Option<&Idle> {
        match &self.stage {
            Stage::Idle(idle) => Some(idle),
            _ => None,
        }
    }

    /// Returns whether the hold was to be idle until `now` or earlier.
    fn was_idle_long_enough(&self, now: Instant) -> bool {
        self.idle().is_some_and(|idle| now >= idle.until)
    }

    /// Returns until when the hold may go to another guard without the masters.
    fn passes_until(&self, deadline: Instant, settings: &Settings) -> Instant {
        let ttl = self.ttl.span();
        let half = ttl.saturating_sub(settings.drift.of(ttl)) / 2;
        self.began.after(half).min(deadline).min(left_at(self.began, settings.backoff.cap))
    }

    /// Returns whether callers may take the hold by themselves: the coordinator alone knows the number of the next
    /// guard.
    const fn may_be_lent(&self) -> bool {
        self.claim.ballot.is_none()
    }

    /// Returns whether another guard can have the hold, with a number of its own if it is fenced.
    fn has_number_left(&self) -> bool {
        self.claim.ballot.as_ref().is_none_or(|ballot| ballot.has_next())
    }

    /// Returns whether an acquire may have this hold: to the masters, and to a client that inspects it,
    /// it is the one that it would have won.
    fn suits(&self, acquire: &AcquireRequest) -> bool {
        let Attempt { claim, ttl, .. } = self;
        let fences = claim.ballot.as_ref().map(|ballot| &ballot.fences);
        acquire.may_be_warm()
            && fences == acquire.fences.as_ref()
            && (&claim.keys, *ttl, &claim.label) == (&acquire.keys, acquire.ttl, &acquire.label)
    }
}
