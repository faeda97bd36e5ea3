//! Acquires that wait in turn: what they send, when they try, and what they leave.

mod begins;
mod calls;
mod ends;
mod pace;

use super::{Stage, greets, play, telling};

/// The name of the waiter whose token is `#2`.
const ME: &str = "00000000000000000000000000000002";

/// Another client holds `r`, and acquire 1 waits in turn: it has taken its first look.
const JOINS: &str = "jitter most
     acquire 1 fair:r wait 60s
     n1-3 < SET r #1 NX PX 10000
     n1-3 > nil
     n3 < EVAL leave 3 r q:r a:r #1 '' try 3000 4000 ''
     n3 < SUBSCRIBE quorumlock:free:0:@0000000000000000
     n1-3 < SCRIPT LOAD ask
     n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 '' 3000 4000
     n3 > 0
     n3 > subscribed @0000000000000000
     n1-3 > text c0ffee\n";

/// Then: it has the ticket 1007 everywhere, and `n1` and
/// `n2` say that one is ahead. `n3` tells when `r` is free.
const STANDS: &str = "n1 > place 0 9000 1003 1 someone
     n2 > place 0 9000 1007 1 someone
     n3 > place 0 9000 1009 0 someone
     n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
     n1-2 > place 0 9000 1007 1 someone
     n3 > place 0 9000 1007 0 someone
     = 1 ahead of 1\n";

/// It looks for the first time.
fn joins() -> Stage {
    let mut stage = telling();
    stage.steps(JOINS);
    stage
}

/// It stands.
fn stands() -> Stage {
    let mut stage = joins();
    stage.steps(STANDS);
    stage
}

/// The same, and it looks once more.
fn looks() -> Stage {
    let mut stage = stands();
    stage.steps("+1s \n n1-3 < EVALSHA ask ..");
    stage
}

/// It stands, and is first at a quorum, where the holder has 200 ms left.
fn first() -> Stage {
    let mut stage = stands();
    stage.steps(
        "+1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
         n1-3 > place 0 200 1007 0 someone
         = 0 ahead of 1",
    );
    stage
}

/// It stands, and a message calls it: it tries.
fn called() -> Stage {
    let mut stage = stands();
    stage.steps(&format!(
        "n3 > says @0000000000000000 next {ME} r
         n1-3 < EVALSHA ask 3 r q:r a:r #3 10000 #2 1007 3000 4000"
    ));
    stage
}

#[test]
fn one_without_others_is_an_ordinary_acquire_with_a_release_of_its_own() {
    telling().play(
        "acquire 1 fair:r wait 60s
         n1-3 < SET r #1 NX PX 10000
         n1-3 > ok
         = acquired 1 until 9898ms
         release 2 of 1
         n1-2 < EVAL leave 3 r q:r a:r #1 '' hold 3000 4000 ''
         n3 < EVAL leave 3 r q:r a:r #1 '' hold 3000 4000 quorumlock:free:0:
         n1-3 > 1
         = released 2",
    );
}

#[test]
fn one_that_does_not_wait_takes_no_place() {
    play(
        3,
        "acquire 1 fair:r
         n1-3 < SET r #1 NX PX 10000
         n1-3 > nil
         = contended 1 ..
         n3 < EVAL leave 3 r q:r a:r #1 '' try 3000 4000 ''",
    );
}

#[test]
fn one_that_is_refused_takes_a_ticket_and_stores_it_everywhere() {
    stands().play("next 1000ms \n n1-3 < -");
}

#[test]
fn it_looks_once_a_second() {
    stands().play(
        "+999ms
         n1-3 < -
         +1ms
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
         n1-2 > place 0 8000 1007 1 someone
         +200ms                         // n3 does not answer
         next 1600ms",
    );
}

/// The queue was emptied, and its clock is ahead: what a master stamps later is no other ticket.
#[test]
fn a_ticket_is_taken_once() {
    looks().play(
        "n1-3 > place 0 8000 2009 1 someone
         +1s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000
         n1-3 > place 0 8000 1007 1 someone",
    );
}

#[test]
fn one_that_others_are_before_looks_again() {
    looks().play(
        "n1-3 > place 2 900 1007 1
         next 2000ms
         n1-3 < -",
    );
}

#[test]
fn a_master_that_was_away_gets_the_ticket_as_it_is() {
    let mut stage = stands();
    stage.steps(
        "n3 breaks
         n2 < SUBSCRIBE quorumlock:free:0:@0000000000000000
         n2 > subscribed @0000000000000000
         n1-2 < EVALSHA ask ..          // it may have missed a message
         n1-2 > place 0 9000 1007 1 someone
         +100ms",
    );
    stage.steps(&greets(3, "hello 9", "other"));
    stage.play(
        "n3 < SUBSCRIBE quorumlock:free:0:@0000000000000000
         n3 > subscribed @0000000000000000
         n1-2 < EVALSHA ask ..
         n3 < SCRIPT LOAD ask
         n3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000",
    );
}

#[test]
fn a_forgotten_script_costs_a_look_and_not_the_place() {
    looks().play(
        "n1-3 > -NOSCRIPT No matching script.
         n1-3 < SCRIPT LOAD ask
         n1-3 < SCRIPT LOAD ask
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #2 1007 3000 4000",
    );
}

#[test]
fn a_script_that_is_forgotten_again_costs_a_look_again() {
    let mut stage = stands();
    for _ in 0..2 {
        stage.steps(
            "+1s
             n1-3 < EVALSHA ask ..
             n1-3 > -NOSCRIPT No matching script.
             n1-3 < SCRIPT LOAD ask
             n1-3 < SCRIPT LOAD ask
             n1-3 < EVALSHA ask ..
             n1-3 > text c0ffee
             n1-3 > text c0ffee
             n1-2 > place 0 9000 1007 1 someone
             n3 > place 0 9000 1007 1 someone",
        );
    }
}

/// The masters' clocks are set forward by 4 s while it waits: what they showed before is no clock.
#[test]
fn a_fenced_one_whose_ballot_is_behind_tries_again_with_the_clocks_of_that_try() {
    let mut stage = telling();
    stage.steps(
        "wall 5000000
         acquire 1 fair:r fenced wait 60s
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 ..
         n1-3 > refuses 0 9000 0 5000000
         n1-3 < EVAL leave 4 r q:r a:r fence:r #1 '' try 3000 4000 '' 5000001 ..
         n3 < SUBSCRIBE ..
         n1-3 < SCRIPT LOAD ask
         n1-3 < EVALSHA ask ..
         n1-3 > 0
         n3 > subscribed @0000000000000000
         n1-3 > text c0ffee
         n1-3 > place 0 9000 1007 0 someone
         n1-3 < EVALSHA ask ..
         n1-3 > place 0 9000 1007 0 someone
         = 0 ahead of 1",
    );
    stage.play(&format!(
        "n3 > says @0000000000000000 next {ME} r
         n1-3 < EVALSHA ask 4 r q:r a:r fence:r #3 10000 #2 1007 3000 4000 5000004 ..
         n1-3 > refuses -2 0 0 9000000
         n1-3 < EVAL leave ..
         n1-3 < EVALSHA ask 4 r q:r a:r fence:r #4 10000 #2 1007 3000 4000 9000001 .."
    ));
}

#[test]
fn a_fenced_one_asks_with_a_ballot() {
    let mut stage = telling();
    stage.play(
        "wall 5000000
         acquire 1 fair:r fenced wait 60s
         n1-3 < EVALSHA acquire 2 r fence:r #1 10000 0 ..
         n1-3 > refuses 0 9000 0 5000000
         n1-3 < EVAL leave 4 r q:r a:r fence:r #1 '' try 3000 4000 '' 5000001 ..
         n3 < SUBSCRIBE ..
         n1-3 < SCRIPT LOAD ask
         n1-3 < EVALSHA ask 4 r q:r a:r fence:r '' 10000 #2 '' 3000 4000 5000002 2000000 2000000 31302",
    );
}
