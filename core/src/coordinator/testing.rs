//! What tests ask of the machine.

use super::{AttemptId, Coordinator};

impl Coordinator {
    /// Returns the number of entries for requests, apart from debts.
    pub fn entries(&self) -> usize {
        let requests = self.acquisitions.len() + self.attempts.len() + self.rounds.len();
        let requests = requests + self.barrier.len() + self.listeners.len() + self.semaphores.len();
        let requests = requests + self.adopting.len() + self.local_queue.len();
        let requests = requests + self.readers.len() + self.hints.len();
        requests + self.timers.next_at().into_iter().count()
    }

    /// Returns the value in Redis for an attempt, while the attempt is remembered.
    pub fn token(&self, attempt: AttemptId) -> Option<String> {
        Some(self.attempts.get(attempt)?.claim.value(self.settings.label.as_deref()))
    }
}
