//! The barrier that keeps a round from beginning: confirmations that are too old, and clients of
//! other lists.

use super::{open, play};
use std::time::Duration;

#[test]
fn after_a_stop_a_client_asks_every_master_before_it_acquires() {
    play(
        3,
        "~60s
         acquire 1 r
         n1-3 < EVAL agree ..
         n1 > confirmed
         n2 > confirmed
         n1-3 < -
         n3 > confirmed
         n1-3 < SET r #1 NX PX 10000
         n1-2 > ok
         = acquired 1 until 69898ms",
    );
}

#[test]
fn a_confirmation_counts_for_15_seconds_from_its_question() {
    play(
        1,
        "+10s
         n1 beats
         n1 > server run1
         n1 > master
         n1 > memory
         ~200ms
         n1 > confirmed            // asked at 10 s
         ~14.8s                    // the next heartbeat is late
         acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > nil
         = contended 1 ..
         ~1ns
         acquire 2 r
         n1 < EVAL agree ..
         n1 > confirmed
         n1 < SET r #2 NX PX 10000
         n1 > ok
         = acquired 2 ..",
    );
}

#[test]
fn an_answer_from_before_the_stop_confirms_nothing() {
    play(
        1,
        "+10s
         n1 beats
         ~60s
         n1 > server run1
         n1 > master
         n1 > memory
         n1 > confirmed
         acquire 1 r
         n1 < EVAL agree ..
         n1 > confirmed
         n1 < SET r #1 NX PX 10000
         n1 > ok
         = acquired 1 ..",
    );
}

#[test]
fn a_silent_master_is_waited_for_as_long_as_a_round_waits() {
    play(
        3,
        "~60s
         acquire 1 r
         n1-3 < EVAL agree ..
         n1-2 > confirmed
         +199.999999ms
         n1-3 beats                // which were due
         n1-2 < -
         +1ns
         n1-2 < SET r #1 NX PX 10000
         n3 < -
         n1 > server run1
         n2 > server run2
         n1-2 > known
         n1-2 > ok
         = acquired 1 ..
         n3 breaks",
    );
}

#[test]
fn after_a_second_stop_answers_are_read_before_masters_time_out() {
    let mut stage = open(5);
    stage.play(
        "~60s
         acquire 1 r
         n1-5 < EVAL agree ..
         n1-2,n5 > confirmed
         ~5s                       // what n3 and n4 have said waits in their sockets
         acquire 2 s
         n1-5 < -
         n3 > disagrees 39000 lists n1 n2 n3 n4 n9
         n4 > disagrees 39000 lists n1 n2 n3 n4 n9
         = disagreement 1 ..
         = disagreement 2 ..
         n1-5 < -",
    );
}

#[test]
fn each_round_waits_for_an_answer_of_its_own_time() {
    let mut stage = open(1);
    stage.steps(
        "~60s
         acquire 1 r
         n1 < EVAL agree ..
         ~16s                      // the answer to the first waits in the socket
         acquire 2 s
         n1 < -
         n1 > confirmed            // 16 s old: the first round need not wait for more
         n1 < EVAL agree ..
         = no quorum 1 at 1 after 16000ms: ..
         n1 < -",
    );
    let timeout = stage.machine.masters().opens_at().expect("a round is held up").since(stage.now);
    assert_eq!(timeout, Duration::from_millis(200), "counted from the second question");
    stage.steps(
        "n1 > confirmed
         n1 < SET s #1 NX PX 10000
         n1 > ok
         = acquired 2 ..",
    );
}

#[test]
fn a_master_that_is_gone_is_not_waited_for() {
    play(
        3,
        "~60s
         acquire 1 r
         n1-3 < EVAL agree ..
         n1-2 > confirmed
         n3 breaks
         n1-2 < -                  // it may be back at once
         +60ms
         n3 < DIAL
         n1-2 beats
         n1 > server run1
         n2 > server run2
         n1-2 > known
         n3 unreachable
         n1-2 < SET r #1 NX PX 10000
         n1-2 > ok
         = acquired 1 ..",
    );
}

/// The connections to the masters that know better may be gone while the machine was asleep.
#[test]
fn after_a_stop_a_lost_connection_is_awaited_until_it_answers() {
    play(
        5,
        "~60s
         acquire 1 r
         n1-5 < EVAL agree ..
         n3-4 breaks
         n1-2,n5 > confirmed
         n1-2,n5 < -
         +60ms
         n3-4 < DIAL
         n1-2,n5 beats
         n3-4 connects
         n3-4 < HELLO ..
         n3-4 asks
         n3 > hello 13
         n4 > hello 14
         n3 > server run3
         n4 > server run4
         n3-4 > master
         n3-4 > memory
         n3-4 > text c0ffee
         n3-4 > text c0ffee
         n1-2,n5 < -
         n3-4 > disagrees 39000 lists n3 n4 n9
         n3-4 < CLIENT KILL ..
         n1-2,n5 < -
         n3-4 > 1
         = disagreement 1 at 1 ..",
    );
}

/// The client was stopped before it could dial again: the time of the stop is none that the master had to answer.
#[test]
fn a_connection_that_was_lost_before_a_stop_is_awaited_after_it() {
    play(
        3,
        "n2 breaks
         ~19s
         acquire 1 r
         n1,n3 < EVAL agree ..
         n1,n3 > confirmed
         n1,n3 < -                 // the third may know better
         +1ms
         n2 < DIAL
         n1,n3 beats
         n1 > server run1
         n3 > server run3
         n1,n3 > known
         n2 connects
         n2 < HELLO ..
         n2 asks
         n2 > hello 12
         n2 > server run2
         n2 > master
         n2 > memory
         n2 > text c0ffee
         n2 > text c0ffee
         n2 > disagrees 39000 lists n2 n8 n9
         n2 < CLIENT KILL ..
         n2 > 1
         = disagreement 1 at 1 ..",
    );
}

/// So is one that did not answer a dial before the stop.
#[test]
fn a_master_that_was_gone_before_a_stop_is_awaited_after_it() {
    play(
        3,
        "n2 breaks
         +60ms
         n2 < DIAL
         n2 unreachable
         ~19s
         acquire 1 r
         n1,n3 < EVAL agree ..
         n1,n3 > confirmed
         n1,n3 < -
         +1ms
         n2 < DIAL
         n1,n3 beats
         n1 > server run1
         n3 > server run3
         n1,n3 > known
         n1,n3 < -
         n2 unreachable
         n1,n3 < SET r #1 NX PX 10000",
    );
}

#[test]
fn a_lost_connection_is_waited_for_one_operation_timeout() {
    play(
        3,
        "~60s
         acquire 1 r
         n1-3 < EVAL agree ..
         n1-2 > confirmed
         n3 breaks
         +60ms
         n3 < DIAL                 // which hangs
         n1-2 beats
         n1 > server run1
         n2 > server run2
         n1-2 > known
         +130ms
         n1-2 < -
         +20ms
         n1-2 < SET r #1 NX PX 10000
         n1-2 > ok
         = acquired 1 ..",
    );
}

/// The master has used up its time before the second round is asked for.
#[test]
fn a_hanging_master_is_waited_for_one_operation_timeout_in_all() {
    play(
        3,
        "~60s
         acquire 1 r
         n1-3 < EVAL agree ..
         n1-2 > confirmed
         +200ms
         n1-3 beats
         n1-2 < SET r #1 NX PX 10000
         acquire 2 q
         n1-2 < -
         +1ms
         n1-2 < SET q #2 NX PX 10000
         n3 < -",
    );
}

#[test]
fn masters_that_do_not_confirm_leave_no_quorum() {
    play(
        3,
        "~60s
         acquire 1 r
         n1-3 < EVAL agree ..
         n1 > confirmed
         +200ms
         n1-3 beats
         = no quorum 1 at 1 after 200ms: not waited for | has not confirmed the settings of this client lately ..
         n2-3 breaks",
    );
}

#[test]
fn what_is_cancelled_at_the_barrier_sends_nothing() {
    play(
        3,
        "~60s
         acquire 1 r
         n1-3 < EVAL agree ..
         cancel 1
         n1-3 > confirmed
         n1-3 < -
         = -",
    );
}

#[test]
fn an_extension_after_a_stop_asks_first_and_the_hold_lives_on() {
    play(
        3,
        "+9s
         acquire 1 r ttl 30s
         n1-3 < SET r #1 NX PX 30000
         n1-3 > ok
         = acquired 1 until 38698ms
         ~16s
         extend 2 of 1
         n1-3 < EVAL agree ..
         n1-3 > confirmed
         n1-3 < EVALSHA extend 1 r #1 30000
         n1-3 > 1
         = extended 2 until 54698ms",
    );
}

#[test]
fn a_hold_that_ends_at_the_barrier_is_lost_and_not_extended() {
    play(
        3,
        "acquire 1 r
         n1-3 < SET r #1 NX PX 10000
         n1-3 > ok
         = acquired 1 until 9898ms
         ~16s
         extend 2 of 1
         = lost 1: lapsed
         = extend 2 lost
         n1-3 < -",
    );
}

#[test]
fn an_error_confirms_nothing_and_is_asked_again_soon() {
    play(
        1,
        "+10s
         n1 beats
         n1 > server run1
         n1 > master
         n1 > memory
         n1 > -NOREPLICAS Not enough good replicas to write.
         no faults
         acquire 1 r                // what was asked at 0 s still counts
         n1 < SET ..
         n1 > nil
         = contended 1 ..
         next 12000ms
         +2s
         n1 beats
         n1 > server run1
         n1 > master
         n1 > memory
         n1 > -OOM command not allowed when used memory > 'maxmemory'.
         ~3.000000001s
         acquire 2 r
         = no quorum 2 at 1 after 0ms: has not confirmed the settings of this client lately",
    );
}
