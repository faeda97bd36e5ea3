//! Time that counts suspend, and the only place that reads it. The wall clock beside it is for
//! fencing tokens alone.
//!
//! A laptop lid or a hypervisor's freeze stops `CLOCK_MONOTONIC`, and with it tokio's timers, while
//! the masters go on expiring keys: on that clock a lock would look alive that others hold by now.
//! Linux, Android and OpenBSD read `CLOCK_BOOTTIME`, macOS and iOS `mach_continuous_time`, Windows
//! its performance counter; all of them count suspend. What has no such clock (FreeBSD, NetBSD)
//! reads `CLOCK_MONOTONIC`: there, a holder can sleep through the end of its lock unawares.
//! A paused virtual machine is beyond any clock; that is what fencing is for.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use crate::quorum::Instant;
use crate::quorum::fence::micros;

/// Where `now` comes from. A function rather than a value of time, so that tests can put tokio's
/// paused clock in its place; copied freely, and every copy counts from the same origin.
#[derive(Clone, Copy)]
pub(crate) struct Clock(fn() -> Instant);

impl Clock {
    /// The clock that ships.
    pub(crate) fn boot() -> Self {
        Self(|| {
            static ORIGIN: OnceLock<boot_time::Instant> = OnceLock::new();
            let origin = *ORIGIN.get_or_init(boot_time::Instant::now);
            let since = boot_time::Instant::now().saturating_duration_since(origin);
            Instant::from_nanos(0).after(BEFORE_ORIGIN).after(since)
        })
    }

    /// Follows `tokio::time::pause` and `advance`, and [`Clock::suspend`].
    #[cfg(test)]
    pub(crate) fn tokio() -> Self {
        Self(|| {
            // Read from std and an hour back: tests run side by side, and the first of them must
            // not set an origin that lies in the future of a runtime paused before it.
            static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();
            let origin = *ORIGIN.get_or_init(std::time::Instant::now);
            let hour_back = Duration::from_secs(3600);
            let since = (tokio::time::Instant::now().into_std() + hour_back) - origin;
            Instant::from_nanos(0).after(since).after(SUSPENDED.get())
        })
    }

    /// The machine sleeps: this thread's clock moves on, and tokio's timers stand still.
    #[cfg(all(test, feature = "embedded"))]
    pub(crate) fn suspend(span: Duration) {
        SUSPENDED.set(SUSPENDED.get() + span);
    }

    pub(crate) fn now(self) -> Instant {
        (self.0)()
    }

    /// The wall clock, in microseconds since 1970: for what a fenced acquire proposes.
    pub(crate) fn wall_us() -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        micros(since)
    }
}

#[cfg(test)]
thread_local! {
    static SUSPENDED: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::ZERO) };
}

/// The origin lies this far before the first reading, so that 0 is never a valid `now` and can
/// stand for "never".
const BEFORE_ORIGIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boot_time_starts_after_zero_goes_forward_and_is_shared_by_copies() {
        let earlier = Clock::boot().now();
        assert!(earlier >= Instant::from_nanos(0).after(BEFORE_ORIGIN));
        std::thread::sleep(Duration::from_millis(5));
        let passed = Clock::boot().now().since(earlier);
        assert!(passed >= Duration::from_millis(5), "{passed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_of_tests_moves_exactly_as_tokios_does() {
        let clock = Clock::tokio();
        let earlier = clock.now();
        assert!(earlier > Instant::from_nanos(0));
        tokio::time::advance(Duration::from_secs(86_400)).await;
        assert_eq!(clock.now().since(earlier), Duration::from_secs(86_400));
    }
}
