//! The time for which a node that has lost its memory does not vote.

use super::super::standing::{Start, quarantine};
use super::super::{ClockDrift, FencingWindow, Instant};
use super::ballots::lets_in;
use super::drift::HABIT;
use super::{at, cases, ms};
use proptest::prelude::*;
use std::time::Duration;

/// No drift on top, so that every tick counts.
const NO_DRIFT: ClockDrift = ClockDrift { rate_ppm: 0, constant: Duration::ZERO };

const fn window(back: Duration, ahead: Duration) -> FencingWindow {
    FencingWindow { back, ahead }
}

/// The longest ttl, the window's ends, and how long a node waits with 1 % + 2 ms; milliseconds.
const QUARANTINES: [(u64, u64, u64, Duration); 6] = [
    (30_000, 2_000, 2_000, ms(30_302)),
    (4_001, 2_000, 2_000, Duration::from_micros(4_043_010)),
    (4_000, 2_000, 2_000, Duration::from_micros(4_043_010)),
    (1_000, 2_000, 2_000, Duration::from_micros(4_043_010)),
    (1_000, 0, 2_000, Duration::from_micros(2_023_010)),
    (0, 0, 0, Duration::from_micros(3_010)),
];

/// The reading of an uptime in seconds, that uptime, and the instant from which the node votes, for
/// a quarantine of 30 s; milliseconds.
const VOTES_FROM: [(u64, u64, u64); 7] = [
    (100_000, 0, 130_000),
    (100_000, 1, 130_000),
    (100_000, 2, 129_000),
    (100_000, 31, 100_000),
    (100_000, 32, 99_000),
    (5_000, 36, 0),
    (5_000, 86_400, 0),
];

#[test]
fn a_quarantine_is_the_longest_ttl_or_the_window_plus_the_drift() {
    for (max_ttl, back, ahead, expected) in QUARANTINES {
        let duration = quarantine(ms(max_ttl), window(ms(back), ms(ahead)), HABIT);
        assert_eq!(duration, expected, "max_ttl {max_ttl}, window {back} + {ahead}");
    }
}

#[test]
fn a_node_votes_a_quarantine_after_its_start() {
    for (read, uptime, expected) in VOTES_FROM {
        let from = Start::reported(at(read), Duration::from_secs(uptime)).votes_from(ms(30_000));
        assert_eq!(from, at(expected), "read at {read}, uptime {uptime} s");
    }
}

#[test]
fn the_longest_spans_never_let_a_node_vote() {
    let end = Instant::from_nanos(u64::MAX);
    let ever = quarantine(Duration::MAX, FencingWindow::DEFAULT, HABIT);
    assert_eq!(Start::at(at(0)).votes_from(ever), end);
    let ever = quarantine(ms(1), window(Duration::MAX, Duration::MAX), HABIT);
    assert_eq!(Start::at(at(0)).votes_from(ever), end);
}

#[test]
fn one_tick_less_than_the_window_lets_two_winners_share_a_token() {
    let wide = window(ms(3), ms(5));
    let restarted = 1_000_000;
    let votes = |after: Duration| restarted + after.as_micros() as u64;
    // The greatest ballot let in before the restart is let in again after it.
    let greatest = restarted + 5_000;
    assert!(lets_in(wide, greatest, restarted));
    let full = quarantine(ms(1), wide, NO_DRIFT);
    assert!(lets_in(wide, greatest, votes(full - ms(1))), "one tick less is unsafe");
    assert!(!lets_in(wide, greatest, votes(full)));
}

/// Returns a window's end, of up to an hour, to the microsecond.
fn end() -> impl Strategy<Value = Duration> {
    (0..3_600_000_000_u64).prop_map(Duration::from_micros)
}

proptest! {
    #![proptest_config(cases(1_024))]

    #[test]
    fn ballots_let_in_after_a_quarantine_exceed_all_before_it(
        back in end(), ahead in end(), before in 8_000_000_000..9_000_000_000_000_u64,
        later in 0..1_000_000_u64, low: u64, high: u64,
    ) {
        let window = window(back, ahead);
        let pause = quarantine(Duration::ZERO, window, NO_DRIFT).as_micros() as u64;
        let after = before + pause + later;
        // Any ballot of either window, its ends included.
        let first = before - back.as_micros() as u64 + high % (window.width().as_micros() as u64 + 1);
        let second = after - back.as_micros() as u64 + low % (window.width().as_micros() as u64 + 1);
        prop_assert!(lets_in(window, first, before) && lets_in(window, second, after));
        prop_assert!(second > first);
    }

    #[test]
    fn keys_of_the_longest_ttl_expire_before_the_master_votes(
        max_ttl in end(), back in end(), ahead in end(), rate_ppm in 0..100_000_u32,
    ) {
        let drift = ClockDrift { rate_ppm, constant: ms(2) };
        let pause = quarantine(max_ttl, window(back, ahead), drift);
        prop_assert!(pause >= max_ttl + drift.of(max_ttl));
        prop_assert!(pause > back + ahead + drift.of(back + ahead));
    }

    #[test]
    fn no_word_of_an_uptime_lets_a_node_vote_early(
        // Nanoseconds: the node's start, how long it ran before it reported, how long the report
        // was in flight.
        started in 0..100_000_000_000_u64, ran in 0..100_000_000_000_u64,
        late in 0..5_000_000_000_u64, second in 0..1_000_000_000_u64,
    ) {
        // The difference of two whole seconds, wherever they begin.
        let whole = |nanos: u64| (nanos + second) / 1_000_000_000;
        let uptime = Duration::from_secs(whole(started + ran) - whole(started));
        let read = Instant::from_nanos(started + ran + late);
        let from = Start::reported(read, uptime).votes_from(ms(30_000));
        prop_assert!(from >= Instant::from_nanos(started).after(ms(30_000)));
        let latest = started + late + 2_000_000_000;
        prop_assert!(from <= Instant::from_nanos(latest).after(ms(30_000)), "two seconds too late");
    }
}
