//! How an acquire begins that is to wait in turn: with an attempt, or in the queue where others were seen.

use super::{called, stands};
use crate::coordinator::tests::Stage;

/// One is ahead of acquire 1, which gives up.
fn has_waited() -> Stage {
    let mut stage = stands();
    stage.steps(
        "cancel 1
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place ..
         n1-3 > 0",
    );
    stage
}

#[test]
fn one_that_expects_others_takes_its_place_at_once() {
    has_waited().play(
        "acquire 2 fair:r wait 60s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #3 '' 3000 4000
         n1-3 > place 2 900 2001 3
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #3 2001 3000 4000
         n1-3 > place 2 900 2001 3
         = 3 ahead of 2
         next 1000ms
         n3 > says @0000000000000000 next 00000000000000000000000000000003 r
         n1-3 < EVALSHA ask 3 r q:r a:r #4 10000 #3 2001 3000 4000
         n1-3 > ok
         n1-3 < EVAL leave 3 r q:r a:r #3 #3 place ..
         = acquired 2 ..",
    );
}

#[test]
fn one_that_has_won_after_others_expects_them_again() {
    called().play(
        "n1-3 > ok
         n1-3 < EVAL leave 3 r q:r a:r #2 #2 place ..
         = acquired 1 ..
         release 2 of 1
         n1-3 < EVAL leave 3 r q:r a:r #3 #2 hold ..
         acquire 3 fair:r wait 60s
         n1-3 < EVALSHA ask 3 r q:r a:r '' 10000 #4 '' 3000 4000",
    );
}

#[test]
fn where_none_was_ahead_an_attempt_is_made_first() {
    let mut stage = stands();
    stage.play(
        "+1s
         n1-3 < EVALSHA ask ..
         n1-3 > place 0 8000 1007 0 someone
         = 0 ahead of 1
         cancel 1
         n1-3 < EVAL leave ..
         acquire 2 fair:r wait 60s
         n1-3 < SET r #3 NX PX 10000",
    );
}

/// It might have no time for its turn, where the queue is empty and the key is free.
#[test]
fn one_that_waits_for_a_moment_makes_an_attempt_first() {
    has_waited().play("acquire 2 fair:r wait 1s \n n1-3 < SET r #3 NX PX 10000");
    has_waited().play("acquire 2 fair:r wait 1001ms \n n1-3 < EVALSHA ask ..");
    has_waited().play("acquire 2 fair:r \n n1-3 < SET r #3 NX PX 10000");
    has_waited().play("acquire 2 fair:other wait 60s \n n1-3 < SET other #3 NX PX 10000");
}

#[test]
fn where_it_can_have_no_place_an_attempt_is_made_at_once() {
    has_waited().play(
        "acquire 2 fair:r wait 60s
         n1-3 < EVALSHA ask ..
         n1-3 > -NOPERM no
         n1-3 < EVAL leave 3 r q:r a:r #3 #3 place ..
         n1-3 < SET r #4 NX PX 10000
         n1-3 > 0
         n1-3 > ok
         = acquired 2 ..
         release 3 of 2
         n1-3 < EVAL leave 3 r q:r a:r #4 '' hold ..
         n1-3 > 1
         = released 3
         acquire 4 fair:r wait 60s
         n1-3 < SET r #5 NX PX 10000",
    );
}
