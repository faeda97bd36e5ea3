//! How long to wait, for every random number.

use super::super::Backoff;
use super::super::backoff::earliest_quorum;
use super::{cases, ms};
use proptest::prelude::*;
use std::time::Duration;

const HABIT: Backoff = Backoff { base: ms(5), cap: ms(250) };

/// The attempt and the window, in milliseconds, for 5 ms doubling to 250 ms.
const WINDOWS: [(u32, u64); 12] = [
    (0, 5),
    (1, 10),
    (2, 20),
    (3, 40),
    (4, 80),
    (5, 160),
    (6, 250),
    (7, 250),
    (31, 250),
    (32, 250),
    (33, 250),
    (u32::MAX, 250),
];

/// What the masters that refused said is left, in milliseconds; the quorum; the earliest retry.
const EARLIEST: [(&[u64], usize, Option<u64>); 11] = [
    (&[], 1, None),
    (&[7], 1, Some(7)),
    (&[7], 0, None),
    (&[10, 20], 3, None),
    (&[30, 10, 20], 2, Some(20)),
    (&[30, 10, 20], 3, Some(30)),
    (&[0, 0, 900], 2, Some(0)),
    (&[900, 0, 0, 900, 900], 3, Some(900)),
    (&[5, 4, 3, 2, 1], 3, Some(3)),
    (&[9, 9, 9, 9, 9], 3, Some(9)),
    (&[1, 2, 3, 4, u64::MAX], 5, Some(u64::MAX)),
];

#[test]
fn the_window_doubles_up_to_the_cap() {
    for (attempt, window) in WINDOWS {
        let longest = HABIT.delay(attempt, None, u64::MAX);
        assert_eq!(longest, ms(window), "attempt {attempt}, largest random number");
        assert_eq!(HABIT.delay(attempt, None, 0), ms(0), "attempt {attempt}, smallest");
        let middle = HABIT.delay(attempt, None, 1 << 63);
        assert_eq!(middle, ms(window) / 2, "attempt {attempt}, middle");
    }
}

#[test]
fn a_ceiling_narrows_the_window_and_never_widens_it() {
    assert_eq!(HABIT.delay(4, Some(ms(30)), u64::MAX), ms(30));
    assert_eq!(HABIT.delay(4, Some(ms(0)), u64::MAX), ms(0));
    assert_eq!(HABIT.delay(4, Some(Duration::MAX), u64::MAX), ms(80));
    assert_eq!(HABIT.delay(40, Some(ms(251)), u64::MAX), ms(250));
}

#[test]
fn the_widest_settings_do_not_overflow() {
    let widest = Backoff { base: Duration::MAX, cap: Duration::MAX };
    let end = Duration::from_nanos(u64::MAX);
    assert_eq!(widest.delay(u32::MAX, None, u64::MAX), end);
    assert_eq!(widest.delay(0, Some(Duration::MAX), u64::MAX), end);
    assert_eq!(widest.delay(0, None, 0), ms(0));
}

#[test]
fn a_retry_makes_sense_when_a_quorum_may_be_free() {
    for (left, quorum, expected) in EARLIEST {
        let mut remaining: Vec<Duration> = left.iter().copied().map(ms).collect();
        let said = earliest_quorum(&mut remaining, quorum);
        assert_eq!(said, expected.map(ms), "{left:?}, quorum {quorum}");
    }
}

proptest! {
    #![proptest_config(cases(1_024))]

    #[test]
    fn a_delay_is_within_the_cap_the_ceiling_and_the_doubled_base(
        base: u64, cap: u64, attempt: u32, ceiling: Option<u64>, random: u64,
    ) {
        let backoff = Backoff { base: Duration::from_nanos(base), cap: Duration::from_nanos(cap) };
        let delay = backoff.delay(attempt, ceiling.map(Duration::from_nanos), random).as_nanos();
        prop_assert!(delay <= u128::from(cap));
        prop_assert!(ceiling.is_none_or(|ceiling| delay <= u128::from(ceiling)));
        prop_assert!(delay <= u128::from(base) << attempt.min(63));
    }

    #[test]
    fn a_larger_random_number_or_a_later_attempt_never_waits_less(
        base: u64, cap: u64, attempt: u32, later: u32, random: u64, larger: u64,
    ) {
        let backoff = Backoff { base: Duration::from_nanos(base), cap: Duration::from_nanos(cap) };
        let said = backoff.delay(attempt, None, random);
        prop_assert!(backoff.delay(attempt.saturating_add(later), None, random) >= said);
        prop_assert!(backoff.delay(attempt, None, random.saturating_add(larger)) >= said);
    }

    #[test]
    fn enough_attempts_reach_a_cap_of_up_to_an_hour(
        // From a microsecond up; in nanoseconds.
        base in 1_000..=1_000_000_000_u64, cap in 1..=3_600_000_000_000_u64,
    ) {
        let backoff = Backoff { base: Duration::from_nanos(base), cap: Duration::from_nanos(cap) };
        prop_assert_eq!(backoff.delay(u32::MAX, None, u64::MAX), backoff.cap);
    }

    #[test]
    fn before_the_earliest_retry_fewer_than_a_quorum_are_free(
        left in prop::collection::vec(0..50_u64, 0..9), quorum in 1..9_usize,
    ) {
        let mut remaining: Vec<Duration> = left.iter().copied().map(ms).collect();
        let free = |by: Duration| left.iter().filter(|&&left| ms(left) <= by).count();
        match earliest_quorum(&mut remaining, quorum) {
            Some(earliest) => {
                prop_assert!(free(earliest) >= quorum);
                let before = earliest.checked_sub(Duration::from_nanos(1));
                prop_assert!(before.is_none_or(|before| free(before) < quorum));
            }
            None => prop_assert!(left.len() < quorum),
        }
    }
}
