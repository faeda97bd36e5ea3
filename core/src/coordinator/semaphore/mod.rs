//! Semaphores: a permit is an ordinary lock on one of K slots. So there is one holder for each slot,
//! and K at most; what is new is only which slot to try.
//!
//! 1. It tries the slot that this client had last, or another one of its own order
//!    (`quorum/slots.rs`).
//! 2. If that is taken, it looks at all slots at one node, and tries those that are free there,
//!    three at most.
//! 3. It looks at all nodes, which says when the first slot expires, and listens on the channel of
//!    the semaphore.
//! 4. A message names a slot, and that one is tried at once. Behind the messages, it looks again
//!    from time to time.
//!
//! Within the process the first who came does this for all: the others wait, and slots that turn out
//! to be free are offered to them in their order.

mod pool;
mod queue;
mod slots;

pub(super) use pool::Semaphores;
pub use slots::Slots;

use super::{AcquireRequest, Coordinator, Event, Failure, RequestId};
use crate::quorum::{Backoff, Instant, Nanos, slots::order};
use pool::{Phase, Seeker};
use std::sync::Arc;
use std::time::Duration;

/// The number of slots that are tried because they looked free, before the next pause.
const MOST_IN_VAIN: u32 = 3;

/// While messages come, a pause is at most so many times the widest window of the backoff.
const CAPS_PER_PAUSE: u32 = 8;

impl Coordinator {
    /// Returns the slot that this attempt to get a permit was for.
    pub fn slot(&self, attempt: super::AttemptId) -> Option<u8> {
        self.attempts.get(attempt)?.claim.keys.slot()
    }

    /// Begins to seek a permit.
    pub(super) fn seek(
        &mut self,
        now: Instant,
        request: RequestId,
        acquire: AcquireRequest,
        slots: Arc<Slots>,
    ) {
        let channel = slots.channel().clone();
        let Semaphores { seekers, pools, .. } = &mut self.semaphores;
        let pool = pools.entry(channel).or_default();
        let tries = |one: &RequestId| {
            seekers.get(one).is_some_and(|one| one.failure.is_none() && !one.phase.is_idle())
        };
        let others_wait = !pool.queue.iter().all(tries);
        pool.queue.push_back(request);
        let phase = Phase::Queued { until: Instant::NEVER };
        let seeker =
            Seeker { acquire, slots, began: now, phase, attempts: 0, in_vain: 0, failure: None };
        let waits = seeker.waits(now);
        seekers.insert(request, seeker);
        match (others_wait, waits) {
            (true, false) => self.end_seeking(now, request),
            (true, true) => self.queue_seeker(request),
            (false, _) => self.try_own_slot(now, request),
        }
    }

    /// Gives up on the permit of a caller that is gone, if it sought one.
    pub(super) fn cancel_seeking(&mut self, now: Instant, request: RequestId) {
        if let Some(Seeker { phase: Phase::Trying(_), .. }) = self.take_seeker(request) {
            self.cancel_acquire(now, request.own());
        }
    }

    pub(super) fn seeking(&self) -> Vec<RequestId> {
        self.semaphores.seekers.keys().copied().collect()
    }

    /// Handles what became of tries, looks and messages, and serves those who wait, until nothing
    /// is left to do.
    #[inline]
    pub(super) fn serve_seekers(&mut self, now: Instant) {
        // Without semaphores there is never anything, and this is all that they cost.
        while self.events.has_own() || !self.semaphores.stirred.is_empty() {
            self.serve_next(now);
        }
    }

    #[inline(never)]
    fn serve_next(&mut self, now: Instant) {
        if let Some(event) = self.events.pop_own() {
            self.seeker_told(now, event);
        } else if let Some(channel) = self.semaphores.stirred.pop_front() {
            self.serve_pool(now, &channel);
        }
    }

    fn seeker_told(&mut self, now: Instant, event: Event) {
        match event {
            Event::Acquired { request, attempt, deadline, ballot } => {
                let request = request.callers();
                match self.take_seeker(request) {
                    Some(Seeker { phase: Phase::Trying(slot), slots, .. }) => {
                        self.semaphores.remember(slots.channel(), slot);
                        self.events.push(Event::Acquired { request, attempt, deadline, ballot });
                    }
                    _ => self.begin_release(now, None, attempt, true),
                }
            }
            Event::NotAcquired { request, failure, .. } => {
                self.slot_refused(now, request.callers(), failure);
            }
            Event::NoRandomness { request } => {
                let request = request.callers();
                if self.take_seeker(request).is_some() {
                    self.events.push(Event::NoRandomness { request });
                }
            }
            Event::Looked { request, free_in } => {
                self.slots_seen(now, request.callers(), &free_in);
            }
            Event::Heard { listener, message } => self.slot_told(now, listener, message.as_deref()),
            _ => {}
        }
    }

    /// Tries the first slot of this client's order that the process does not have.
    fn try_own_slot(&mut self, now: Instant, request: RequestId) {
        match self.pick(request, |_| true) {
            Some(slot) => self.try_slot(now, request, slot, false),
            // All of them are held here.
            None => self.pause(now, request, None),
        }
    }

    /// Returns the first slot in this client's order that may be tried, of those that are `wanted`.
    fn pick(&mut self, request: RequestId, wanted: impl Fn(u8) -> bool) -> Option<u8> {
        self.picks(request, wanted).first().copied()
    }

    fn picks(&mut self, request: RequestId, wanted: impl Fn(u8) -> bool) -> Vec<u8> {
        let client = match self.semaphores.client {
            Some(client) => client,
            None => *self.semaphores.client.insert(self.random.jitter()),
        };
        let slots = self.semaphores.seekers.get(&request).map(|one| one.slots.clone());
        let order = slots
            .as_ref()
            .map(|slots| order(client, self.semaphores.last(slots.channel()), slots.permits()));
        let queue = &self.local_queue;
        let is_free = |slot: &u8| {
            let key = slots.as_ref().and_then(|slots| slots.key(*slot));
            wanted(*slot) && key.is_some_and(|key| !queue.is_wanted(key))
        };
        order.into_iter().flatten().filter(is_free).collect()
    }

    /// Makes one attempt at this slot.
    fn try_slot(&mut self, now: Instant, request: RequestId, slot: u8, probes: bool) {
        self.set_phase(request, Phase::Trying(slot));
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        let Some(keys) = seeker.slots.keys(slot).cloned() else { return };
        seeker.attempts = seeker.attempts.saturating_add(1);
        let wait = Some(Nanos::of(Duration::ZERO));
        let acquire = AcquireRequest { keys, wait, probes, ..seeker.acquire.clone() };
        self.begin_acquire(now, request.own(), acquire);
    }

    /// Goes on after a slot was refused.
    fn slot_refused(&mut self, now: Instant, request: RequestId, failure: Failure) {
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        let is_full = failure.kind.is_contended();
        seeker.failure = Some(failure);
        let (waits, in_vain) = (seeker.waits(now), seeker.in_vain);
        match (is_full, waits) {
            (false, true) => self.pause(now, request, None),
            (false, false) => self.end_seeking(now, request),
            (true, false) if in_vain >= MOST_IN_VAIN => self.end_seeking(now, request),
            (true, true) if !self.is_head(request) => self.queue_seeker(request),
            (true, _) if in_vain < MOST_IN_VAIN => self.look_at_slots(now, request, false),
            (true, _) if in_vain == MOST_IN_VAIN => self.look_at_slots(now, request, true),
            (true, _) => self.pause(now, request, None),
        }
    }

    fn look_at_slots(&mut self, now: Instant, request: RequestId, all: bool) {
        self.set_phase(request, Phase::Looking { all });
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return };
        let slots = seeker.slots.clone();
        if all && seeker.waits(now) {
            self.listen_to_slots(now, slots.channel());
        }
        let at = (!all).then_some(&**slots.channel());
        self.handle_look(now, request.own(), slots.names(), at);
    }

    pub(super) fn listen_to_slots(&mut self, now: Instant, channel: &Arc<str>) {
        let Some(pool) = self.semaphores.pools.get_mut(channel) else { return };
        if let (None, Some(first)) = (pool.listener, pool.queue.front()) {
            let listener = first.listener();
            pool.listener = Some(listener);
            self.handle_listen(now, listener, channel.clone());
        }
    }

    /// Goes on after a look.
    fn slots_seen(&mut self, now: Instant, request: RequestId, free_in: &[Option<Duration>]) {
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        let Phase::Looking { all } = seeker.phase else { return };
        let is_free = |slot: u8| free_in.get(usize::from(slot)) == Some(&Some(Duration::ZERO));
        let left = free_in.iter().flatten().copied().filter(|left| !left.is_zero()).min();
        let (waits, channel) = (seeker.waits(now), seeker.slots.channel().clone());
        if let (Some(left), Some(pool)) = (left, self.semaphores.pools.get_mut(&channel)) {
            pool.expires_at = Some(now.after(left));
        }
        let picked = self.picks(request, is_free);
        if let Some((&slot, others)) = picked.split_first() {
            if let Some(pool) = self.semaphores.pools.get_mut(&channel) {
                pool.pauses = 0;
                others.iter().for_each(|slot| pool.hints.insert(*slot));
                self.semaphores.stirred.push_back(channel);
            }
            let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
            seeker.in_vain += 1;
            let probes = seeker.in_vain > 1 && !all;
            return self.try_slot(now, request, slot, probes);
        }
        match (all, waits) {
            (_, false) => self.end_seeking(now, request),
            (false, true) => self.look_at_slots(now, request, true),
            (true, true) => self.pause(now, request, left),
        }
    }

    /// Handles a message about a slot; without one, a message may have been missed.
    fn slot_told(&mut self, now: Instant, listener: RequestId, message: Option<&str>) {
        let Some((channel, head)) = self.pool_of(listener) else { return };
        match message.map(str::parse) {
            Some(Ok(slot)) => self.defer_slot(now, head, slot, &channel),
            Some(Err(_)) => {}
            None => {
                let seeker = self.semaphores.seekers.get(&head);
                if let Some(Seeker { phase: Phase::Paused { .. }, .. }) = seeker {
                    self.look_at_slots(now, head, false);
                }
            }
        }
    }

    /// Waits for a while, at most `left`, in which another slot may be free.
    fn pause(&mut self, now: Instant, request: RequestId, left: Option<Duration>) {
        let random = self.random.jitter();
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        if !seeker.waits(now) {
            return self.end_seeking(now, request);
        }
        seeker.in_vain = 0;
        let (until, slots) = (seeker.until(), seeker.slots.clone());
        // Long pauses are for slots that are held for long, as far as is known.
        let hears = left.is_some() && self.hears(slots.channel());
        let Some(pool) = self.semaphores.pools.get_mut(slots.channel()) else { return };
        let pauses = pool.pauses;
        pool.pauses = pauses.saturating_add(1);
        let Backoff { base, cap } = self.settings.backoff;
        let ceiling = left.map(|left| left.max(base));
        let again_at = if hears {
            let cap = cap.saturating_mul(CAPS_PER_PAUSE);
            let least = cap.min(ceiling.unwrap_or(cap)) / 2;
            now.after(least + Backoff { base, cap }.delay(u32::MAX, ceiling, random) / 2)
        } else {
            now.after(Backoff { base, cap }.delay(pauses, ceiling, random))
        };
        if pool.queue.front() == Some(&request) {
            pool.again_at = Some(again_at);
        }
        self.set_phase(request, Phase::Paused { again_at: again_at.min(until) });
    }

    /// Handles the timer of one who waits.
    pub(super) fn seek_again(&mut self, now: Instant, request: RequestId) {
        let Some(seeker) = self.semaphores.seekers.get(&request) else {
            return self.try_deferred(now, request);
        };
        match seeker.phase {
            Phase::Queued { .. } => self.end_seeking(now, request),
            Phase::Paused { .. } if seeker.has_met_outage() => self.try_own_slot(now, request),
            Phase::Paused { .. } => self.look_at_slots(now, request, true),
            Phase::Trying(_) | Phase::Looking { .. } => {}
        }
    }
}
