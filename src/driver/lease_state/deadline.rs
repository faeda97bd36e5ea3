//! The deadline that guard and driver share.

// From std here, and from loom where `proof/loom` tries every order of events on this file.
use super::atomic::{AtomicU64, Ordering};
use quorumlock_core::quorum::Instant;
use std::time::Duration;

/// Flag that is set once the hold is over. Deadlines stay below it: 292 years after the origin is
/// as good as never.
const OVER: u64 = 1 << 63;

fn stored(deadline: Instant) -> u64 {
    deadline.as_nanos().min(OVER - 1)
}

/// The deadline of a hold. A lapse is decided once, by compare-and-swap. The first side that sees
/// the deadline pass ends the hold, and an extension that comes too late finds it ended.
#[derive(Debug)]
pub(super) struct AtomicDeadline(AtomicU64);

impl AtomicDeadline {
    pub(super) fn new(deadline: Instant) -> Self {
        Self(AtomicU64::new(stored(deadline)))
    }

    /// Returns the deadline as it was last set, whether the hold is over or not.
    pub(super) fn instant(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Acquire) & !OVER)
    }

    /// Returns the remaining time at `now`, or `None` from the deadline on, for good.
    pub(super) fn remaining(&self, now: Instant) -> Option<Duration> {
        let mut seen = self.0.load(Ordering::Acquire);
        while seen & OVER == 0 {
            let deadline = Instant::from_nanos(seen);
            if now < deadline {
                return Some(deadline.since(now));
            }
            match self.swap(seen, seen | OVER) {
                Ok(_) => return None,
                Err(actual) => seen = actual,
            }
        }
        None
    }

    /// Moves the deadline, but never back. Returns `false` if the hold was over before.
    pub(super) fn extend(&self, to: Instant) -> bool {
        let to = stored(to);
        let mut seen = self.0.load(Ordering::Acquire);
        while seen & OVER == 0 {
            match self.swap(seen, seen.max(to)) {
                Ok(_) => return true,
                Err(actual) => seen = actual,
            }
        }
        false
    }

    pub(super) fn end(&self) {
        self.0.fetch_or(OVER, Ordering::AcqRel);
    }

    fn swap(&self, from: u64, to: u64) -> Result<u64, u64> {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}
