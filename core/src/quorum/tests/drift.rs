//! The part taken off a ttl, to the nanosecond.

use super::super::ClockDrift;
use super::{cases, ms};
use proptest::prelude::*;
use std::time::Duration;

/// The field's habit: 1 % and 2 ms.
pub(super) const HABIT: ClockDrift = ClockDrift { rate_ppm: 10_000, constant: ms(2) };

/// A ttl, and 1 % + 2 ms of it.
const HABITS: [(Duration, Duration); 10] = [
    (ms(0), Duration::from_nanos(2_000_000)),
    (Duration::from_nanos(1), Duration::from_nanos(2_000_001)),
    (Duration::from_nanos(100), Duration::from_nanos(2_000_001)),
    (Duration::from_nanos(101), Duration::from_nanos(2_000_002)),
    (ms(1), Duration::from_nanos(2_010_000)),
    (ms(2), Duration::from_nanos(2_020_000)),
    (ms(99), Duration::from_nanos(2_990_000)),
    (ms(500), ms(7)),
    (ms(1_000), ms(12)),
    (ms(u64::MAX), Duration::new(184_467_440_737_095, 518_150_000)),
];

#[test]
fn one_percent_and_two_milliseconds_are_rounded_up() {
    for (ttl, expected) in HABITS {
        assert_eq!(HABIT.of(ttl), expected, "drift of {ttl:?}");
    }
}

#[test]
fn a_rate_of_a_millionth_and_a_rate_of_all_are_exact() {
    let drift = |rate_ppm| ClockDrift { rate_ppm, constant: Duration::ZERO };
    assert_eq!(drift(0).of(ms(1_000)), Duration::ZERO);
    assert_eq!(drift(1).of(Duration::from_nanos(1_000_000)), Duration::from_nanos(1));
    assert_eq!(drift(1).of(Duration::from_nanos(1_000_001)), Duration::from_nanos(2));
    assert_eq!(drift(1_000_000).of(ms(1_234)), ms(1_234));
    assert_eq!(drift(u32::MAX).of(Duration::MAX), Duration::MAX);
    assert_eq!(ClockDrift { rate_ppm: 1, constant: Duration::MAX }.of(ms(1)), Duration::MAX);
}

/// Returns any duration there is.
fn any_duration() -> impl Strategy<Value = Duration> {
    (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Duration::new(secs, nanos))
}

proptest! {
    #![proptest_config(cases(1_024))]

    #[test]
    fn drift_is_the_smallest_whole_nanosecond_that_covers_the_rate(
        ttl in any_duration(), rate_ppm: u32, constant in any_duration(),
    ) {
        let drift = ClockDrift { rate_ppm, constant }.of(ttl);
        if drift == Duration::MAX {
            return Ok(());
        }
        // share * 1_000_000 is between ttl * rate and one nanosecond more; all of it fits u128.
        let share = drift.as_nanos() - constant.as_nanos();
        let exact = ttl.as_nanos() * u128::from(rate_ppm);
        prop_assert!(share * 1_000_000 >= exact, "rounded down");
        prop_assert!(share * 1_000_000 < exact + 1_000_000, "a nanosecond too much");
    }

    #[test]
    fn drift_never_falls_when_the_ttl_or_the_rate_grows(
        ttl in any_duration(), more in any_duration(), rate_ppm: u32, faster: u32,
    ) {
        let drift = |rate_ppm| ClockDrift { rate_ppm, constant: ms(2) };
        let longer = ttl.saturating_add(more);
        prop_assert!(drift(rate_ppm).of(longer) >= drift(rate_ppm).of(ttl));
        prop_assert!(drift(rate_ppm.saturating_add(faster)).of(ttl) >= drift(rate_ppm).of(ttl));
    }
}
