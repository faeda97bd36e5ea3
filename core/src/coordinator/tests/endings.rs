//! A guard that goes away while something is in flight, or that leaves the key behind.

use super::{open, play};

const HELD: &str = "acquire 1 r
                    n1-5 < SET r #1 NX PX 10000
                    n1-5 > ok
                    = acquired 1 until 9898ms
                    ";

fn held(script: &str) {
    play(5, &format!("{HELD}{script}"));
}

#[test]
fn a_release_ends_an_extension_and_late_answers_revive_nothing() {
    let mut stage = open(5);
    stage.steps(HELD);
    stage.steps(
        "extend 2 of 1
         n1-5 < EVALSHA ..
         n1-2 > 1
         release 3 of 1
         n1-5 < EVAL release 1 r #1
         n3 > 1
         = extend 2 lost
         n4-5 > 0
         n1-5 > 1
         = released 3
         = -
         n1-5 < -
         extend 4 of 1
         = extend 4 lost
         n1-5 < -",
    );
    assert_eq!(stage.left(), super::stage::NOTHING_LEFT);
    stage.play("+9.999s \n = -");
}

#[test]
fn an_extension_in_flight_at_the_release_ends_by_its_timeout() {
    held(
        "extend 2 of 1
         n1-5 < EVALSHA ..
         drop 1
         n1-5 < EVAL ..
         = -
         +200ms
         = extend 2 lost",
    );
}

#[test]
fn a_dropped_guard_releases_without_an_event() {
    held("drop 1 \n n1-5 < EVAL release 1 r #1 \n n1-5 > 1 \n = - \n debts 0 \n +9.9s \n = -");
}

#[test]
fn what_is_left_stays_until_it_expires() {
    let mut stage = open(5);
    stage.steps(HELD);
    stage.steps("forget 1 \n n1-5 < - \n debts 0");
    assert_eq!(stage.left(), super::stage::NOTHING_LEFT);
    stage.play("+9.999s \n = - \n extend 2 of 1 \n = extend 2 lost \n drop 1 \n n1-5 < -");
}

#[test]
fn a_release_before_the_last_grants_goes_behind_every_set() {
    play(
        5,
        "n5 takes 0
         acquire 1 r
         n1-4 < SET ..
         n1-3 > ok
         = acquired 1 ..
         release 2 of 1
         n1-4 < EVAL ..
         n5 takes all
         n5 < SET r #1 NX PX 10000
         n5 < EVAL release 1 r #1
         n1-3 > 1
         = released 2
         n4-5 > ok
         n4-5 > 1
         debts 0",
    );
}
