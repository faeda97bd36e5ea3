//! A lost connection, and what is known of the commands on it.

use super::play;

#[test]
fn a_set_that_never_left_is_a_refusal_and_owes_nothing() {
    play(
        3,
        "n2 takes 0
         acquire 1 r
         n1,n3 < SET r #1 NX PX 10000
         n2 breaks
         n1 > nil
         n3 < EVAL release 1 r #1
         = contended 1 at 1 after 0ms: held | down (reset by peer) | not waited for
         debts 1",
    );
}

#[test]
fn a_set_with_one_byte_written_is_unknown_and_owes_a_rollback() {
    play(
        3,
        "n2 takes 1
         acquire 1 r
         n1,n3 < SET r #1 NX PX 10000
         n2 breaks
         = -
         n1 > nil
         n3 < EVAL release 1 r #1
         = contended 1 at 1 after 0ms: held | connection lost (reset by peer) | not waited for
         n3 > 0
         n3 > 0
         debts 1
         n2 takes all
         +50ms
         n2 greets
         n2 < CLIENT KILL ID 1
         n2 > 1
         n2 < EVAL release 1 r #1
         n2 > 0
         debts 0",
    );
}

#[test]
fn bytes_of_an_earlier_command_do_not_count_for_the_next() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 takes 0
         acquire 2 s
         n1 breaks
         = no quorum 1 at 1 after 0ms: connection lost (reset by peer)
         = no quorum 2 at 1 after 0ms: down (reset by peer)
         debts 1",
    );
}

#[test]
fn bytes_written_before_a_reconnect_do_not_count_after_it() {
    play(
        1,
        "n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1 takes 0
         acquire 1 r
         n1 breaks
         = no quorum 1 at 1 after 0ms: down (reset by peer)
         debts 0",
    );
}

#[test]
fn a_straggler_whose_set_never_left_is_not_asked_to_release() {
    play(
        3,
        "n3 takes 0
         acquire 1 r
         n1-2 < SET r #1 NX PX 10000
         n1-2 > ok
         = acquired 1 until 9898ms
         n3 breaks
         drop 1
         n1-2 < EVAL release 1 r #1
         debts 2",
    );
}

#[test]
fn grants_do_not_wait_for_a_lost_connection() {
    play(
        5,
        "acquire 1 r
         n1-5 < SET r #1 NX PX 10000
         n1-2 breaks
         = -
         n3-4 > ok
         = -
         n5 > ok
         = acquired 1 until 9898ms",
    );
}

#[test]
fn a_loss_by_lost_connections_is_reported_at_once() {
    play(
        3,
        "acquire 1 r
         n1-3 < SET r #1 NX PX 10000
         n1-2 breaks
         n3 < EVAL release 1 r #1
         = no quorum 1 at 1 after 0ms: connection lost (reset by peer) | \
           connection lost (reset by peer) | not waited for
         debts 3",
    );
}

#[test]
fn a_rollback_in_flight_on_a_lost_connection_is_sent_again() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > -LOADING
         = no quorum 1 ..
         n1 < EVAL release 1 r #1
         n1 breaks
         debts 1
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 0
         n1 < EVAL release 1 r #1
         n1 breaks
         +100ms
         n1 greets
         n1 < CLIENT KILL ID 2
         n1 > 0
         n1 < EVAL release 1 r #1
         n1 > 0
         debts 0",
    );
}
