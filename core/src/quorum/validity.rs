//! The time for which a lock that was just won may be relied on.
//!
//! ```text
//!  T1, before the first byte                           deadline         the key expires
//!  |--------- elapsed ---------|----- validity -------|---- drift ----|
//!  |------------------------------- ttl ------------------------------|...
//! ```
//!
//! The key's life starts when the master executes the command, which is after `T1`. Measured from
//! `T1`, the holder's validity always lapses first. `drift` accounts for clocks that run at
//! different speeds. Source: "Distributed Locks with Redis", section "The Redlock Algorithm", step
//! 3.

use super::Instant;
use std::time::Duration;

/// The part taken off a ttl because clocks differ in speed. Default: 1 % and 2 ms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockDrift {
    /// Parts per million of the ttl.
    pub rate_ppm: u32,
    /// Taken off any ttl; covers the millisecond grain of Redis's own expiry.
    pub constant: Duration,
}

impl Default for ClockDrift {
    fn default() -> Self {
        Self { rate_ppm: 10_000, constant: Duration::from_millis(2) }
    }
}

impl ClockDrift {
    /// Returns `ttl * rate + constant`, rounded up to the nanosecond.
    pub fn of(self, ttl: Duration) -> Duration {
        let share = (ttl.as_nanos().saturating_mul(u128::from(self.rate_ppm))).div_ceil(1_000_000);
        let whole_secs = share / 1_000_000_000;
        let nanos = u32::try_from(share % 1_000_000_000).unwrap_or(0);
        let share =
            u64::try_from(whole_secs).map_or(Duration::MAX, |secs| Duration::new(secs, nanos));
        share.saturating_add(self.constant)
    }
}

/// Returns `ttl - elapsed - drift`, or `None` if nothing is left of it.
pub fn validity(ttl: Duration, elapsed: Duration, drift: Duration) -> Option<Duration> {
    ttl.checked_sub(elapsed)?.checked_sub(drift).filter(|left| !left.is_zero())
}

/// Returns the instant until which a round begun at `started` may be relied on, if it is won by
/// `now`.
pub fn deadline(
    started: Instant,
    now: Instant,
    ttl: Duration,
    drift: ClockDrift,
) -> Option<Instant> {
    validity(ttl, now.since(started), drift.of(ttl)).map(|left| now.after(left))
}
