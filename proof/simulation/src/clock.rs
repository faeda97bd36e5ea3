//! Clocks that run at their own speed. Times of the world are nanoseconds since its beginning.

use quorumlock_core::quorum::Instant;
use std::time::Duration;

/// A moment of the world: no client or master can read it.
pub(super) type Time = u64;

pub(super) const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(super) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("a span of less than centuries")
}

/// Returns a moment as it is written in a log.
pub(super) fn shown(time: Time) -> String {
    format!("{:>10.3} ms", time as f64 / 1e6)
}

const MILLION: i128 = 1_000_000;

/// The clock of one client: it counts suspend and never steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The time that it shows when the world begins.
    pub(super) origin: u64,
    /// How much faster than the world's it runs, in parts per million.
    pub(super) ppm: i64,
}

impl Clock {
    pub(super) fn at(self, time: Time) -> Instant {
        let ahead = (i128::from(time) * i128::from(self.ppm)).div_euclid(MILLION);
        let shows = i128::from(self.origin) + i128::from(time) + ahead;
        Instant::from_nanos(u64::try_from(shows).expect("a clock that runs forward"))
    }

    /// Returns the first moment at which it shows `instant`.
    pub(super) fn when(self, instant: Instant) -> Time {
        let passed = instant.as_nanos().saturating_sub(self.origin);
        let time = i128::from(passed) * MILLION / (MILLION + i128::from(self.ppm));
        let mut time = u64::try_from(time).unwrap_or(u64::MAX / 2).min(u64::MAX / 2);
        while self.at(time) < instant && time < u64::MAX / 2 {
            time += 1;
        }
        time
    }
}

/// The wall clock of one master, by which keys expire: it may be set back.
#[derive(Clone, Copy, Debug)]
pub(super) struct WallClock {
    /// The time that it shows when the world begins, since 1970.
    pub(super) origin: Duration,
    pub(super) ppm: i64,
    /// The sum of all steps so far.
    pub(super) stepped: i64,
}

impl WallClock {
    pub(super) fn at(self, time: Time) -> Duration {
        let ahead = (i128::from(time) * i128::from(self.ppm)).div_euclid(MILLION);
        let passed = i128::from(time) + ahead + i128::from(self.stepped);
        let shows = i128::from(nanos(self.origin)) + passed;
        Duration::from_nanos(u64::try_from(shows).expect("a clock that shows no time before 1970"))
    }

    /// Returns by how much longer a key may live for having been set before the steps, in the whole milliseconds of
    /// a master.
    pub(super) fn prolongs(self) -> Duration {
        Duration::from_millis(self.stepped.unsigned_abs().div_ceil(1_000_000))
    }
}

#[test]
fn a_clock_shows_an_instant_from_the_moment_that_it_names_on() {
    for ppm in [-200_000, -4_500, 0, 4_500, 90_000] {
        let clock = Clock { origin: 5_000, ppm };
        for time in [1, 999, 123_456_789, 98_765_432_101] {
            let first = clock.when(clock.at(time));
            assert!(first <= time && clock.at(first) >= clock.at(time), "{ppm} {time}");
            assert!(first == 0 || clock.at(first - 1) < clock.at(time), "{ppm} {time}");
        }
    }
}

#[test]
fn a_step_of_a_part_of_a_millisecond_prolongs_a_key_by_a_whole_one() {
    let clock = WallClock { origin: millis(10_000), ppm: 0, stepped: 0 };
    assert_eq!(clock.prolongs(), Duration::ZERO);
    let set_back = WallClock { stepped: -1_096_961_000, ..clock };
    // A master that shows 10,003.5 ms sets a key, and is set back at once, to 8,906.539 ms.
    let (set_at, looked_at) = (clock.at(3_500_000), set_back.at(3_500_000));
    let dies_at = set_at.as_millis() + 6_000;
    let remaining = dies_at - looked_at.as_millis();
    assert_eq!((remaining, set_back.prolongs()), (7_097, millis(1_097)));
}
