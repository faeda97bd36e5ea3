//! The places in front: none of them lives for long once the lock is free.

use super::stage::{ALIVE, BEGIN, LOCK, PLACE, PLACES, Stage, claim, token, without_place};
use crate::wire::{Claim, Leaves, Place, Reply, Token};
use std::time::Duration;

/// How many are in front.
const FRONT: u64 = 256;
/// For how many ms the place of a waiter lives that is far back.
const LONG: i64 = 27_000;

fn far_back(number: u64) -> String {
    Token::new(1_000_000 + u128::from(number)).to_string()
}

/// Returns the claim of a waiter whose place lives for long.
fn seldom(who: u8) -> Claim {
    let lives = Duration::from_millis(LONG.unsigned_abs());
    let place = claim(who, None).place.map(|place| Box::new(Place { lives, ..*place }));
    Claim { place, ..claim(who, None) }
}

/// Returns a master that client 1 holds, and so many waiters that live for long, and how long that is.
fn with_far_back(count: u64) -> (Stage, u64) {
    let mut stage = Stage::new();
    assert_eq!(stage.ask(&["SET", LOCK, &token(1), "PX", "60000"]), Reply::Okay);
    let ends = BEGIN / 1_000 + LONG.unsigned_abs();
    for number in 0..count {
        let name = far_back(number);
        stage.ask(&["ZADD", PLACES, &(BEGIN + number).to_string(), &name]);
        stage.ask(&["ZADD", ALIVE, &ends.to_string(), &name]);
    }
    (stage, ends)
}

/// Returns until when each waiter lives, in their order.
fn lives(stage: &mut Stage) -> Vec<u64> {
    let Reply::Array(names) = stage.ask(&["ZRANGE", PLACES, "0", "-1"]) else { panic!("no list") };
    let ends = |name: &Reply| stage.ask(&["ZSCORE", ALIVE, name.text().unwrap()]);
    names.iter().map(ends).map(|ends| ends.text().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_release_shortens_all_places_and_lets_their_waiters_look() {
    let (mut stage, long) = with_far_back(FRONT + 2);
    stage.pass(1_000);
    let short = stage.clock() / 1_000 + PLACE.unsigned_abs();
    let (_, called) = stage.leaves(&without_place(1), Leaves::Hold);
    assert_eq!(called, [far_back(0)], "the first one is called");
    let looks = (1..FRONT + 2).map(|number| format!("look {} {LOCK}", far_back(number)));
    assert_eq!(stage.hurried, looks.collect::<Vec<_>>());
    assert!(short < long && lives(&mut stage) == [short; 258]);
    // The next release has nothing to shorten.
    stage.hurried.clear();
    stage.leaves(&without_place(1), Leaves::Hold);
    assert_eq!(stage.hurried, [""; 0]);
}

/// In a longer queue: a release looks at the first and at the last of those in front.
#[test]
fn one_long_place_at_either_end_of_the_front_shortens_all_in_between() {
    for (at_end, shortens) in [(Some(0), true), (Some(FRONT - 1), true), (None, false)] {
        let (mut stage, long) = with_far_back(FRONT + 1);
        let soon = (BEGIN / 1_000 + 2_000).to_string();
        for end in [0, FRONT - 1].into_iter().filter(|end| at_end != Some(*end)) {
            stage.ask(&["ZADD", ALIVE, &soon, &far_back(end)]);
        }
        stage.leaves(&without_place(1), Leaves::Hold);
        let short = BEGIN / 1_000 + PLACE.unsigned_abs();
        let between = if shortens { short } else { long };
        assert_eq!(lives(&mut stage)[1..255], [between; 254], "{at_end:?}");
    }
}

#[test]
fn a_short_place_keeps_its_life_and_its_waiter_looks_as_well() {
    let (mut stage, long) = with_far_back(2);
    let early = (BEGIN / 1_000 + 1_000).to_string();
    stage.ask(&["ZADD", ALIVE, &early, &far_back(1)]);
    stage.leaves(&without_place(1), Leaves::Hold);
    assert_eq!(
        lives(&mut stage),
        [long - LONG.unsigned_abs() + PLACE.unsigned_abs(), BEGIN / 1_000 + 1_000]
    );
    assert_eq!(stage.hurried, [format!("look {} {LOCK}", far_back(1))]);
}

/// No message would tell them.
#[test]
fn a_rollback_shortens_the_place_alone_that_it_keeps_the_key_for() {
    let (mut stage, long) = with_far_back(3);
    stage.leaves(&claim(1, None), Leaves::Nothing);
    let short = BEGIN / 1_000 + PLACE.unsigned_abs();
    assert_eq!(lives(&mut stage), [short, long, long]);
    assert_eq!(stage.hurried, [""; 0]);
}

#[test]
fn a_withdrawal_that_hands_on_shortens_the_places_in_front() {
    let (mut stage, _) = with_far_back(2);
    stage.looks(3);
    stage.ask(&["ZADD", PLACES, "1", &super::stage::waiter(3)]);
    stage.set(LOCK, &super::stage::kept_for(3));
    stage.leaves(&claim(3, None), Leaves::Place);
    assert_eq!(lives(&mut stage), [BEGIN / 1_000 + PLACE.unsigned_abs(); 2]);
    assert_eq!(stage.hurried, [format!("look {} {LOCK}", far_back(1))]);
}

#[test]
fn a_look_that_finds_what_none_in_front_takes_shortens_their_places() {
    for (left, shortens) in [("", true), ("theirs", false), ("quorumlock:next:x", false)] {
        let (mut stage, long) = with_far_back(FRONT + 2);
        stage.ask(&["DEL", LOCK]);
        if !left.is_empty() {
            stage.set(LOCK, left);
        }
        // One that is far back itself leaves them as they are.
        stage.asks(&seldom(2), false);
        assert_eq!(lives(&mut stage)[..258], [long; 258]);
        stage.pass(1_000);
        let short = stage.clock() / 1_000 + PLACE.unsigned_abs();
        stage.looks(3);
        let expected = if shortens { short } else { long };
        assert_eq!(lives(&mut stage)[..258], [expected; 258], "{left}");
    }
}

/// A try keeps the key for the first alone.
#[test]
fn a_try_does_not_shorten_the_places_behind_the_first() {
    let (mut stage, long) = with_far_back(3);
    stage.ask(&["DEL", LOCK]);
    assert_eq!(stage.tries(2).why(), Some(2));
    assert_eq!(lives(&mut stage)[..3], [BEGIN / 1_000 + PLACE.unsigned_abs(), long, long]);
}

#[test]
fn a_place_lives_as_long_as_its_look_says_and_a_try_of_it_for_three_seconds() {
    let mut stage = Stage::new();
    stage.set(LOCK, "theirs");
    stage.asks(&seldom(1), false);
    assert_eq!(lives(&mut stage), [BEGIN / 1_000 + LONG.unsigned_abs()]);
    stage.asks(&seldom(1), true);
    assert_eq!(lives(&mut stage), [BEGIN / 1_000 + PLACE.unsigned_abs()]);
}

#[test]
fn a_short_place_shortens_no_queue_and_a_clock_that_was_set_back_lengthens_none() {
    let mut stage = Stage::new();
    let ends = |stage: &mut Stage| [PLACES, ALIVE].map(|key| stage.ask(&["PTTL", key]));
    stage.asks(&seldom(1), false);
    assert_eq!(ends(&mut stage), [Reply::Int(2 * LONG), Reply::Int(2 * LONG)]);
    stage.pass(1_000);
    stage.looks(2);
    assert_eq!(ends(&mut stage), [Reply::Int(2 * LONG - 1_000), Reply::Int(2 * LONG - 1_000)]);
    stage.pass(2 * LONG - 1_000 - PLACE);
    stage.looks(2);
    assert_eq!(ends(&mut stage), [Reply::Int(2 * PLACE), Reply::Int(2 * PLACE)]);
    stage.pass(-3_600_000);
    stage.looks(2);
    assert_eq!(ends(&mut stage), [Reply::Int(20 * PLACE), Reply::Int(20 * PLACE)]);
}
