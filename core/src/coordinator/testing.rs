//! What tests ask of the machine.

use super::Coordinator;
use crate::quorum::Instant;
use crate::shared::{AttemptId, Invariant, Keys};

impl Coordinator {
    /// Returns the number of entries for requests, apart from debts.
    pub fn entries(&self) -> usize {
        let requests =
            self.waiters.acquisitions.len() + self.locks.attempts.len() + self.locks.rounds.len();
        let requests = requests
            + self.cx.masters.barrier.len()
            + self.waiters.listeners.len()
            + self.waiters.semaphores.len();
        let requests = requests + self.locks.adopting.len() + self.waiters.local_queue.len();
        let requests = requests + self.waiters.readers.len() + self.waiters.hints.len();
        requests + usize::from(self.cx.timers.next_at() < Instant::NEVER)
    }

    /// Breaks an invariant.
    pub fn break_invariant(&mut self) {
        self.cx.check(false, Invariant::OneHolder);
    }

    /// Returns until when a key is left to other clients, if it is.
    pub fn left_until(&self, now: Instant, key: &str) -> Option<Instant> {
        self.waiters.left_until(now, &Keys::one(key.into()))
    }

    /// Returns the value in Redis for an attempt, while the attempt is remembered.
    pub fn token(&self, attempt: AttemptId) -> Option<String> {
        Some(
            self.locks
                .attempts
                .get(attempt)?
                .claim
                .value(self.cx.masters.settings.label.as_deref()),
        )
    }
}
