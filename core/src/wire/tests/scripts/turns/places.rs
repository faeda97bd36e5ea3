//! Where a waiter that looks stands, and how long its place lives.

use super::stage::{ALIVE, BEGIN, PLACE, PLACES, Stage, claim, waiter};
use crate::wire::{Reply, Token};

#[test]
fn a_stamp_is_the_clock_or_behind_the_last() {
    let mut stage = Stage::new();
    assert_eq!(stage.looks(3).refused().stamp, BEGIN);
    assert_eq!(stage.looks(2).refused().stamp, BEGIN + 1, "at the same moment");
    stage.pass(1);
    assert_eq!(stage.looks(1).refused().stamp, BEGIN + 1_000);
    stage.pass(-500);
    assert_eq!(stage.looks(4).refused().stamp, BEGIN + 1_001, "the clock was set back");
    for (who, stamp) in [(3, BEGIN), (2, BEGIN + 1), (1, BEGIN + 1_000)] {
        let look = stage.looks(who).refused();
        assert_eq!((look.stamp, look.clock), (stamp, BEGIN - 499_000), "{who} stays where it is");
    }
    let stands = [(3, BEGIN), (2, BEGIN + 1), (1, BEGIN + 1_000), (4, BEGIN + 1_001)];
    assert_eq!(stage.queue(), stands);
}

#[test]
fn a_ticket_is_stored_as_it_is_and_the_next_stamp_is_behind_it() {
    const LATER: u64 = BEGIN + 7_000_000;
    for tries in [false, true] {
        for ticket in [1, BEGIN - 1, BEGIN, LATER] {
            let mut stage = Stage::with_waiters(&[1]);
            stage.set("r", "theirs");
            let refusal = stage.asks(&claim(1, Some(ticket)), tries).refused();
            assert_eq!(refusal.stamp, ticket);
            assert_eq!(stage.asks(&claim(2, Some(ticket)), tries).refused().ahead, 1);
            assert_eq!(stage.queue(), [(1, ticket), (2, ticket)], "ties are by name");
            assert_eq!(stage.looks(3).refused().stamp, BEGIN.max(ticket + 1));
        }
    }
}

#[test]
fn a_ticket_moves_its_waiter_behind_an_earlier_one() {
    let mut stage = Stage::with_waiters(&[1, 2]);
    assert_eq!(stage.asks(&claim(1, Some(BEGIN + 9)), false).refused().ahead, 1);
    assert_eq!(stage.looks(2).why(), Some(-3));
    assert_eq!(stage.queue(), [(2, BEGIN + 1), (1, BEGIN + 9)]);
}

#[test]
fn a_place_lives_for_three_seconds_from_the_last_look_or_try() {
    for tries in [false, true] {
        let mut stage = Stage::with_waiters(&[1, 2]);
        stage.set("r", "theirs");
        stage.pass(1_000);
        assert_eq!(stage.asks(&claim(1, None), tries).refused().ahead, 0);
        stage.pass(PLACE - 1_000);
        assert_eq!(stage.looks(3).refused().ahead, 2, "2 lives through its last moment");
        stage.pass(1);
        assert_eq!(stage.looks(3).refused().ahead, 1);
        assert_eq!((stage.queue().len(), stage.alive()), (2, vec![1, 3]));
        // A late waiter begins again.
        let later = stage.clock();
        assert_eq!(stage.looks(2).refused().stamp, later);
        stage.pass(1_000);
        assert_eq!(stage.looks(3).refused().ahead, 0, "1 is dead, too");
        for key in [PLACES, ALIVE] {
            assert_eq!(stage.ask(&["PTTL", key]), Reply::Int(2 * PLACE), "{key}");
        }
        stage.pass(2 * PLACE + 1);
        assert_eq!(stage.keys(), 0);
    }
}

#[test]
fn a_waiter_that_has_not_looked_since_the_clock_was_set_back_by_much_is_dropped() {
    for (back, left) in [(27_000, vec![1, 2, 3]), (27_001, vec![3])] {
        let mut stage = Stage::with_waiters(&[1, 2]);
        stage.pass(-back);
        stage.looks(3);
        assert_eq!(stage.alive(), left, "{back}");
        let queue: Vec<u8> = stage.queue().into_iter().map(|(who, _)| who).collect();
        assert_eq!(queue, left, "{back}");
    }
}

#[test]
fn a_first_waiter_that_is_not_known_to_live_is_dropped() {
    let mut stage = Stage::with_waiters(&[1, 2, 3, 4]);
    for who in [1, 2] {
        assert_eq!(stage.ask(&["ZREM", ALIVE, &waiter(who)]), Reply::Int(1));
    }
    let look = stage.looks(4).refused();
    assert_eq!((look.why, look.ahead), (2, 1));
    assert_eq!(stage.queue(), [(3, BEGIN + 2), (4, BEGIN + 3)]);
    stage.ask(&["DEL", ALIVE]);
    assert_eq!(stage.looks(4).why(), Some(-3));
}

/// Its own ticket moved it behind a waiter that is not known to live.
#[test]
fn a_waiter_first_by_another_s_ticket_has_to_live_too() {
    let mut stage = Stage::with_waiters(&[1, 2]);
    stage.ask(&["ZREM", ALIVE, &waiter(2)]);
    assert_eq!(stage.asks(&claim(1, Some(BEGIN + 9)), false).why(), Some(-3));
}

#[test]
fn a_full_queue_takes_no_more_but_a_waiter_with_a_ticket() {
    let mut stage = Stage::with_waiters(&[1]);
    let ends = (BEGIN / 1_000 + 3_000).to_string();
    for number in 1..4_096_u64 {
        let (place, name) =
            ((BEGIN + number).to_string(), Token::new(1_000_000 + u128::from(number)));
        stage.ask(&["ZADD", PLACES, &place, &name.to_string()]);
        stage.ask(&["ZADD", ALIVE, &ends, &name.to_string()]);
    }
    let size = |stage: &mut Stage| stage.ask(&["ZCARD", PLACES]);
    for answer in [stage.looks(2), stage.tries(2)] {
        let refusal = answer.refused();
        assert_eq!((refusal.why, refusal.stamp, refusal.ahead), (2, 0, 4_096));
    }
    assert_eq!(size(&mut stage), Reply::Int(4_096));
    assert_eq!(stage.looks(1).refused().stamp, BEGIN, "a waiter there stays");
    assert_eq!(stage.asks(&claim(3, Some(BEGIN)), false).refused().ahead, 1);
    assert_eq!(size(&mut stage), Reply::Int(4_097));
    stage.pass(PLACE + 1);
    let look = stage.looks(2).refused();
    assert_eq!((look.why, look.ahead), (-3, 0), "a dead waiter leaves room at once");
    assert_eq!(size(&mut stage), Reply::Int(1));
}
