//! Time that counts suspend, and the only place that reads it. The wall clock next to it is for
//! fencing tokens, and for stores that compare a deadline with a clock of their own.
//!
//! A closed laptop lid or a hypervisor's freeze stops `CLOCK_MONOTONIC`, and with it tokio's
//! timers, while the masters go on expiring keys. On that clock, a lock that others hold by now
//! would still look alive. Linux, Android and OpenBSD read `CLOCK_BOOTTIME`, macOS and iOS
//! `mach_continuous_time`, Windows its performance counter; all of them count suspend. Platforms
//! without such a clock (FreeBSD, NetBSD) read `CLOCK_MONOTONIC`: there, a holder can sleep through
//! the end of its lock without noticing. Clocks do not count the pause of a virtual machine; fencing
//! is for that.

#[cfg(any(test, feature = "embedded"))]
mod virtual_time;

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use quorumlock_core::quorum::Instant;
use quorumlock_core::quorum::fence::micros;

/// Source of `now`. It has functions rather than values of time, so that tests can substitute
/// tokio's paused clock. It is copied freely, and every copy counts from the same origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    now: fn() -> Instant,
    wall: fn() -> SystemTime,
}

impl Clock {
    /// Returns the clock that ships.
    pub(crate) fn boot() -> Self {
        let now = || {
            static ORIGIN: OnceLock<boot_time::Instant> = OnceLock::new();
            let origin = *ORIGIN.get_or_init(boot_time::Instant::now);
            let since = boot_time::Instant::now().saturating_duration_since(origin);
            Instant::from_nanos(0).after(BEFORE_ORIGIN).after(since)
        };
        Self { now, wall: SystemTime::now }
    }

    pub(crate) fn now(self) -> Instant {
        (self.now)()
    }

    /// Reads the wall clock.
    pub(crate) fn wall(self) -> SystemTime {
        (self.wall)()
    }

    /// Reads the wall clock, in microseconds since 1970, for what a fenced acquire proposes.
    pub(crate) fn wall_us(self) -> u64 {
        micros((self.wall)().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
    }
}

/// Distance from the origin to the first reading, so that 0 is never a valid `now` and can mean
/// "never".
const BEFORE_ORIGIN: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boot_time_starts_above_zero_advances_and_copies_share_it() {
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
