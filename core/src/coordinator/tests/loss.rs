//! The end of a hold: exactly at its deadline, and final.

use super::{open, play};

const HELD: &str = "acquire 1 r ttl 1s
                    n1-3 < SET r #1 NX PX 1000
                    n1-3 > ok
                    = acquired 1 until 988ms
                    ";

fn held(script: &str) {
    play(3, &format!("{HELD}{script}"));
}

#[test]
fn a_hold_lapses_at_its_deadline_exactly() {
    held(
        "next 988ms
         +987.999999ms
         = -
         next 988ms
         +1ns
         = lost 1: lapsed
         +5s
         = -",
    );
}

#[test]
fn a_lapse_deletes_nothing_until_the_guard_goes() {
    held(
        "+988ms
         = lost 1: lapsed
         n1-3 < -
         drop 1
         n1-3 < EVAL release 1 r #1",
    );
}

#[test]
fn an_extension_confirmed_at_the_deadline_comes_too_late() {
    held(
        "+900ms
         extend 2 of 1
         n1-3 < EVALSHA ..
         n1 > 1
         +87.999999ms
         = -
         +1ns
         = lost 1: lapsed
         n2 > 1
         = extend 2 lost
         n3 > 1
         = -",
    );
}

#[test]
fn a_nanosecond_before_the_deadline_is_in_time() {
    held(
        "+900ms
         extend 2 of 1
         n1-3 < EVALSHA ..
         n1 > 1
         +87.999999ms
         n2 > 1
         = extended 2 until 1888ms",
    );
}

#[test]
fn an_answer_at_the_deadline_ends_the_hold_before_the_timer() {
    let mut stage = open(3);
    stage.steps(HELD);
    stage.steps("+900ms \n extend 2 of 1 \n n1-3 < EVALSHA .. \n n1 > 1 \n +87ms");
    // The driver has read the answer and not yet looked at its timers.
    stage.now = stage.now.after(std::time::Duration::from_millis(1));
    stage.play("n2 > 1 \n = lost 1: lapsed \n = extend 2 lost \n n3 > 1 \n = -");
}

#[test]
fn an_extension_begun_at_the_deadline_is_lost_and_asks_no_master() {
    let mut stage = open(3);
    stage.steps(HELD);
    stage.steps("+987ms");
    stage.now = stage.now.after(std::time::Duration::from_millis(1));
    stage.play("extend 2 of 1 \n = lost 1: lapsed \n = extend 2 lost \n n1-3 < -");
}

#[test]
fn an_extension_after_a_loss_learns_why() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 0
         = lost 1: quorum gone: no key there | no key there | not waited for
         = extend 2 lost
         extend 3 of 1
         = extend 3 lost
         n1-3 < -
         n3 > 1
         = -",
    );
}

#[test]
fn two_extensions_in_flight_both_fail_and_the_hold_is_lost_once() {
    held(
        "extend 2 of 1
         extend 3 of 1
         n1-3 < EVALSHA ..
         n1-3 < EVALSHA ..
         n1-2 > 0
         = lost 1: quorum gone: ..
         = extend 2 lost
         n1 > 0
         = extend 3 lost
         n2 > 0
         n3 > 1
         n3 > 1
         = -",
    );
}

#[test]
fn a_guard_that_saw_its_deadline_pass_is_believed() {
    held(
        "extend 2 of 1
         n1-3 < EVALSHA ..
         lapsed 1
         = lost 1: lapsed
         n1-2 > 1
         = extend 2 lost
         n3 > 1
         lapsed 1
         = -
         +5s
         = -",
    );
}

#[test]
fn a_lapsed_hold_does_not_wake_the_machine_again() {
    let mut stage = open(3);
    stage.steps(HELD);
    stage.play("+500ms \n lapsed 1 \n = lost 1: lapsed \n next 10000ms");
}

#[test]
fn each_hold_has_its_own_deadline() {
    held(
        "+100ms
         acquire 2 s ttl 1s
         n1-3 < SET s #2 NX PX 1000
         n1-3 > ok
         = acquired 2 until 1088ms
         extend 3 of 1
         n1-3 < EVALSHA extend 1 r #1 1000
         n1-3 > 1
         = extended 3 until 1088ms
         +988ms
         = lost 1: lapsed
         = lost 2: lapsed",
    );
}
