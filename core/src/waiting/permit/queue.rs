//! The waiters of this process for a permit of one semaphore, in their order.

use super::pool::{Lead, Phase, Seeker};
use crate::obstacle::Obstacle;
use crate::quorum::Instant;
use crate::shared::{Cx, Event, Failure, FailureKind, Keys, RequestId, Timer};
use crate::waiting::Waiters;
use crate::waiting::line::PERMITS_IN_A_ROW;
use std::sync::Arc;

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
            let is_listed = again_at.is_some() && pool.place.is_listed();
            match again_at {
                _ if !is_listed && self.ask_for_any(cx, head) => {}
                Some(again_at) => self.set_phase(cx, head, Phase::Paused { again_at }),
                None => self.look_at_slots(cx, head, false),
            }
        }
    }

    fn close_pool(&mut self, cx: &mut Cx, channel: &Arc<str>) {
        if let Some(mut pool) = self.semaphores.close_pool(channel) {
            pool.place.leave(cx, channel);
        }
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

    /// Decides which waiter is notified that a slot is given back: the next one here, or all.
    pub(crate) fn pass_permit_on(&mut self, cx: &mut Cx, keys: &Keys) -> Option<bool> {
        let slot = keys.slot()?;
        let (channel, _) = keys.messages().next()?;
        self.semaphores.idle(channel, slot, Lead::PassedOn)?;
        let is_waited_for = self.waitlists.is_waited_for(cx.now, channel);
        let pool = self.semaphores.pools.get_mut(channel)?;
        pool.line.heard(is_waited_for);
        let tell = pool.line.pass_on(PERMITS_IN_A_ROW);
        let steps_back = pool.line.steps_back();
        let left_until = self.left_until(cx.now, keys);
        if left_until.is_none() && !steps_back {
            self.semaphores.pools.get_mut(channel)?.passed_on.insert(slot);
            self.semaphores.stirred.push_back(channel.clone());
            return Some(tell);
        }
        if let Some(until) = left_until {
            self.seek_sooner(cx, channel, until);
        }
        self.goes_to_the_end(cx, channel);
        Some(tell)
    }
}
