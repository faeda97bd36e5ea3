//! The CPU time that this process has used, user and system, all threads together.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

pub(crate) fn used() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(used.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(used.tv_nsec).unwrap_or(0))
}
