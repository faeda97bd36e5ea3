//! The instants at which a keeper extends, and its end.

use super::super::{Instant, Keeper, Nanos};
use super::ms;
use std::collections::BTreeSet;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

#[test]
fn a_hold_is_extended_a_third_of_its_ttl_after_the_last_round() {
    for keeper in [Keeper::new(Instant::NEVER), Keeper::new(at(9_000))] {
        assert_eq!(keeper.next(at(1_000), ms(3_000), at(3_900), 0), Some(at(2_000)));
    }
}

/// The end, the current deadline, and whether it may be moved further.
const ENDS: [(u64, u64, bool); 4] =
    [(5_000, 4_999, true), (5_000, 5_000, false), (5_000, 5_001, false), (0, 0, false)];

#[test]
fn nothing_is_extended_once_the_deadline_is_at_the_end() {
    for (end, deadline, more) in ENDS {
        let next = Keeper::new(at(end)).next(at(0), ms(300), at(deadline), 0);
        assert_eq!(next, more.then_some(at(100)), "{deadline} of {end} ms");
    }
}

#[test]
fn no_deadline_is_moved_beyond_the_end() {
    let keeper = Keeper::new(at(5_000));
    let capped = [4_999, 5_000, 5_001].map(|deadline| keeper.cap(at(deadline)));
    assert_eq!(capped, [at(4_999), at(5_000), at(5_000)]);
    assert_eq!(Keeper::new(Instant::NEVER).cap(at(5_001)), at(5_001));
}

#[test]
fn what_is_left_is_the_time_until_the_end_if_there_is_one() {
    let left = [3_000, 5_000, 6_000].map(|now| Keeper::new(at(5_000)).left(at(now)));
    assert_eq!(left, [ms(2_000), ms(0), ms(0)].map(Nanos::of));
    assert_eq!(Keeper::new(Instant::NEVER).left(at(3_000)), Nanos::FOREVER);
}

/// Now, the deadline, and the start of the next round.
const RETRIES: [(u64, u64, u64); 5] = [
    (0, 4_000, 1_000),
    (1_000, 4_000, 1_750),
    // Never faster than 5 ms, up to the deadline and beyond it.
    (3_976, 4_000, 3_982),
    (3_990, 4_000, 3_995),
    (4_100, 4_000, 4_105),
];

#[test]
fn a_failed_round_is_repeated_within_a_quarter_of_the_time_left() {
    for (now, deadline, next) in RETRIES {
        let retry = Keeper::new(Instant::NEVER).retry(at(now), at(deadline));
        assert_eq!(retry, at(next), "{now} of {deadline} ms");
    }
}

/// No round starts later than a third of the ttl, and none earlier than three quarters of that, but for the moment of
/// those that are extended together; all such moments in between are equally likely.
#[test]
fn those_that_were_won_together_fall_out_of_step() {
    let keeper = Keeper::new(Instant::NEVER);
    let next = |place| keeper.next(at(0), ms(3_000), at(2_900), place).expect("there is no end");
    assert_eq!(next(0), at(1_000));
    assert_eq!(next(u16::MAX), at(750));
    assert!((0..u16::MAX).all(|place| next(place + 1) <= next(place)));
    let all: BTreeSet<Instant> = (0..u16::MAX).map(next).collect();
    assert_eq!(all, (150..=200).map(|moment| at(5 * moment)).collect());
}

/// Also where they were won one after the other: within the moment, a round starts early, and never before the last.
#[test]
fn those_that_are_due_within_a_moment_are_extended_together() {
    for (ttl, within) in [(60_000, 5), (960, 5), (240, 5), (48, 1)] {
        let next = |started| Keeper::new(Instant::NEVER).next(at(started), ms(ttl), at(90_000), 0);
        let due = |started| at(started + ttl / 3);
        for started in 1_000..1_000 + 3 * within {
            let (at, due) = (next(started).expect("there is no end"), due(started));
            assert!(at <= due && due.since(at) < ms(within), "{started} of {ttl} ms");
            assert_eq!(at.as_nanos() % ms(within).as_nanos() as u64, 0, "{started} of {ttl} ms");
        }
    }
    let started = Instant::from_nanos(1);
    let next = Keeper::new(Instant::NEVER).next(started, ms(0), at(1), 0);
    assert_eq!(next, Some(started));
}
