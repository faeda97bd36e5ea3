//! Semaphores: a permit is an ordinary lock on one of K slots. So there is one holder for each slot,
//! and K at most; what is new is only which slot to try.
//!
//! 1. It tries the slot that this client had last, or another one of its own order
//!    (`quorum/slots.rs`).
//! 2. If that is taken, it asks in the list of the semaphore, and waits there until a release calls it for a slot, or its
//!    question finds a free slot (`listed.rs`).
//! 3. An acquire that does not wait looks at all slots instead: at one node, and then at all. It tries the free ones,
//!    three at most. So does a waiter without a place in the list, again from time to time.
//!
//! Within the process the first seeker does this for all: the others wait, and slots that turn out
//! to be free are offered to them in their order.

mod listed;
mod pool;
mod queue;
mod slots;

pub(crate) use pool::Semaphores;

use super::asking::ask_holders;
use super::contention::SILENCE_PER_PAUSE;
use super::{Step, Waiters};
use crate::lock::Attempt;
use crate::pace::Backoff;
use crate::quorum::{Instant, Nanos};
use crate::shared::{AcquireRequest, Cx, Event, Failure, RequestId};
use pool::{Phase, Seeker};
use slots::order;
use std::time::Duration;

/// The number of slots that are tried because they looked free, before the next pause.
const MOST_IN_VAIN: u32 = 3;

/// While calls reach it, a pause is at most so many times the widest window of the backoff.
const CAPS_PER_PAUSE: u32 = 8;

impl Attempt {
    /// Returns the number of the permit that this attempt is for.
    pub(crate) fn permit(&self) -> Option<u8> {
        self.claim.keys.slot()
    }
}

impl Waiters {
    /// Begins to seek a permit.
    pub(crate) fn seek(&mut self, cx: &mut Cx, request: RequestId, acquire: AcquireRequest) {
        let Some(slots) = acquire.keys.slots().cloned() else { return };
        self.semaphores.open_pool(cx.now, slots.channel(), request);
        let Semaphores { seekers, pools, .. } = &mut self.semaphores;
        let Some(pool) = pools.get_mut(slots.channel()) else { return };
        pool.place.is_denied |= cx.masters.settings.waitlists.is_none();
        let tries = |seeker: &Seeker| seeker.failure.is_none() && !seeker.phase.is_idle();
        let others_wait = match acquire.is_fair {
            true => pool.line.head().is_some(),
            false => !pool.line.waiting().all(|waiter| seekers.get(&waiter).is_some_and(tries)),
        };
        pool.line.enter(request);
        let phase = Phase::Queued { until: Instant::NEVER };
        let seeker = Seeker {
            acquire,
            slots,
            began: cx.now,
            phase,
            attempts: 0,
            in_vain: 0,
            is_behind_others: false,
            trial: None,
            ahead: None,
            failure: None,
        };
        let waits = seeker.waits(cx.now);
        seekers.insert(request, seeker);
        match (others_wait, waits) {
            (true, false) => self.end_seeking(cx, request),
            (true, true) => self.queue_seeker(cx, request),
            (false, _) if self.seeks_in_list(cx, request) => {}
            (false, _) => self.try_own_slot(cx, request),
        }
    }

    /// Gives up on the permit of a caller that is gone, if it sought one.
    pub(crate) fn cancel_seeking(&mut self, cx: &mut Cx, request: RequestId) {
        if let Some(Seeker { phase: Phase::Trying(_), .. }) = self.take_seeker(cx, request) {
            self.cancel(cx, request.own());
        }
    }

    /// Returns all acquires that have no answer yet.
    pub(crate) fn requests(&self) -> Vec<RequestId> {
        let seeking = self.semaphores.seekers.keys().copied();
        seeking.chain(self.acquisitions.requests()).collect()
    }

    /// Handles what became of a try, a look or a message, or serves those that wait; `false` if there is
    /// nothing to do.
    #[inline]
    pub(crate) fn serve_seeker(&mut self, cx: &mut Cx) -> bool {
        // Without semaphores there is never anything, and this is all that they cost.
        let has_work = cx.events.has_own() || !self.semaphores.stirred.is_empty();
        if has_work {
            self.serve_pools(cx);
        }
        has_work
    }

    #[inline(never)]
    fn serve_pools(&mut self, cx: &mut Cx) {
        if let Some(event) = cx.events.pop_own() {
            self.seeker_answered(cx, event);
        } else if let Some(channel) = self.semaphores.stirred.pop_front() {
            self.serve_pool(cx, &channel);
        }
    }

    fn seeker_answered(&mut self, cx: &mut Cx, event: Event) {
        match event {
            Event::Acquired { request, attempt, deadline, ballot } => {
                let request = request.callers();
                match self.take_seeker(cx, request) {
                    Some(Seeker {
                        phase: Phase::Trying(slot), slots, is_behind_others, ..
                    }) => {
                        if let Some(keys) = slots.keys(slot).filter(|_| is_behind_others) {
                            self.left.share(cx.now, keys);
                        }
                        self.semaphores.remember(slots.channel(), slot);
                        cx.events.push(Event::Acquired { request, attempt, deadline, ballot });
                    }
                    _ => self.step(Step::Release(attempt)),
                }
            }
            Event::NotAcquired { request, failure, .. } => {
                self.slot_refused(cx, request.callers(), failure);
            }
            Event::NoRandomness { request } => {
                let request = request.callers();
                if self.take_seeker(cx, request).is_some() {
                    cx.events.push(Event::NoRandomness { request });
                }
            }
            Event::Looked { request, free_in } => self.slots_seen(cx, request.callers(), &free_in),
            _ => {}
        }
    }

    /// Tries the first slot of this client's order that the process does not have.
    pub(super) fn try_own_slot(&mut self, cx: &mut Cx, request: RequestId) {
        match self.pick(cx, request, |_| true) {
            Some(slot) => self.try_slot(cx, request, slot, false),
            // All of them are held here, or left to others.
            None => match self.slots_left_until(cx, request) {
                Some(again_at) => self.set_phase(cx, request, Phase::Paused { again_at }),
                None => self.pause(cx, request, None),
            },
        }
    }

    /// Returns the first slot in this client's order that may be tried, of those that are `wanted`.
    fn pick(&mut self, cx: &mut Cx, request: RequestId, wanted: impl Fn(u8) -> bool) -> Option<u8> {
        self.picks(cx, request, wanted).first().copied()
    }

    fn picks(&mut self, cx: &mut Cx, request: RequestId, wanted: impl Fn(u8) -> bool) -> Vec<u8> {
        let client = *self.semaphores.client.get_or_insert_with(|| cx.masters.random.jitter());
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return Vec::new() };
        let (slots, waits) = (&seeker.slots, seeker.waits(cx.now));
        let is_left = |key: &str| waits && self.left.until(cx.now, key).is_some();
        let mut order = order(client, self.semaphores.last(slots.channel()), slots.permits());
        order.retain(|slot| {
            let key = slots.key(*slot).filter(|_| wanted(*slot));
            key.is_some_and(|key| !self.local_queue.is_wanted(key) && !is_left(key))
        });
        order
    }

    /// Returns until when a slot is left to others that this seeker could have, if one is.
    pub(super) fn slots_left_until(&self, cx: &Cx, request: RequestId) -> Option<Instant> {
        let seeker = self.semaphores.seekers.get(&request).filter(|seeker| seeker.waits(cx.now))?;
        let left = seeker.slots.names().iter().filter_map(|key| self.left.until(cx.now, key));
        left.min().map(|until| until.min(seeker.until()))
    }

    /// Makes one attempt at this slot.
    fn try_slot(&mut self, cx: &mut Cx, request: RequestId, slot: u8, probes: bool) {
        self.set_phase(cx, request, Phase::Trying(slot));
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        let Some(keys) = seeker.slots.keys(slot).cloned() else { return };
        seeker.attempts = seeker.attempts.saturating_add(1);
        let (wait, is_fair) = (Nanos::ZERO, false);
        let acquire = AcquireRequest { keys, wait, probes, is_fair, ..seeker.acquire.clone() };
        self.begin(cx, request.own(), acquire);
    }

    /// Goes on after a slot was refused.
    fn slot_refused(&mut self, cx: &mut Cx, request: RequestId, failure: Failure) {
        self.note_lacking(request, &failure);
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        let is_full = failure.kind.is_contended();
        seeker.failure = Some(failure);
        let (waits, in_vain) = (seeker.waits(cx.now), seeker.in_vain);
        match (is_full, waits) {
            (false, true) => self.pause(cx, request, None),
            (false, false) => self.end_seeking(cx, request),
            (true, false) if in_vain >= MOST_IN_VAIN => self.end_seeking(cx, request),
            (true, true) if !self.is_head(request) => self.queue_seeker(cx, request),
            (true, true) if in_vain < MOST_IN_VAIN && self.ask_for_any(cx, request) => {}
            (true, _) if in_vain < MOST_IN_VAIN => self.look_at_slots(cx, request, false),
            (true, _) if in_vain == MOST_IN_VAIN => self.look_at_slots(cx, request, true),
            (true, _) => self.pause(cx, request, None),
        }
    }

    pub(super) fn look_at_slots(&mut self, cx: &mut Cx, request: RequestId, all: bool) {
        self.set_phase(cx, request, Phase::Looking { all });
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return };
        let slots = seeker.slots.clone();
        if all && let Some(pool) = self.semaphores.pools.get_mut(slots.channel()) {
            pool.looked_at = cx.now;
        }
        self.step(Step::Look { request: request.own(), slots, all });
    }

    /// Goes on after a look.
    fn slots_seen(&mut self, cx: &mut Cx, request: RequestId, free_in: &[Option<Duration>]) {
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return };
        let Phase::Looking { all } = seeker.phase else { return };
        let is_behind = self.semaphores.is_behind(request);
        let is_free =
            |slot: u8| !is_behind && free_in.get(usize::from(slot)) == Some(&Some(Duration::ZERO));
        let left = free_in.iter().flatten().copied().filter(|left| !left.is_zero()).min();
        let (waits, channel) = (seeker.waits(cx.now), seeker.slots.channel().clone());
        if let (Some(left), Some(pool)) = (left, self.semaphores.pools.get_mut(&channel)) {
            pool.expires_at = Some(cx.now.after(left));
        }
        let picked = self.picks(cx, request, is_free);
        if let Some((&slot, others)) = picked.split_first() {
            let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
            seeker.in_vain = seeker.in_vain.saturating_add(1);
            let (in_vain, probes) = (seeker.in_vain, seeker.in_vain > 1 && !all);
            if let Some(pool) = self.semaphores.pools.get_mut(&channel) {
                if in_vain <= MOST_IN_VAIN {
                    pool.pauses = 0;
                }
                others.iter().for_each(|slot| pool.hints.insert(*slot));
                self.semaphores.stirred.push_back(channel);
            }
            return self.try_slot(cx, request, slot, probes);
        }
        match (all, waits) {
            (_, false) => self.end_seeking(cx, request),
            (false, true) => self.look_at_slots(cx, request, true),
            (true, true) => {
                self.ask_for_slot(cx, request, free_in);
                if !self.ask_for_any(cx, request) {
                    self.pause(cx, request, left);
                }
            }
        }
    }

    /// Asks the holder of one slot to give way, unless one was asked a moment ago: of the slot that expires
    /// first, and so was not extended for the longest time.
    fn ask_for_slot(&mut self, cx: &mut Cx, request: RequestId, free_in: &[Option<Duration>]) {
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return };
        let slots = seeker.slots.clone();
        let all = (0..slots.permits()).filter_map(|slot| slots.keys(slot)).zip(free_in);
        let elsewhere = all.filter(|(keys, _)| !self.local_queue.is_wanted(keys.first()));
        let known = elsewhere.filter_map(|(keys, left)| Some((keys, (*left)?)));
        let Some((keys, _)) = known.min_by_key(|(_, left)| *left) else { return };
        if let Some(pool) = self.semaphores.pools.get_mut(slots.channel())
            && pool.line.head() == Some(request)
        {
            ask_holders(cx, &mut pool.place.asked_at, keys);
        }
    }

    /// Waits for a while, at most `left`, in which another slot may be free.
    fn pause(&mut self, cx: &mut Cx, request: RequestId, left: Option<Duration>) {
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return };
        if !seeker.waits(cx.now) {
            return self.end_seeking(cx, request);
        }
        let (until, slots) = (seeker.until(), seeker.slots.clone());
        let Some(pause) = self.pause_for(cx, request, left) else { return };
        let left_until = self.slots_left_until(cx, request).unwrap_or(Instant::NEVER);
        let again_at = cx.now.after(pause).min(left_until);
        if let Some(pool) = self.semaphores.pools.get_mut(slots.channel())
            && pool.line.head() == Some(request)
        {
            pool.again_at = Some(again_at);
        }
        self.set_phase(cx, request, Phase::Paused { again_at: again_at.min(until) });
    }

    /// Returns how long to wait, at most `left`.
    fn pause_for(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        left: Option<Duration>,
    ) -> Option<Duration> {
        let random = cx.masters.random.jitter();
        let seeker = self.semaphores.seekers.get_mut(&request)?;
        // What looks free again and again, and is refused, is tried once for each pause, until all are seen to be taken.
        if seeker.in_vain <= MOST_IN_VAIN || left.is_some() {
            seeker.in_vain = 0;
        }
        let pool = self.semaphores.pools.get_mut(seeker.slots.channel())?;
        let entry = pool.place.entry.as_ref();
        let entry = entry.filter(|entry| entry.stands && entry.asked_at.is_none());
        let is_called = entry.is_some_and(|entry| self.mailboxes.is_reached_from(cx, entry.node));
        let pauses = pool.pauses;
        pool.pauses = pauses.saturating_add(1);
        let Backoff { base, cap } = cx.masters.settings.backoff;
        let ceiling = left.map(|left| left.max(base));
        // Long pauses are for slots that are held for long, as far as is known.
        if left.is_none() || !is_called || pool.unheard.is_certain() {
            return Some(Backoff { base, cap }.delay(pauses, ceiling, random));
        }
        // A call may be lost, and attempts that have met free their slot silently.
        let silence = cx.now.since(pool.heard_at) / SILENCE_PER_PAUSE;
        let cap = silence.clamp(cap, cap.saturating_mul(CAPS_PER_PAUSE));
        let least = cap.min(ceiling.unwrap_or(cap)) / 2;
        Some(least + Backoff { base, cap }.delay(u32::MAX, ceiling, random) / 2)
    }

    /// Handles the timer of a waiter.
    pub(crate) fn seek_again(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return };
        // A fair seeker asks in its list all the same.
        let has_met_outage = seeker.has_met_outage() && !seeker.acquire.is_fair;
        let phase = seeker.phase;
        match phase {
            Phase::Queued { .. } => self.end_seeking(cx, request),
            Phase::Paused { .. } if has_met_outage => self.try_own_slot(cx, request),
            Phase::Paused { .. } if self.asks_again(cx, request) => {}
            Phase::Paused { .. } => self.look_at_slots(cx, request, true),
            Phase::Trying(_) | Phase::Looking { .. } => {}
        }
    }
}
