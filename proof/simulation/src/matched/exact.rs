//! Spans of clocks that differ in speed, as the real time that they take.

use crate::clock::{Clock, Time, WallClock, nanos};
use quorumlock_core::quorum::Instant;
use std::time::Duration;

const MILLION: i128 = 1_000_000;

/// The largest difference in speed from the true time, in parts per million.
pub(super) const SLOWEST: i64 = crate::setup::MOST_PPM as i64;

/// A span by some clock, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span(pub(super) u64);

impl Span {
    pub(super) fn of(span: Duration) -> Self {
        Self(nanos(span))
    }

    /// Returns the least real time that it takes by a clock that is at most so much faster.
    pub(super) fn at_least(self, ppm: i64) -> i64 {
        let real = i128::from(self.0) * MILLION / (MILLION + i128::from(ppm));
        i64::try_from(real - 1).unwrap_or(i64::MAX)
    }

    /// Returns the most real time from some moment until a clock that is so much faster has gone
    /// on by it.
    pub(super) fn at_most(self, ppm: i64) -> i64 {
        let real = (i128::from(self.0) + 1) * MILLION / (MILLION + i128::from(ppm));
        i64::try_from(real + 2).unwrap_or(i64::MAX)
    }
}

/// Returns the real time at which a client's clock first shows an instant.
pub(super) fn when(clock: Clock, instant: Instant) -> i64 {
    i64::try_from(clock.when(instant)).unwrap_or(i64::MAX)
}

/// Returns the real time from which a key is gone that has `left` to live at `now`: it lives through the last
/// millisecond of its life.
pub(super) fn ends(clock: WallClock, now: Time, left: Duration) -> i64 {
    let shows = clock.at(now).as_millis() + left.as_millis() + 1;
    let past = |time: u64| clock.at(time).as_millis() >= shows;
    let passed = (i128::try_from(shows).unwrap_or(i128::MAX) * MILLION)
        - i128::try_from(clock.at(now).as_nanos()).unwrap_or(0);
    let guess = passed * MILLION / (MILLION + i128::from(clock.ppm));
    let mut time = now.saturating_add_signed(i64::try_from(guess).unwrap_or(i64::MAX / 2));
    while time > now && past(time - 1) {
        time -= 1;
    }
    while !past(time) {
        time += 1;
    }
    i64::try_from(time).unwrap_or(i64::MAX)
}
