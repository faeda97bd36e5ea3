//! The clock that all processes of a run share.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Nanoseconds since this machine was started, including time in suspend.
pub(crate) type Nanos = u64;

pub(crate) fn now() -> Nanos {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).expect("a clock that began at zero");
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).expect("nanoseconds")
}

pub(crate) fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).expect("less than 500 years")
}

/// Returns the time from one instant to a later one; zero if it is not later.
pub(crate) const fn between(from: Nanos, to: Nanos) -> Duration {
    Duration::from_nanos(to.saturating_sub(from))
}
