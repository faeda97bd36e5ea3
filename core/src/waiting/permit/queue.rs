//! The waiters of this process for a permit of one semaphore, in their order.

use super::pool::{Lead, Phase, Pool, Seeker};
use crate::obstacle::Obstacle;
use crate::pace::Backoff;
use crate::quorum::Instant;
use crate::shared::{Cx, Event, Failure, FailureKind, Keys, RequestId, Timer};
use crate::waiting::Waiters;
use crate::waiting::line::Cohort;
use std::sync::Arc;

/// A moment, by which a process with one more permit lets others go first, is this part of the
/// first window of the backoff.
const MOMENTS_PER_BASE: u32 = 4;

/// The most moments that a process lets others go first.
const MOST_MOMENTS: u32 = 16;

impl Waiters {
    pub(super) fn queue_seeker(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(seeker) = self.semaphores.seekers.get(&request) else { return };
        let (until, channel) = (seeker.until(), seeker.slots.channel().clone());
        self.set_phase(cx, request, Phase::Queued { until });
        self.semaphores.stirred.push_back(channel);
    }

    /// Changes the phase, and the timer with it.
    pub(super) fn set_phase(&mut self, cx: &mut Cx, request: RequestId, phase: Phase) {
        let Some(seeker) = self.semaphores.seekers.get_mut(&request) else { return };
        let timer = |phase: &Phase| match phase {
            Phase::Queued { until } => Some(*until),
            Phase::Paused { again_at } => Some(*again_at),
            Phase::Trying(_) | Phase::Looking { .. } => None,
        };
        let before = std::mem::replace(&mut seeker.phase, phase);
        if let Some(at) = timer(&before) {
            cx.timers.cancel(at, Timer::Attempt(request));
        }
        if let Some(at) = timer(&phase) {
            cx.timers.set(at, Timer::Attempt(request));
        }
    }

    /// Returns until when the caller waits for which the machine asks itself under this request.
    pub(in crate::waiting) fn seeks_until(&self, request: RequestId) -> Option<Instant> {
        let seeker = self.semaphores.seekers.get(&request.callers()).filter(|_| request.is_own());
        seeker.map(Seeker::until)
    }

    pub(super) fn is_head(&self, request: RequestId) -> bool {
        self.semaphores.pool(request).is_some_and(|pool| pool.line.head() == Some(request))
    }

    /// Offers slots that may be free to the waiters, and lets the first of them look out.
    pub(super) fn serve_pool(&mut self, cx: &mut Cx, channel: &Arc<str>) {
        while let Some(pool) = self.semaphores.pools.get_mut(channel) {
            let Some((slot, lead)) = pool.next_slot() else { break };
            let Some(request) = self.semaphores.idle(channel, slot, lead) else { continue };
            if self.pick(cx, request, |other| other == slot).is_some() {
                if let Lead::Listed(trial) = lead
                    && let Some(seeker) = self.semaphores.seekers.get_mut(&request)
                {
                    seeker.in_vain += 1;
                    seeker.trial = Some(trial);
                }
                self.try_slot(cx, request, slot, lead == Lead::Hint);
            }
        }
        let Some(pool) = self.semaphores.pools.get(channel) else { return };
        let Some(head) = pool.line.head() else { return self.close_pool(cx, channel) };
        let Some(seeker) = self.semaphores.seekers.get(&head) else { return };
        if matches!(seeker.phase, Phase::Queued { .. }) {
            // It goes on where the one before it was.
            let again_at = pool.again_at.filter(|at| cx.now < *at).map(|at| at.min(seeker.until()));
            let is_listed = again_at.is_some() && pool.stands_in_list();
            match again_at {
                _ if !is_listed && self.ask_for_any(cx, head) => {}
                Some(again_at) => self.set_phase(cx, head, Phase::Paused { again_at }),
                None => self.look_at_slots(cx, head, false),
            }
        }
    }

    fn close_pool(&mut self, cx: &mut Cx, channel: &Arc<str>) {
        let Some(pool) = self.semaphores.close_pool(channel) else { return };
        let (listener, timers) = (pool.listener, &mut cx.timers);
        pool.deferred.iter().for_each(|(at, _)| timers.cancel(*at, Timer::Attempt(listener)));
        if pool.listens {
            self.listeners.forget(listener, channel);
        }
        let Some(entry) = pool.entry else { return };
        if pool.listens {
            // The next that seeks here listens if it is the first.
            self.unsubscribe_from(cx, channel);
        }
        entry.leave(cx, channel);
    }

    pub(super) fn take_seeker(&mut self, cx: &mut Cx, request: RequestId) -> Option<Seeker> {
        let phase = self.semaphores.seekers.get(&request)?.phase;
        // It has no timer any more.
        self.set_phase(cx, request, Phase::Looking { all: false });
        let seeker = Seeker { phase, ..self.semaphores.seekers.remove(&request)? };
        if let Some(pool) = self.semaphores.pools.get_mut(seeker.slots.channel()) {
            let was_first = pool.line.leave(request);
            self.semaphores.stirred.push_back(seeker.slots.channel().clone());
            if was_first
                && (seeker.acquire.is_fair || self.semaphores.is_first_fair(seeker.slots.channel()))
            {
                self.leave_place(cx, seeker.slots.channel());
            }
        }
        Some(seeker)
    }

    /// Gives the caller its answer: the outcome of the latest try, or that it waited behind others
    /// in this process.
    pub(super) fn end_seeking(&mut self, cx: &mut Cx, request: RequestId) {
        let expires_at = self.semaphores.pool(request).and_then(|pool| pool.expires_at);
        let Some(seeker) = self.take_seeker(cx, request) else { return };
        let free_in = expires_at.map(|at| at.since(cx.now)).filter(|left| !left.is_zero());
        let full = Obstacle::Permits { all: seeker.slots.permits(), free_in };
        let mut failure = match seeker.failure {
            Some(failure) if !failure.kind.is_contended() => failure,
            Some(failure) => Failure { kind: FailureKind::Contended(full), ..failure },
            None => Failure::contended(full, 0),
        };
        (failure.attempts, failure.ahead) = (seeker.attempts, seeker.ahead);
        let waited = cx.now.since(seeker.began);
        cx.events.push(Event::NotAcquired { request, failure, waited });
    }

    /// Returns the channel of the pool that listens so, and the first waiter there.
    pub(super) fn pool_of(&self, listener: RequestId) -> Option<(Arc<str>, RequestId)> {
        let mut pools = self.semaphores.pools.iter();
        let (channel, pool) = pools.find(|(_, pool)| pool.listener == listener)?;
        Some((channel.clone(), pool.line.head()?))
    }

    /// Tries a slot that a message named: at once, or a moment later for each permit that this
    /// process has, or has just had. Of the processes that hear it, those with the fewest are first.
    pub(super) fn defer_slot(
        &mut self,
        cx: &mut Cx,
        head: RequestId,
        slot: u8,
        channel: &Arc<str>,
    ) {
        let Some(seeker) = self.semaphores.seekers.get(&head) else { return };
        let queue = &self.local_queue;
        let held = seeker.slots.names().iter().filter(|name| queue.is_wanted(name)).count();
        let Some(pool) = self.semaphores.pools.get_mut(channel) else { return };
        let moment = cx.masters.settings.backoff.base / MOMENTS_PER_BASE;
        let held = held + usize::from(pool.left.remove(slot));
        let held = u32::try_from(held).unwrap_or(u32::MAX).min(MOST_MOMENTS);
        match held {
            1.. => {
                // A part of the last moment is left to chance.
                let jitter = Backoff { base: moment, cap: moment };
                let jitter = jitter.delay(0, None, cx.masters.random.jitter());
                let at = cx.now.after(moment.saturating_mul(held - 1)).after(jitter);
                pool.deferred.push((at, slot));
                cx.timers.set(at, Timer::Attempt(pool.listener));
            }
            0 => {
                pool.hints.insert(slot);
                self.semaphores.stirred.push_back(channel.clone());
            }
        }
    }

    /// Offers the slots that are now due.
    pub(super) fn try_deferred(&mut self, cx: &mut Cx, listener: RequestId) {
        let Some((channel, _)) = self.pool_of(listener) else { return };
        let Some(Pool { deferred, hints, .. }) = self.semaphores.pools.get_mut(&channel) else {
            return;
        };
        deferred.extract_if(.., |(at, _)| *at <= cx.now).for_each(|(_, slot)| hints.insert(slot));
        self.semaphores.stirred.push_back(channel);
    }

    /// Decides which waiter is notified that a slot is given back: the next one here, or all.
    pub(crate) fn pass_permit_on(&mut self, cx: &mut Cx, keys: &Keys) -> Option<bool> {
        let slot = keys.slot()?;
        let (channel, _) = keys.messages().next()?;
        self.semaphores.idle(channel, slot, Lead::PassedOn)?;
        let is_waited_for = self.waitlists.is_waited_for(cx.now, channel);
        if !is_waited_for {
            self.listen_to_slots(cx, channel, true);
        }
        let hears = self.hears(cx, channel);
        let pool = self.semaphores.pools.get_mut(channel)?;
        if is_waited_for {
            pool.line.heard(true);
        }
        let cohort = if is_waited_for { Cohort::PERMIT_WAITED_FOR } else { Cohort::PERMIT };
        let tell = pool.line.pass_on(cohort);
        // Others go first only if their message reaches us, too, or the first of them is called.
        let steps_back = pool.line.steps_back();
        if let Some(until) = keys.iter().find_map(|key| self.left.until(cx.now, key)) {
            pool.deferred.push((until, slot));
            cx.timers.set(until, Timer::Attempt(pool.listener));
            self.goes_to_the_end(cx, channel);
        } else if steps_back && (hears || is_waited_for) {
            pool.left.insert(slot);
            self.goes_to_the_end(cx, channel);
        } else {
            pool.passed_on.insert(slot);
            self.semaphores.stirred.push_back(channel.clone());
        }
        Some(tell)
    }

    /// Notes whether a client in another process listened when a slot was announced to be free.
    pub(crate) fn slot_heard(&mut self, channel: &str, elsewhere: bool) {
        if let Some(pool) = self.semaphores.pools.get_mut(channel) {
            pool.line.heard(elsewhere);
        }
    }
}
