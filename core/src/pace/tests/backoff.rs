//! The wait before the next attempt, for every random number.

use crate::pace::Backoff;
use crate::pace::readiness::quorum_among;
use crate::quorum::tests::membership::set;
use crate::quorum::tests::{cases, masters, ms};
use crate::quorum::{Membership, NodeSet};
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

/// Masters, counted from 1, and the remaining life that each reported, in milliseconds.
type Remaining = &'static [(usize, u64)];

/// The lists (`b` in both, `n` and `o` in one alone); the reports; the earliest retry.
const EARLIEST: [(&str, Remaining, Option<u64>); 18] = [
    ("n", &[], None),
    ("n", &[(1, 7)], Some(7)),
    ("nnnnn", &[(1, 10), (2, 20)], None),
    ("nnn", &[(1, 30), (2, 10), (3, 20)], Some(20)),
    ("nnnnn", &[(5, 30), (3, 10), (1, 20)], Some(30)),
    ("nnn", &[(1, 0), (2, 0), (3, 900)], Some(0)),
    ("nnnnn", &[(1, 900), (2, 0), (3, 0), (4, 900), (5, 900)], Some(900)),
    ("nnnnn", &[(1, 5), (2, 4), (3, 3), (4, 2), (5, 1)], Some(3)),
    ("nnnn", &[(1, 1), (2, 2), (3, u64::MAX)], Some(u64::MAX)),
    // Two reports of one master are not the reports of two; a stranger's report is nothing.
    ("nnn", &[(1, 1), (1, 2)], None),
    ("nnn", &[(1, 1), (1, 2), (2, 3)], Some(3)),
    ("nnn", &[(1, 1), (4, 2)], None),
    // Two lists: the later of the two.
    ("bbno", &[(1, 10), (2, 20)], Some(20)),
    ("bbno", &[(1, 10), (3, 20)], None),
    ("bbno", &[(1, 10), (3, 20), (4, 30)], Some(30)),
    ("nnboo", &[(1, 1), (2, 2), (4, 3), (5, 4)], Some(4)),
    ("nnboo", &[(1, 1), (2, 2), (3, 3)], None),
    ("nnbboo", &[(5, 8), (6, 9), (3, 1), (1, 2), (2, 3)], Some(9)),
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
    for (lists, left, expected) in EARLIEST {
        let left: Vec<_> = left.iter().map(|&(node, left)| (node - 1, ms(left))).collect();
        let retry = quorum_among(Membership::pictured(lists), left.iter().copied());
        assert_eq!(retry, expected.map(ms), "{lists}: {left:?}");
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
        let delay = backoff.delay(attempt, None, random);
        prop_assert!(backoff.delay(attempt.saturating_add(later), None, random) >= delay);
        prop_assert!(backoff.delay(attempt, None, random.saturating_add(larger)) >= delay);
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
        left in prop::collection::vec((0..9_usize, 0..50_u64), 0..9),
        count in 1..9_usize, joint: bool, list in 1..256_u32, also in 1..256_u32,
    ) {
        let membership = match Membership::joint(set(list), set(also)) {
            Some(two) if joint => two,
            _ => masters(count),
        };
        let left: Vec<_> = left.into_iter().map(|(node, left)| (node, ms(left))).collect();
        let free = |by: Duration| -> NodeSet {
            left.iter().filter(|(_, left)| *left <= by).map(|(node, _)| *node).collect()
        };
        match quorum_among(membership, left.iter().copied()) {
            Some(earliest) => {
                prop_assert!(membership.is_quorum(free(earliest)));
                let before = earliest.checked_sub(Duration::from_nanos(1));
                prop_assert!(before.is_none_or(|before| !membership.is_quorum(free(before))));
            }
            None => prop_assert!(!membership.is_quorum(free(Duration::MAX))),
        }
    }
}
