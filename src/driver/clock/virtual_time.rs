//! Tokio's time in the place of ours, for tests: paused, it passes only while everybody waits.

use super::Clock;
use quorumlock_core::quorum::Instant;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// The first reading of one clock, and an hour before that on the other; tests in one process share
/// it.
static ORIGIN: OnceLock<(std::time::Instant, SystemTime)> = OnceLock::new();

/// Tests run side by side, and the first of them must not set an origin that lies in the future of
/// a runtime paused before it.
const BACK: Duration = Duration::from_secs(3600);

impl Clock {
    /// Follows `tokio::time::pause` and `advance` with both clocks; not paused, it goes as the
    /// system's do. It does not count suspend: never for locks that matter.
    pub(crate) fn tokio() -> Self {
        Self {
            now: || Instant::from_nanos(0).after(since_origin()),
            wall: || origin().1 + since_origin(),
        }
    }

    /// The machine sleeps: this thread's clock moves on, and tokio's timers stand still.
    #[cfg(all(test, feature = "embedded"))]
    pub(crate) fn suspend(span: Duration) {
        SUSPENDED.set(SUSPENDED.get() + span);
    }
}

fn origin() -> (std::time::Instant, SystemTime) {
    *ORIGIN.get_or_init(|| (std::time::Instant::now(), SystemTime::now() - BACK))
}

/// Since an hour before it.
fn since_origin() -> Duration {
    (tokio::time::Instant::now().into_std() + BACK) - origin().0 + suspended()
}

fn suspended() -> Duration {
    #[cfg(test)]
    return SUSPENDED.get();
    #[cfg(not(test))]
    Duration::ZERO
}

#[cfg(test)]
thread_local! {
    static SUSPENDED: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::ZERO) };
}
