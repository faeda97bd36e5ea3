//! The CPU time that processes have used: user and system time of all threads together.

use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::time::Duration;

/// Returns the time used by this process.
pub(crate) fn used() -> Duration {
    read(ClockId::ProcessCPUTime)
}

#[cfg(test)]
pub(crate) fn used_by_this_thread() -> Duration {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let used = clock_gettime(clock);
    let seconds = u64::try_from(used.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(used.tv_nsec).unwrap_or(0))
}

/// Returns the time used by the threads that this process has now, to the nanosecond: ticks are too
/// coarse for a short turn. `None` if the kernel does not report it, as outside Linux.
pub(crate) fn used_by(process: u32) -> Option<Duration> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten();
    let spent = tasks.map(|task| {
        let stat = fs::read_to_string(task.path().join("schedstat")).ok()?;
        stat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    });
    spent.sum()
}
