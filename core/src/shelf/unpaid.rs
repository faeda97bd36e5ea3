//! Locks that are not kept warm for a while, since that has not paid.
//!
//! A process that asks for an idle hold has it two round trips later than one that finds the lock free: its
//! message and the release come first. The process that kept it warm has saved one round trip for each guard that
//! had it without the masters. With fewer than two of them, both together would have been faster without. Two
//! processes that alternate would pay that each time.

use crate::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How many guards must have had a hold without the masters for it to pay.
const FEWEST: u32 = 2;

/// How long a lock is not kept warm after a hold that has not paid. Far longer than two processes need to alternate,
/// so that what it costs to find out is little.
const PAUSE: Duration = Duration::from_secs(10);

/// Of more locks than these, the one whose pause ends first is forgotten.
const MOST: usize = 1 << 10;

/// The locks that are not kept warm, and until when.
#[derive(Default)]
pub(crate) struct Unpaid(BTreeMap<Arc<str>, Instant>);

impl Unpaid {
    /// Notes that another process has asked for an idle hold of `key`, which `guards` had without the masters.
    /// Returns whether the lock is not kept warm for a while.
    pub(crate) fn asked(&mut self, now: Instant, key: &Arc<str>, guards: u32) -> bool {
        if guards >= FEWEST {
            return false;
        }
        if self.0.len() >= MOST {
            self.0.retain(|_, until| now < *until);
        }
        if self.0.len() >= MOST
            && let Some((first, _)) = self.0.iter().min_by_key(|(_, until)| **until)
        {
            let first = first.clone();
            self.0.remove(&first);
        }
        self.0.insert(key.clone(), now.after(PAUSE));
        true
    }

    /// Returns whether the lock is not kept warm now.
    pub(crate) fn has(&mut self, now: Instant, key: &str) -> bool {
        let pauses = self.0.get(key).is_some_and(|until| now < *until);
        if !pauses {
            self.0.remove(key);
        }
        pauses
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
        assert!(!unpaid.has(at(10), "r") && unpaid.0.is_empty());
    }

    #[test]
    fn of_too_many_the_first_to_end_is_forgotten() {
        let mut unpaid = Unpaid::default();
        for lock in 0..=MOST {
            let now = Instant::from_nanos(lock as u64);
            assert!(unpaid.asked(now, &lock.to_string().into(), 0));
        }
        assert!(unpaid.0.len() == MOST && !unpaid.has(at(1), "0") && unpaid.has(at(1), "1"));
    }
}
