//! The seekers of this process: their order, and what passes on among them.

use super::pool::{Lead, Phase, Seeker, Semaphores};
use super::{Next, Seeking};
use crate::obstacle::Obstacle;
use crate::shared::{Cx, Event, Failure, FailureKind, Keys, RequestId};
use crate::waiting::Waiters;
use crate::waiting::tuning::PERMITS_IN_A_ROW;
use std::sync::Arc;

impl Waiters {
    /// Gives the caller its answer: the outcome of the latest try, or that it waited behind others
    /// in this process.
    pub(super) fn end_seeking(&mut self, cx: &mut Cx, seeking: Seeking) {
        let expires_at = seeking.pool.expires_at;
        let seeker = self.leave_pool(cx, seeking);
        let free_in = expires_at.map(|at| at.since(cx.now)).filter(|left| !left.is_zero());
        let full = Obstacle::Permits { all: seeker.slots.permits(), free_in };
        let mut failure = match seeker.failure {
            Some(failure) if !failure.kind.is_contended() => failure,
            Some(failure) => Failure { kind: FailureKind::Contended(full), ..failure },
            None => Failure::contended(full, 0),
        };
        (failure.attempts, failure.ahead) = (seeker.attempts, seeker.ahead);
        let (request, waited) = (seeker.request, cx.now.since(seeker.began));
        cx.events.push(Event::NotAcquired { request, failure, waited });
    }

    fn leave_pool(&mut self, cx: &mut Cx, seeking: Seeking) -> Seeker {
        let was_first = seeking.is_head();
        let Seeking { mut pool, mut seeker } = seeking;
        let (phase, channel) = (seeker.phase, seeker.slots.channel().clone());
        // It has no timer any more.
        seeker.enter(cx, Phase::Looking { all: false });
        if was_first && (seeker.acquire.is_fair || pool.is_first_fair()) {
            pool.place.leave(cx, &channel);
        }
        self.semaphores.sought.remove(&seeker.request);
        self.semaphores.stirred.push_back(channel.clone());
        self.semaphores.pools.insert(channel, pool);
        Seeker { phase, ..seeker }
    }

    pub(super) fn take_seeker(&mut self, cx: &mut Cx, request: RequestId) -> Option<Seeker> {
        let seeking = self.semaphores.take(request)?;
        Some(self.leave_pool(cx, seeking))
    }

    /// Gives up on the permit of a caller that is gone, if it sought one.
    pub(crate) fn cancel_seeking(&mut self, cx: &mut Cx, request: RequestId) {
        if let Some(Seeker { phase: Phase::Trying(_), .. }) = self.take_seeker(cx, request) {
            self.cancel(cx, request.own());
        }
    }

    /// Returns all acquires that have no answer yet.
    pub(crate) fn requests(&self) -> Vec<RequestId> {
        let seeking = self.semaphores.sought.keys().copied();
        seeking.chain(self.acquisitions.requests()).collect()
    }

    /// Offers slots that may be free to the waiters, and lets the first of them look out.
    pub(super) fn serve_pool(&mut self, cx: &mut Cx, channel: &Arc<str>) {
        let next_offer = |semaphores: &mut Semaphores| {
            semaphores.pools.get_mut(channel).and_then(|pool| pool.next_offer())
        };
        while let Some((request, slot, lead)) = next_offer(&mut self.semaphores) {
            self.go_on_seeking(cx, request, |waiters, cx, Seeking { seeker, .. }| {
                waiters.picks(cx, seeker, |other| other == slot).first()?;
                if let Lead::Listed(trial) = lead {
                    seeker.in_vain += 1;
                    seeker.trial = Some(trial);
                }
                Some(Next::Try { slot, probes: lead == Lead::Hint })
            });
        }
        match self.semaphores.head(channel) {
            Some(head) if head.phase == Phase::Queued => {
                self.go_on_seeking(cx, head.request, Self::goes_first);
            }
            Some(_) => {}
            None => {
                if let Some(mut pool) = self.semaphores.close_pool(channel) {
                    pool.place.leave(cx, channel);
                }
            }
        }
    }

    /// Lets the first that waited in this process go on where the one before it was.
    fn goes_first(&mut self, cx: &mut Cx, seeking: &mut Seeking) -> Option<Next> {
        let Seeking { pool, seeker } = &*seeking;
        let again_at = pool.again_at.filter(|at| cx.now < (*at).min(seeker.until()));
        let is_listed = again_at.is_some() && pool.place.is_listed();
        let asks = if is_listed { None } else { self.ask_for_any(cx, seeking) };
        let pause = again_at.map(|again_at| Next::Pause { again_at });
        asks.or(pause).or(Some(Next::Look { all: false }))
    }

    /// Decides which waiter is notified that a slot is given back: the next one here, or all.
    pub(crate) fn pass_permit_on(&mut self, cx: &mut Cx, keys: &Keys) -> Option<bool> {
        let slot = keys.slot()?;
        let (channel, _) = keys.messages().next()?;
        let is_waited_for = self.waitlists.is_waited_for(cx.now, channel);
        let left_until = self.left_until(cx.now, keys);
        let pool = self.semaphores.pools.get_mut(channel)?;
        pool.idle(slot, Lead::PassedOn)?;
        pool.line.wanted_elsewhere = is_waited_for;
        let tell = pool.line.pass_on(PERMITS_IN_A_ROW);
        if !pool.line.steps_back() && left_until.is_none() {
            pool.leads.insert((Lead::PassedOn, slot));
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
