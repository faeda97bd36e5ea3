//! The room for further commands at one master: what a slow one can pile up is bounded.

use crate::master::Session;
use crate::quorum::Instant;
use crate::report::Refusal;
use std::time::Duration;

/// The most bytes of unanswered commands that a master may have outstanding. Beyond that, SETs are
/// refused in this process; extensions, rollbacks and releases never are.
pub(crate) const LARGEST_QUEUE: usize = 1 << 20;

/// The same while the master answers later than in an operation timeout.
const QUEUE_OF_LAGGARD: usize = LARGEST_QUEUE >> 4;

/// Debts of one master beyond which it gets no new SETs, since each may become another debt.
pub(crate) const LARGEST_LEDGER: usize = 1 << 16;

impl Session {
    /// Checks whether a command that is neither a debt nor for a hold would be sent now.
    pub(crate) fn admits(&self, len: usize) -> Result<(), Refusal> {
        let is_full = self.pipe.due_bytes() + len > LARGEST_QUEUE || self.debts() >= LARGEST_LEDGER;
        match &self.fault {
            None if is_full => Err(Refusal::QueueFull),
            None => Ok(()),
            Some(fault) => Err(fault.refusal()),
        }
    }

    /// Returns whether so much is on its way to a master that answers: then it is this client that is too fast, and
    /// what would soon be refused waits.
    pub(crate) fn is_busy(&self, now: Instant) -> bool {
        let is_full = self.pipe.due_bytes() >= LARGEST_QUEUE / 8 * 7
            || self.pipe.debts_due() >= LARGEST_LEDGER;
        is_full && self.fault.is_none() && self.silent_for(now) < self.settings.operation_timeout
    }

    /// Returns for how long the server has owed its next answer, whether or not it has given others meanwhile.
    pub(super) fn lags_for(&self, now: Instant) -> Duration {
        self.pipe.owed_since().map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Returns whether a SET of `len` bytes would wait behind more than a master has to do that answers too late:
    /// if it is ever needed for a quorum, it need not make up for much.
    pub(super) fn is_behind(&self, now: Instant, len: usize) -> bool {
        self.pipe.due_bytes() + len > QUEUE_OF_LAGGARD
            && self.lags_for(now) > self.settings.operation_timeout
    }
}
