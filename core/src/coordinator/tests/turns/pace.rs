//! When one that is far back looks, and for how long its place lives.

use super::super::{Stage, telling};
use super::{JOINS, ME, STANDS, joins, stands};

const DENIED: &str = "-NOPERM No permissions to access a channel";

/// It stands behind `ahead` others, as all masters tell.
fn stands_behind(ahead: usize) -> Stage {
    let mut stage = joins();
    stage.steps(&format!(
        "n1-3 > place 0 9000 1007 {ahead} someone
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
         n1-3 > place 0 9000 1007 {ahead} someone
         = {ahead} ahead of 1
         next 1000ms"
    ));
    stage
}

/// It has looked for the second time, a second later: `gone` of those before it are gone.
fn has_looked(ahead: usize, gone: usize) -> Stage {
    let mut stage = stands_behind(ahead);
    let left = ahead - gone;
    stage.steps(&format!(
        "+1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
         n1-3 > place 0 9000 1007 {left} someone"
    ));
    if gone > 0 {
        stage.steps(&format!("= {left} ahead of 1"));
    }
    stage
}

/// The same with a queue that comes nearer by fifty a second: it is in front after 24 s, of which a second
/// is over.
fn is_far_back() -> Stage {
    let mut stage = has_looked(1_505, 49);
    stage.steps(
        "next 2000ms
         +1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 17250 4000",
    );
    stage
}

#[test]
fn one_that_is_far_back_looks_when_a_quarter_of_its_way_to_the_front_is_over() {
    let mut stage = is_far_back();
    stage.play(
        "n1-3 > place 0 9000 1007 1407 someone
         = 1407 ahead of 1
         next 7750ms
         +5750ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 12952 4000",
    );
}

#[test]
fn the_longest_time_between_two_looks_is_nine_seconds() {
    has_looked(4_000, 9).play(
        "+1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 27000 4000
         n1-3 > place 0 9000 1007 3981 someone
         = 3981 ahead of 1
         next 10000ms                   // what masters report of themselves",
    );
}

/// It may be that a waiter leaves at once.
#[test]
fn where_none_is_gone_one_is_expected_to_be() {
    has_looked(286, 0).play(
        "+1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 21750 4000
         n1-3 > place 0 9000 1007 286 someone
         next 9250ms",
    );
}

#[test]
fn one_in_front_looks_once_a_second_however_slow_the_queue_is() {
    for ahead in [1, 200, 256] {
        has_looked(ahead, 0).play(
            "+1s
             n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000",
        );
    }
}

#[test]
fn one_that_has_more_before_it_than_at_the_look_before_looks_once_a_second() {
    let mut stage = stands_behind(1_000);
    stage.play(
        "+1s
         n1-3 < EVALSHA ask ..
         n1-3 > place 0 9000 1007 1001 someone
         = 1001 ahead of 1
         +1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000",
    );
}

/// Of those before it, many are gone since.
#[test]
fn where_the_queue_is_faster_than_it_was_the_next_look_is_due_sooner() {
    is_far_back().play(
        "n1-3 > place 0 9000 1007 456 someone
         = 456 ahead of 1
         next 3000ms
         +1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000",
    );
}

#[test]
fn one_whose_place_was_shortened_looks_at_once_and_once_a_second_from_then_on() {
    let mut stage = is_far_back();
    stage.steps(
        "n1-3 > place 0 9000 1007 1407 someone
         = 1407 ahead of 1",
    );
    stage.play(&format!(
        "n3 > says @0000000000000000 look 00000000000000000000000000000009 r
         n1-3 < -                       // another in its process
         n3 > says @0000000000000000 look {ME} r
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
         n1-3 > place 0 9000 1007 200 someone
         = 200 ahead of 1
         next 3000ms"
    ));
}

/// Those before it may be dead: then all of them are gone after three seconds, and none is until then.
#[test]
fn one_whose_place_was_shortened_looks_once_a_second_until_the_dead_before_it_are_gone() {
    let mut stage = is_far_back();
    stage.steps(&format!(
        "n1-3 > place 0 9000 1007 1407 someone
         = 1407 ahead of 1
         n3 > says @0000000000000000 look {ME} r"
    ));
    for _ in 0..4 {
        stage.steps(
            "n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
             n1-3 > place 0 9000 1007 1407 someone
             +1s",
        );
    }
    stage.play("n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 27000 4000");
}

#[test]
fn one_whose_place_was_shortened_during_a_look_looks_behind_it() {
    is_far_back().play(&format!(
        "n3 > says @0000000000000000 look {ME} r
         n1-3 < -
         n1-3 > place 0 9000 1007 200 someone
         = 200 ahead of 1
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000"
    ));
}

/// A message that would tell it to look does not come.
#[test]
fn one_without_a_mailbox_looks_once_a_second() {
    let mut stage = telling();
    stage.steps(&JOINS.replace("subscribed @0000000000000000", DENIED));
    stage.steps(STANDS);
    stage.play(
        "+1s
         n1-3 < EVALSHA ask ..
         n1-3 > place 0 9000 1007 4000 someone
         = 4000 ahead of 1
         +1s
         n1-3 < EVALSHA ask ..
         n1-3 > place 0 9000 1007 3990 someone
         = 3990 ahead of 1
         +1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000",
    );
}

#[test]
fn one_that_hears_no_quorum_keeps_its_place_for_as_long_as_it_lives() {
    let mut stage = is_far_back();
    stage.steps(
        "n1-3 > place 0 9000 1007 1407 someone
         = 1407 ahead of 1
         n1 breaks
         n2 breaks",
    );
    for _ in 0..17 {
        stage.steps("+1s \n = -");
    }
    stage.steps("+1s \n = 1 has left the queues");
}

#[test]
fn behind_a_try_the_place_is_short_and_the_next_look_soon() {
    is_far_back().play(&format!(
        "n1-3 > place 0 9000 1007 1407 someone
         = 1407 ahead of 1
         n3 > says @0000000000000000 next {ME} r
         n1-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000
         n1-2 > place 0 9000 1007 1407 someone
         n1-3 < EVAL leave ..
         n3 > place 0 9000 1007 1407 someone
         n1-3 > 0"
    ));
}

/// Too few to know the speed by: the ticket is stored behind the first look.
#[test]
fn two_looks_at_once_show_no_speed() {
    stands().play("next 1000ms");
    stands_behind(4_000).play("+1s \n n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000");
}
