//! Who is next: those of this process who wait for a permit of one semaphore, in their order.

use super::Full;
use super::pool::{Passing, Phase, Pool, Seeker};
use crate::coordinator::timers::Timer;
use crate::coordinator::{Coordinator, Event, Failure, FailureKind, Keys, RequestId};
use crate::quorum::Instant;
use std::sync::Arc;

impl Coordinator {
    pub(super) fn queue_seeker(&mut self, request: RequestId) {
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return };
        let (until, channel) = (seeker.until(), seeker.slots.channel().clone());
        self.set_phase(request, Phase::Queued { until });
        self.semaphores.stirred.push_back(channel);
    }

    /// Changes the phase, and the timer with it.
    pub(super) fn set_phase(&mut self, request: RequestId, phase: Phase) {
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        let timer = |phase: &Phase| match phase {
            Phase::Queued { until } => Some(*until),
            Phase::Paused { again_at } => Some(*again_at),
            Phase::Trying(_) | Phase::Looking { .. } => None,
        };
        let before = std::mem::replace(&mut seeker.phase, phase);
        if let Some(at) = timer(&before) {
            self.timers.cancel(at, Timer::Attempt(request));
        }
        if let Some(at) = timer(&phase) {
            self.timers.set(at, Timer::Attempt(request));
        }
    }

    pub(super) fn is_head(&self, request: RequestId) -> bool {
        let seeker = self.semaphores.seekers.get(&request);
        let pool = seeker.and_then(|one| self.semaphores.pools.get(one.slots.channel()));
        pool.is_some_and(|pool| pool.queue.front() == Some(&request))
    }

    /// Offers slots that may be free to those who wait, and lets the first of them look out.
    pub(super) fn serve_pool(&mut self, now: Instant, channel: &Arc<str>) {
        while let Some(pool) = self.semaphores.pools.get_mut(channel) {
            let (slot, probes) = match (pool.passed_on.take(), pool) {
                (Some(slot), _) => (slot, false),
                (None, pool) => match pool.hints.take() {
                    Some(slot) => (slot, true),
                    None => break,
                },
            };
            let Some(request) = self.semaphores.idle(channel, slot) else { continue };
            if self.pick(request, |one| one == slot).is_some() {
                self.try_slot(now, request, slot, probes);
            }
        }
        let Some(pool) = self.semaphores.pools.get(channel) else { return };
        match pool.queue.front().copied() {
            None => {
                let listener = pool.listener;
                self.semaphores.pools.remove(channel);
                listener.into_iter().for_each(|one| self.handle_unlisten(one, channel));
            }
            Some(head) => {
                let phase = self.semaphores.seekers.get(&head).map(|one| one.phase);
                if let Some(Phase::Queued { .. }) = phase {
                    self.look_at_slots(now, head, false);
                }
            }
        }
    }

    pub(super) fn take_seeker(&mut self, request: RequestId) -> Option<Seeker> {
        let phase = self.semaphores.seekers.get(&request)?.phase;
        // It has no timer any more.
        self.set_phase(request, Phase::Looking { all: false });
        let seeker = Seeker { phase, ..self.semaphores.seekers.remove(&request)? };
        if let Some(pool) = self.semaphores.pools.get_mut(seeker.slots.channel()) {
            pool.queue.retain(|one| *one != request);
            self.semaphores.stirred.push_back(seeker.slots.channel().clone());
        }
        Some(seeker)
    }

    /// Gives the caller its answer: the outcome of the latest try, or that it waited behind others
    /// in this process.
    pub(super) fn end_seeking(&mut self, now: Instant, request: RequestId) {
        let Some(seeker) = self.take_seeker(request) else { return };
        let mut failure = seeker.failure.unwrap_or_else(|| Failure::contended(0));
        if failure.kind == FailureKind::Contended {
            let permits = seeker.slots.permits();
            failure.full = Some(Full { permits, free_in: seeker.free_in });
        }
        failure.attempts = seeker.attempts;
        let waited = now.since(seeker.began);
        self.events.push(Event::NotAcquired { request, failure, waited });
    }

    /// Decides who is notified that a slot is given back: the next one here, or all.
    pub(in crate::coordinator) fn pass_permit_on(&mut self, keys: &Keys) -> Option<bool> {
        let slot = keys.slot()?;
        let (channel, _) = keys.messages().next()?;
        self.semaphores.idle(channel, slot)?;
        let hears = self.hears(channel);
        let pool = self.semaphores.pools.get_mut(channel)?;
        let Passing { tell, here } = pool.pass_on(hears);
        if here {
            pool.passed_on.insert(slot);
            self.semaphores.stirred.push_back(channel.clone());
        }
        Some(tell)
    }

    /// Notes whether a client in another process listened when a slot was told to be free.
    pub(in crate::coordinator) fn slot_heard(&mut self, channel: &str, elsewhere: bool) {
        if let Some(Pool { wanted_elsewhere, .. }) = self.semaphores.pools.get_mut(channel) {
            *wanted_elsewhere = elsewhere;
        }
    }
}
