//! An honest deadline: it is never later than the ttl allows from the time of the win, and the
//! holder is notified at the deadline.

use super::Verdict;
use quorumlock_core::quorum::{ClockDrift, Instant};
use std::time::Duration;

/// A deadline as it is reported at `now`, all on the holder's clock.
pub(crate) struct HonestDeadline {
    pub(crate) ttl: Duration,
    pub(crate) drift: ClockDrift,
    pub(crate) now: Instant,
    pub(crate) deadline: Instant,
}

impl HonestDeadline {
    pub(crate) fn judge(&self, token: &str) -> Verdict {
        let Self { ttl, drift, now, deadline } = self;
        let most = now.after(ttl.saturating_sub(drift.of(*ttl)));
        if deadline <= now {
            return Err(format!("{token} was won with a deadline that had passed"));
        }
        if *deadline > most {
            let more = deadline.since(most);
            return Err(format!("{token} may rely on {more:?} more than its ttl less the drift"));
        }
        Ok(())
    }
}

/// Checks that a hold whose `deadline` has passed is reported as lost, no later than timers are.
pub(crate) fn is_reported_in_time(
    token: &str,
    deadline: Instant,
    now: Instant,
    lateness: Duration,
) -> Verdict {
    let late = now.since(deadline);
    if late <= lateness {
        return Ok(());
    }
    Err(format!("{token} has lapsed, and {late:?} later it is not reported as lost"))
}

#[test]
fn a_deadline_that_promises_too_much_is_found() {
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    let drift = ClockDrift { rate_ppm: 10_000, constant: Duration::from_millis(2) };
    let deadline = |deadline| {
        let ttl = Duration::from_millis(1_000);
        HonestDeadline { ttl, drift, now: at(100), deadline }.judge("1")
    };
    assert_eq!(deadline(at(1_088)), Ok(()));
    for dishonest in [at(1_089), at(100), at(50)] {
        assert!(deadline(dishonest).is_err(), "{dishonest:?}");
    }
}

#[test]
fn a_lapse_that_is_not_reported_is_found() {
    let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
    let late = Duration::from_millis(3);
    assert_eq!(is_reported_in_time("1", at(100), at(103), late), Ok(()));
    assert!(is_reported_in_time("1", at(100), at(104), late).is_err());
}
