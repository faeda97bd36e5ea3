//! The time for which a win may be relied on, over the whole range of arguments.

use super::super::validity::{deadline, validity};
use super::super::{ClockDrift, Instant};
use super::drift::HABIT;
use super::{at, cases, ms};
use proptest::prelude::*;
use std::time::Duration;

/// A ttl, the time that winning took, and the time that is left with 1 % + 2 ms of drift.
const LEFT: [(Duration, Duration, Option<Duration>); 20] = [
    (ms(0), ms(0), None),
    (ms(1), ms(0), None),
    (ms(2), ms(0), None),
    (Duration::from_nanos(2_020_202), ms(0), None),
    (Duration::from_nanos(2_020_203), ms(0), None),
    (Duration::from_nanos(2_020_204), ms(0), Some(Duration::from_nanos(1))),
    (ms(99), ms(0), Some(Duration::from_micros(96_010))),
    (ms(99), ms(96), Some(Duration::from_micros(10))),
    (ms(99), ms(97), None),
    (ms(100), ms(0), Some(ms(97))),
    (ms(100), Duration::from_nanos(96_999_999), Some(Duration::from_nanos(1))),
    (ms(100), ms(97), None),
    (ms(100), ms(98), None),
    (ms(500), ms(0), Some(ms(493))),
    (ms(500), ms(200), Some(ms(293))),
    (ms(1_000), ms(0), Some(ms(988))),
    (ms(1_000), ms(1_000), None),
    (ms(1_000), ms(u64::MAX), None),
    (ms(u64::MAX), ms(0), Some(Duration::new(18_262_276_632_972_456, 96_850_000))),
    (ms(u64::MAX), ms(u64::MAX), None),
];

#[test]
fn what_is_left_is_ttl_less_elapsed_less_drift() {
    for (ttl, elapsed, expected) in LEFT {
        let valid = validity(ttl, elapsed, HABIT.of(ttl));
        assert_eq!(valid, expected, "ttl {ttl:?}, elapsed {elapsed:?}");
    }
}

#[test]
fn a_deadline_counts_from_the_start_of_the_round() {
    for (ttl, elapsed, left) in LEFT {
        let Some(left) = left.filter(|_| ttl < ms(1_000_000)) else { continue };
        let started = at(5_000);
        let now = started.after(elapsed);
        let expected = now.as_nanos() + u64::try_from(left.as_nanos()).unwrap_or(0);
        let ends = deadline(started, now, ttl, HABIT).map(Instant::as_nanos);
        assert_eq!(ends, Some(expected), "ttl {ttl:?}, elapsed {elapsed:?}");
    }
    // However long the round took, the deadline is the same, if there is one.
    for elapsed in [0, 1, 100, 492] {
        let ends = deadline(at(5_000), at(5_000 + elapsed), ms(500), HABIT);
        assert_eq!(ends, Some(at(5_493)), "elapsed {elapsed} ms");
    }
    assert_eq!(deadline(at(5_000), at(5_493), ms(500), HABIT), None);
}

#[test]
fn instants_stop_at_the_end_of_time_and_never_count_backwards() {
    let end = Instant::from_nanos(u64::MAX);
    assert_eq!(end.after(ms(1)), end);
    assert_eq!(at(0).after(Duration::MAX), end);
    assert_eq!(at(1).since(at(2)), Duration::ZERO);
    assert_eq!(at(7).since(at(2)), ms(5));
    assert_eq!(at(2).after(ms(5)), at(7));
}

proptest! {
    #![proptest_config(cases(2_048))]

    #[test]
    fn validity_elapsed_and_drift_add_up_to_the_ttl(ttl: u64, elapsed: u64, drift: u64) {
        let nanos = Duration::from_nanos;
        match validity(nanos(ttl), nanos(elapsed), nanos(drift)) {
            Some(left) => {
                prop_assert!(!left.is_zero());
                let sum = left.as_nanos() + u128::from(elapsed) + u128::from(drift);
                prop_assert_eq!(sum, u128::from(ttl));
            }
            None => prop_assert!(u128::from(ttl) <= u128::from(elapsed) + u128::from(drift)),
        }
    }

    #[test]
    fn validity_of_any_durations_is_exact(
        ttl: (u64, u32), elapsed: (u64, u32), drift: (u64, u32),
    ) {
        let whole = |(secs, nanos): (u64, u32)| Duration::new(secs, nanos % 1_00);
        let (ttl, elapsed, drift) = (whole(ttl), whole(elapsed), whole(drift));
        let left = ttl.as_nanos().saturating_sub(elapsed.as_nanos() + drift.as_nanos());
        let valid = validity(ttl, elapsed, drift).map_or(0, |left| left.as_nanos());
        prop_assert_eq!(valid, left);
    }

    #[test]
    fn a_near_miss_is_a_loss_and_a_nanosecond_more_is_not(elapsed: u32, drift: u32) {
        let (elapsed, drift) = (u64::from(elapsed), u64::from(drift));
        let nanos = Duration::from_nanos;
        let valid = |ttl| validity(nanos(ttl), nanos(elapsed), nanos(drift));
        prop_assert_eq!(valid(elapsed + drift), None);
        prop_assert_eq!(valid(elapsed + drift + 1), Some(nanos(1)));
    }

    #[test]
    fn validity_never_grows_with_elapsed_or_drift(
        ttl: u64, elapsed: u64, drift: u64, more: u64,
    ) {
        let valid = |elapsed: u64, drift: u64| {
            let nanos = Duration::from_nanos;
            validity(nanos(ttl), nanos(elapsed), nanos(drift)).unwrap_or_default()
        };
        prop_assert!(valid(elapsed.saturating_add(more), drift) <= valid(elapsed, drift));
        prop_assert!(valid(elapsed, drift.saturating_add(more)) <= valid(elapsed, drift));
    }

    #[test]
    fn a_deadline_is_never_later_than_start_plus_ttl_less_drift(
        started: u64, took: u64, ttl: u64, rate_ppm in 0..2_000_000_u32, constant: u64,
    ) {
        let drift = ClockDrift { rate_ppm, constant: Duration::from_nanos(constant) };
        let (ttl, started) = (Duration::from_nanos(ttl), Instant::from_nanos(started));
        let now = started.after(Duration::from_nanos(took));
        match deadline(started, now, ttl, drift) {
            Some(deadline) => {
                let spent = drift.of(ttl).as_nanos();
                let latest = u128::from(started.as_nanos()) + ttl.as_nanos() - spent;
                prop_assert!(u128::from(deadline.as_nanos()) <= latest);
                prop_assert!(deadline > now || now == Instant::from_nanos(u64::MAX));
            }
            None => {
                prop_assert!(ttl.as_nanos() <= now.since(started).as_nanos() + drift.of(ttl).as_nanos());
            }
        }
    }

    #[test]
    fn a_clock_read_before_the_start_gives_no_later_deadline(now: u64, before: u32, ttl: u64) {
        let started = Instant::from_nanos(now).after(Duration::from_nanos(before.into()));
        let ttl = Duration::from_nanos(ttl);
        let early = deadline(Instant::from_nanos(now), Instant::from_nanos(now), ttl, HABIT);
        prop_assert!(deadline(started, Instant::from_nanos(now), ttl, HABIT) <= early);
    }
}
