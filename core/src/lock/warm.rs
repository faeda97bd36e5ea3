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

use super::{Around, Attempt, Hold, Locks, Stage};
use crate::quorum::{Instant, Keeper, Nanos};
use crate::shared::{
    AcquireRequest, AttemptId, Cx, Event, IdleEnd, Observation, RequestId, Settings, Timer,
    Watching,
};
use crate::shelf::{IdleHold, Recalled, WarmTerms};
use crate::waiting::{NextHolder, left_at};
use std::sync::Arc;

/// A hold that was given back. No guard has it, unless one has taken it from the shelf.
#[derive(Clone, Copy)]
pub(crate) struct Idle {
    deadline: Instant,
    /// It is released then.
    pub(crate) until: Instant,
}

impl Locks {
    /// Gives back a hold that was given up `in_time`, if its acquire has asked for a warm one: it goes to the
    /// next acquire in this process, or stays idle. Returns `false` if it is to be released.
    pub(crate) fn leave_idle(&mut self, at: &mut Around, id: AttemptId, in_time: bool) -> bool {
        let may_stay = in_time && !at.cx.masters.departs;
        let is_warm = |attempt: &&mut Attempt| may_stay && attempt.warm > Nanos::ZERO;
        let Some(attempt) = self.attempts.get_mut(id.0).filter(is_warm) else { return false };
        let Some(deadline) = attempt.held().map(|hold| hold.deadline) else { return false };
        let idle = attempt.idle_hold(deadline, &at.cx.masters.settings);
        let is_used_up = attempt.claim.ballot.as_ref().is_some_and(|ballot| !ballot.has_next());
        if at.cx.now >= idle.passes_until || is_used_up {
            at.waiters.notify_others(&attempt.claim.keys);
            return false;
        }
        match at.waiters.next_holder(&attempt.claim.keys) {
            NextHolder::InThisProcess(request) => self.pass_on(at, id, request),
            NextHolder::Elsewhere => false,
            NextHolder::NoClient if self.unpaid.has(at.cx.now, attempt.claim.keys.first()) => false,
            NextHolder::NoClient => {
                attempt.cancel_timers(&mut at.cx.timers);
                at.waiters.left_idle(&attempt.claim.keys, id);
                let until = idle.until(at.cx.now);
                attempt.stay_idle(&mut at.cx, idle, until);
                true
            }
        }
    }

    /// Takes a hold from the shelf, as [`Attempt::recall`] does.
    pub(crate) fn recall(&mut self, at: &mut Around, id: AttemptId) -> bool {
        self.attempts.get_mut(id.0).is_some_and(|attempt| attempt.recall(at))
    }

    /// Looks at a hold that is thought to be idle: if its time is over, it is released. A guard may have it, or may
    /// have had it.
    pub(crate) fn look_at_idle(&mut self, at: &mut Around, id: AttemptId) {
        if let Some(attempt) = self.attempts.get_mut(id.0)
            && attempt.recall(at)
            && let Some(&Idle { deadline, until }) = attempt.idle()
        {
            if at.cx.now < until {
                let idle = attempt.idle_hold(deadline, &at.cx.masters.settings);
                attempt.stay_idle(&mut at.cx, idle, until);
            } else {
                let _is_idle = self.release_idle(at, id, IdleEnd::Unused);
            }
        }
    }

    /// Gives an acquire the hold that is idle under its key. If that does not suit it, what is idle under its
    /// keys is released, and the acquire asks the masters. If a guard has such a hold, the acquire waits for it.
    pub(crate) fn reuse(&mut self, at: &mut Around, request: RequestId) {
        let Some(acquire) = at.waiters.request(request) else { return };
        let keys = acquire.keys.clone();
        let mut is_in_use = false;
        if let Some(id) = at.waiters.idle(keys.first()) {
            is_in_use = !self.recall(at, id);
            if !is_in_use && self.pass_on(at, id, request) {
                return;
            }
        }
        for key in keys.iter() {
            if let Some(id) = at.waiters.idle(key) {
                is_in_use |= !self.release_idle(at, id, IdleEnd::NotSuited);
            }
        }
        if is_in_use {
            at.waiters.found_in_use(&mut at.cx, request);
        }
    }

    /// Releases a hold that is idle. Returns `false` if a guard has it.
    pub(crate) fn release_idle(&mut self, at: &mut Around, id: AttemptId, reason: IdleEnd) -> bool {
        let is_idle = self.recall(at, id);
        if is_idle && let Some(attempt) = self.attempts.get(id.0) {
            let (key, guards) = (attempt.claim.keys.first(), attempt.reuses);
            // It is not kept warm for a while if another process asks for it too soon.
            if reason == IdleEnd::Asked && self.unpaid.asked(at.cx.now, key, guards) {
                at.cx.events.show(Watching::Outcomes, || Observation::PausesWarm);
            }
            // A timer may be late.
            let is_unused = attempt.idle().is_some_and(|idle| at.cx.now >= idle.until);
            let reason = if is_unused { IdleEnd::Unused } else { reason };
            let released = || Observation::IdleReleased { key: key.clone(), reason };
            at.cx.events.show(Watching::Votes, released);
            self.begin_release(at, None, id, true);
        }
        is_idle
    }

    /// Gives way to another client that has asked for `key`: what is idle there is released. A guard that
    /// has the key is notified, and keeps it.
    pub(crate) fn give_way(&mut self, at: &mut Around, key: &Arc<str>) {
        if let Some(id) = at.waiters.idle(key)
            && self.release_idle(at, id, IdleEnd::Asked)
        {
            return;
        }
        let has_it = |attempt: &Attempt| {
            attempt.hold().is_some() && attempt.claim.keys.iter().any(|held| held == key)
        };
        let holds = self.attempts.places(has_it).into_iter().map(AttemptId);
        holds.for_each(|attempt| at.cx.events.push(Event::Wanted { attempt }));
    }

    /// Releases all that is idle.
    pub(crate) fn release_all_idle(&mut self, at: &mut Around) {
        for place in self.attempts.places(|attempt| attempt.idle().is_some()) {
            let _is_idle = self.release_idle(at, AttemptId(place), IdleEnd::Shutdown);
        }
    }

    /// Passes a hold on to an acquire that waits in this process, if it suits that. No guard has it any more, and
    /// a fenced one has a number left, or it would not have been left here.
    /// It gets another id, so that nothing of the guard before it finds it: no answer, no keeper, no timer.
    fn pass_on(&mut self, at: &mut Around, id: AttemptId, request: RequestId) -> bool {
        let passed = self.attempts.get(id.0).zip(at.waiters.request(request));
        let deadline =
            passed.and_then(|(attempt, acquire)| attempt.deadline_for(acquire, at.cx.now));
        let Some(deadline) = deadline else { return false };
        let Some(mut attempt) = self.attempts.remove(id.0) else { return false };
        attempt.cancel_timers(&mut at.cx.timers);
        at.cx.events.show(Watching::Votes, || Observation::Reused { request });
        let won = at.waiters.won_without_masters(&mut at.cx, request, &attempt.claim.keys);
        let keeper = won.keep_alive.map(|most| Keeper::new(at.cx.now.after(most.span())));
        attempt.warm = won.warm;
        attempt.reuses = attempt.reuses.saturating_add(1);
        if let Some(ballot) = &mut attempt.claim.ballot {
            ballot.number = ballot.number.saturating_add(1);
        }
        attempt.id = AttemptId(self.attempts.reserve());
        attempt.begin_hold(&mut at.cx, request, Hold::until(deadline, keeper));
        self.attempts.insert(attempt.id.0, attempt);
        true
    }
}

impl Attempt {
    /// Returns what a caller of this process has to know of the hold if no guard has it. It goes to none once half of
    /// its validity is over, or once it is left to other clients.
    fn idle_hold(&self, deadline: Instant, settings: &Settings) -> IdleHold {
        let terms = WarmTerms { ttl: self.ttl, label: self.claim.label.clone(), warm: self.warm };
        let ttl = self.ttl.span();
        let half = ttl.saturating_sub(settings.drift.of(ttl)) / 2;
        let left_at = left_at(self.began, settings.backoff.cap);
        let passes_until = self.began.after(half).min(deadline).min(left_at);
        IdleHold { attempt: self.id, terms, deadline, passes_until }
    }

    /// Lets a hold stay idle until then, and callers of this process take it by themselves. The number of the next guard
    /// is known to the coordinator alone.
    fn stay_idle(&mut self, cx: &mut Cx, hold: IdleHold, until: Instant) {
        self.stage = Stage::Idle(Idle { deadline: hold.deadline, until });
        cx.timers.set(until, Timer::Deadline(hold.attempt));
        if let Some(shelf) = &cx.shelf
            && self.claim.ballot.is_none()
        {
            shelf.put(self.claim.keys.first(), hold, until);
        }
    }

    /// Takes a hold from the shelf. Returns `false` if a guard has it: then it is held. Otherwise it is idle, and
    /// to be released, passed on, or put there again.
    pub(super) fn recall(&mut self, at: &mut Around) -> bool {
        let Stage::Idle(idle) = &mut self.stage else { return false };
        let recalled = at.cx.shelf.as_ref().and_then(|shelf| shelf.recall(self.claim.keys.first()));
        let Some(Recalled { idle_until, taken }) = recalled else { return true };
        self.reuses = self.reuses.saturating_add(taken);
        at.cx.timers.cancel(idle.until, Timer::Deadline(self.id));
        if let Some(until) = idle_until {
            idle.until = until;
        } else {
            let deadline = idle.deadline;
            at.cx.timers.set(deadline, Timer::Deadline(self.id));
            at.waiters.occupy_idle(&self.claim.keys);
            self.stage = Stage::Held(Hold::until(deadline, None));
        }
        idle_until.is_some()
    }

    /// Returns the hold that no guard has.
    pub(crate) const fn idle(&self) -> Option<&Idle> {
        let Stage::Idle(idle) = &self.stage else { return None };
        Some(idle)
    }

    /// Returns the deadline of the hold for an acquire that may have it: to the masters, and to a client that inspects
    /// it, it is the one that this would have won. A timer may be late, and very late after the process was stopped.
    fn deadline_for(&self, acquire: &AcquireRequest, now: Instant) -> Option<Instant> {
        let Self { claim, ttl, .. } = self;
        let fences = claim.ballot.as_ref().map(|ballot| &ballot.fences);
        let suits = acquire.may_be_warm()
            && fences == acquire.fences.as_ref()
            && (&claim.keys, *ttl, &claim.label) == (&acquire.keys, acquire.ttl, &acquire.label);
        match &self.stage {
            Stage::Held(hold) if suits => Some(hold.deadline),
            Stage::Idle(idle) if suits && now < idle.until => Some(idle.deadline),
            _ => None,
        }
    }
}
