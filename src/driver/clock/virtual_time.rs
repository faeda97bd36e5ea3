//! Tokio's time in place of ours, for tests: while paused, it passes only when every task waits.

use super::Clock;
use quorumlock_core::quorum::Instant;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// The first reading of the monotonic clock, and the wall clock an hour before that. Tests in one
/// process share both.
static ORIGIN: OnceLock<(std::time::Instant, SystemTime)> = OnceLock::new();

/// Distance to an earlier origin. Tests run in parallel, and the first of them must not set an
/// origin in the future of a runtime that was paused before it.
const BACK: Duration = Duration::from_secs(3600);

impl Clock {
    /// Follows `tokio::time::pause` and `advance` with both clocks. When not paused, both run like
    /// the system's clocks. It does not count suspend: never use it for locks that matter.
    pub(crate) fn tokio() -> Self {
        Self {
            now: || Instant::from_nanos(0).after(since_origin()),
            wall: || origin().1 + since_origin(),
        }
    }

    /// Simulates a sleep of the machine: this thread's clock moves on, and tokio's timers do not.
    #[cfg(all(test, feature = "embedded"))]
    pub(crate) fn suspend(span: Duration) {
        SUSPENDED.set(SUSPENDED.get() + span);
    }
}

fn origin() -> (std::time::Instant, SystemTime) {
    *ORIGIN.get_or_init(|| (std::time::Instant::now(), SystemTime::now() - BACK))
}

/// Returns the time since an hour before the origin.
fn since_origin() -> Duration {
    let since = (tokio::time::Instant::now().into_std() + BACK) - origin().0;
    #[cfg(test)]
    let since = since + SUSPENDED.get();
    since
}

#[cfg(test)]
thread_local! {
    static SUSPENDED: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::ZERO) };
}
