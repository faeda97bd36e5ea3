//! Who is next: those of this process who wait for a permit of one semaphore, in their order.

use super::pool::{Passing, Phase, Pool, Seeker};
use crate::coordinator::timers::Timer;
use crate::coordinator::{Coordinator, Event, Failure, FailureKind, Keys, RequestId};
use crate::obstacle::Obstacle;
use crate::quorum::{Backoff, Instant};
use std::sync::Arc;

/// A moment, by which a process with one more permit lets others go first, is this part of the
/// first window of the backoff.
const MOMENTS_PER_BASE: u32 = 4;

/// The most moments that a process lets others go first.
const MOST_MOMENTS: u32 = 16;

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
                let Some(Pool { listener, deferred, .. }) = self.semaphores.pools.remove(channel)
                else {
                    return;
                };
                if let Some(listener) = listener {
                    let timers = &mut self.timers;
                    deferred
                        .iter()
                        .for_each(|(at, _)| timers.cancel(*at, Timer::Attempt(listener)));
                    self.handle_unlisten(listener, channel);
                }
            }
            Some(head) => {
                let (again_at, seeker) = (pool.again_at, self.semaphores.seekers.get(&head));
                let Some(seeker @ Seeker { phase: Phase::Queued { .. }, .. }) = seeker else {
                    return;
                };
                // It goes on where the one before it was.
                match again_at.filter(|at| now < *at).map(|at| at.min(seeker.until())) {
                    Some(again_at) => self.set_phase(head, Phase::Paused { again_at }),
                    None => self.look_at_slots(now, head, false),
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
        let seeker = self.semaphores.seekers.get(&request);
        let pool = seeker.and_then(|one| self.semaphores.pools.get(one.slots.channel()));
        let expires_at = pool.and_then(|pool| pool.expires_at);
        let Some(seeker) = self.take_seeker(request) else { return };
        let free_in = expires_at.map(|at| at.since(now)).filter(|left| !left.is_zero());
        let full = Obstacle::Permits { all: seeker.slots.permits(), free_in };
        let mut failure = match seeker.failure {
            Some(failure) if !failure.kind.is_contended() => failure,
            Some(failure) => Failure { kind: FailureKind::Contended(full), ..failure },
            None => Failure::contended(full, 0),
        };
        failure.attempts = seeker.attempts;
        let waited = now.since(seeker.began);
        self.events.push(Event::NotAcquired { request, failure, waited });
    }

    /// Returns the channel of the pool that listens so, and the first who waits there.
    pub(super) fn pool_of(&self, listener: RequestId) -> Option<(Arc<str>, RequestId)> {
        let mut pools = self.semaphores.pools.iter();
        let (channel, pool) = pools.find(|(_, pool)| pool.listener == Some(listener))?;
        Some((channel.clone(), *pool.queue.front()?))
    }

    /// Tries a slot that a message named: at once, or a moment later for each permit that this
    /// process has, or has just had. Of the processes that hear it, those with the fewest are first.
    pub(super) fn defer_slot(
        &mut self,
        now: Instant,
        head: RequestId,
        slot: u8,
        channel: &Arc<str>,
    ) {
        let Some(seeker) = self.semaphores.seekers.get(&head) else { return };
        let queue = &self.local_queue;
        let held = seeker.slots.names().iter().filter(|name| queue.is_wanted(name)).count();
        let Some(pool) = self.semaphores.pools.get_mut(channel) else { return };
        let moment = self.settings.backoff.base / MOMENTS_PER_BASE;
        let held = held + usize::from(pool.left.remove(slot));
        let held = u32::try_from(held).unwrap_or(u32::MAX).min(MOST_MOMENTS);
        match (held, pool.listener) {
            (1.., Some(listener)) => {
                // A part of the last moment is left to chance.
                let jitter = Backoff { base: moment, cap: moment };
                let jitter = jitter.delay(0, None, self.random.jitter());
                let at = now.after(moment.saturating_mul(held - 1)).after(jitter);
                pool.deferred.push((at, slot));
                self.timers.set(at, Timer::Attempt(listener));
            }
            _ => {
                pool.hints.insert(slot);
                self.semaphores.stirred.push_back(channel.clone());
            }
        }
    }

    /// Offers the slots that are now due.
    pub(super) fn try_deferred(&mut self, now: Instant, listener: RequestId) {
        let Some((channel, _)) = self.pool_of(listener) else { return };
        let Some(Pool { deferred, hints, .. }) = self.semaphores.pools.get_mut(&channel) else {
            return;
        };
        deferred.extract_if(.., |(at, _)| *at <= now).for_each(|(_, slot)| hints.insert(slot));
        self.semaphores.stirred.push_back(channel);
    }

    /// Decides who is notified that a slot is given back: the next one here, or all.
    pub(in crate::coordinator) fn pass_permit_on(
        &mut self,
        now: Instant,
        keys: &Keys,
    ) -> Option<bool> {
        let slot = keys.slot()?;
        let (channel, _) = keys.messages().next()?;
        self.semaphores.idle(channel, slot)?;
        self.listen_to_slots(now, channel);
        let hears = self.hears(channel);
        let pool = self.semaphores.pools.get_mut(channel)?;
        let Passing { tell, here } = pool.pass_on(hears);
        if here {
            pool.passed_on.insert(slot);
            self.semaphores.stirred.push_back(channel.clone());
        } else {
            pool.left.insert(slot);
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
