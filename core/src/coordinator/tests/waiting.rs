//! Waiting for the lock: the last attempt, the end of the wait, and the events that wake it early.

use super::{open, play};

#[test]
fn the_last_attempt_is_at_the_end_of_the_wait() {
    play(
        1,
        "jitter most
             acquire 1 r wait 7ms
             n1 < SET r #1 NX PX 10000
             n1 > nil
             +5ms
             n1 < EVAL look 1 r
             n1 < SET r #2 NX PX 10000
             n1 > 1400
             n1 > nil
             next 7ms
             +2ms
             n1 < EVAL look 1 r
             n1 < SET r #3 NX PX 10000
             n1 > 1398
             = -
             +1ms
             n1 > nil
             = contended 1 at 3 after 8ms: held, expires in 1.3 s",
    );
}

#[test]
fn a_wait_of_zero_makes_one_attempt_and_a_wait_for_ever_goes_on() {
    play(1, "acquire 1 r wait 0s \n n1 < SET .. \n n1 > nil \n = contended 1 ..");
    let mut stage = open(1);
    stage.steps("jitter least \n acquire 1 r wait forever \n n1 < SET .. \n n1 > nil");
    for _ in 0..50 {
        stage.steps("+0ms \n n1 < EVAL look 1 r \n n1 < SET .. \n n1 > -1 \n n1 > nil");
        stage.steps("= -");
    }
}

#[test]
fn a_waiter_without_a_quorum_retries_as_soon_as_a_session_opens() {
    play(
        3,
        "n2-3 breaks
         jitter most
         acquire 1 r wait 10s
         acquire 2 s wait 10s
         n1 < -
         +20ms                          // attempts that send nothing
         n1 < -
         +30ms
         n2-3 < DIAL
         n2 connects
         n2 < HELLO ..
         n2 asks
         n2 > hello 2
         n2 > server run2
         n2 > master
         n2 > agreed
         n2 < CLIENT KILL ID 1
         n1-2 < -
         n2 > 1
         n1-2 < EVAL look 1 r
         n1-2 < SET r #1 NX PX 10000
         n1-2 < EVAL look 1 s
         n1-2 < SET s #2 NX PX 10000
         n1-2 > -2
         = -
         n1-2 > ok
         = acquired 1 until 9948ms
         n1-2 > 9000
         n1-2 > nil
         n2 < EVAL release 1 s #2",
    );
}

#[test]
fn a_waiter_behind_another_holder_is_not_woken_by_a_session() {
    play(
        3,
        "n3 breaks
         +40ms
         acquire 1 r wait 10s
         n1-2 < SET ..
         jitter most
         n1-2 > nil
         n2 < EVAL ..
         n2 > 0
         +5ms
         n1-2 < EVAL look ..
         n1-2 < SET ..
         n1-2 > -1
         n1-2 > nil
         n2 < EVAL ..
         n3 < -
         +5ms                           // n3 is dialled; the pause lasts until 55ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n1-3 < -
         +5ms
         n1-3 < EVAL look ..
         n1-3 < SET ..",
    );
}

#[test]
fn no_attempt_begins_long_after_the_wait_is_over() {
    play(
        1,
        "jitter most
         acquire 1 r wait 7ms
         n1 < SET ..
         n1 > nil
         ~3600s                         // stopped, and continued
         +0ms
         = contended 1 at 1 after 3600000ms: held
         n1 beats",
    );
}

#[test]
fn a_waiter_tries_nothing_while_too_few_masters_are_connected() {
    play(
        3,
        "n1 breaks
         n2 breaks
         acquire 1 r wait 30ms
         = -
         +29.999999ms
         = -
         +1ns
         = no quorum 1 at 2 after 30ms: down (reset by peer) | down (reset by peer) | not ..
         n3 < -",
    );
}

#[test]
fn a_refused_waiter_that_lost_its_quorum_is_woken_by_a_new_one() {
    play(
        3,
        "acquire 1 r wait forever
         n1-3 < SET ..
         n1 > nil
         n1 breaks
         n3 breaks
         n2 < EVAL ..
         n2 > nil
         n2 > 0
         = -
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1-2 < EVAL look 1 r
         n1-2 < SET r #2 NX PX 10000
         n1-2 > -2
         n1-2 > ok
         = acquired 1 ..
         n3 < DIAL",
    );
}
