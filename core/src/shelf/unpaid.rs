//! Locks that are not kept warm for a while, since that has not paid.
//!
//! A process that asks for an idle hold has it two round trips later than one that finds the lock free: its
//! message and the release come first. The process that kept it warm has saved one round trip for each guard that
//! had it without the masters. With fewer than two of them, both together would have been faster without. Two
//! processes that alternate would pay that each time.

use crate::quorum::Instant;
use crate::shared::Lately;
use std::sync::Arc;
use std::time::Duration;

/// How many guards must have had a hold without the masters for it to pay.
const FEWEST: u32 = 2;

/// How long a lock is not kept warm after a hold that has not paid. Far longer than two processes need to alternate,
/// so that what it costs to find out is little.
const PAUSE: Duration = Duration::from_secs(10);

/// The locks that are not kept warm.
#[derive(Default)]
pub(crate) struct Unpaid(Lately<(), { PAUSE.as_secs() }>);

impl Unpaid {
    /// Notes that another process has asked for an idle hold of `key`, which `guards` had without the masters.
    /// Returns whether the lock is not kept warm for a while.
    pub(crate) fn asked(&mut self, now: Instant, key: &Arc<str>, guards: u32) -> bool {
        guards < FEWEST && self.0.note(now, key, ())
    }

    /// Returns whether the lock is not kept warm now.
    pub(crate) fn has(&self, now: Instant, key: &str) -> bool {
        self.0.get(now, key).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Instant {
        Instant::from_nanos(0).after(Duration::from_secs(secs))
    }

    #[test]
    fn a_lock_pauses_for_ten_seconds_unless_two_guards_had_it() {
        let (mut unpaid, key) = (Unpaid::default(), Arc::from("r"));
        assert!(!unpaid.asked(at(0), &key, 2) && !unpaid.has(at(0), "r"));
        assert!(unpaid.asked(at(0), &key, 1));
        assert!(unpaid.has(at(9), "r") && !unpaid.has(at(9), "s"));
        assert!(!unpaid.has(at(10), "r"));
    }
}
