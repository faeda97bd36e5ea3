//! The callers that wait until a quorum may vote.

use super::request::Reply;
use crate::failure::NotReady;
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;
use std::time::Duration;

struct Waiter {
    since: Instant,
    until: Instant,
    reply: Reply<Result<(), NotReady>>,
}

/// Callers that wait until a quorum may vote. Callers that gave up are forgotten at the next look.
#[derive(Default)]
pub(super) struct Readiness(Vec<Waiter>);

impl Readiness {
    pub(super) fn add(
        &mut self,
        now: Instant,
        within: Duration,
        reply: Reply<Result<(), NotReady>>,
    ) {
        self.0.push(Waiter { since: now, until: now.after(within), reply });
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[cfg(all(test, feature = "embedded"))]
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns when the time of the next waiter is over.
    pub(super) fn end_at(&self) -> Option<Instant> {
        self.0.iter().map(|waiter| waiter.until).min()
    }

    /// Answers the waiters that need not wait any longer.
    pub(super) fn look(&mut self, machine: &Coordinator, now: Instant) {
        self.0.retain(|waiter| !waiter.reply.is_closed());
        if machine.masters().can_vote(now) {
            for waiter in self.0.drain(..) {
                let _ = waiter.reply.send(Ok(()));
            }
        } else {
            for waiter in self.0.extract_if(.., |waiter| waiter.until <= now) {
                let (waited, status) = (now.since(waiter.since), machine.masters().status(now));
                let _ = waiter.reply.send(Err(NotReady { waited, status }));
            }
        }
    }
}
