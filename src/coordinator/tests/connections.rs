//! A connection is lost: what is known of the commands on it, and when the next one is dialled.

use super::{open, play, play_from_the_start};

#[test]
fn a_set_that_never_left_is_a_refusal_and_owes_nothing() {
    play(
        3,
        "n2 takes 0
         acquire 1 r
         n1,n3 < SET r #1 NX PX 10000
         n2 breaks
         n1 > nil
         n1,n3 < EVAL release 1 r #1
         = contended 1 at 1 after 0ms: held | down (reset by peer) | not waited for
         debts 2",
    );
}

#[test]
fn a_set_of_which_one_byte_was_written_is_unknown_and_its_rollback_is_owed() {
    play(
        3,
        "n2 takes 1
         acquire 1 r
         n1,n3 < SET r #1 NX PX 10000
         n2 breaks
         = -
         n1 > nil
         n1,n3 < EVAL release 1 r #1
         = contended 1 at 1 after 0ms: held | connection lost (reset by peer) | not waited for
         n1,n3 > 0
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
fn the_bytes_of_an_earlier_command_do_not_count_for_the_next_one() {
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
fn a_loss_by_lost_connections_is_told_at_once() {
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
fn a_rollback_on_its_way_when_the_connection_is_lost_is_sent_again() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > nil
         n1 < EVAL release 1 r #1
         = contended 1 ..
         n1 breaks
         debts 1
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 0
         n1 < EVAL release 1 r #1
         n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 2
         n1 > 0
         n1 < EVAL release 1 r #1
         n1 > 0
         debts 0",
    );
}

#[test]
fn the_pause_before_a_redial_doubles_up_to_its_cap_and_starts_over_after_a_session() {
    let mut stage = open(1);
    stage.steps("n1 breaks");
    for pause in [50, 100, 200, 400, 800, 1600, 2000, 2000] {
        stage.steps(&format!("+{}.999999ms \n n1 < - \n +1ns \n n1 < DIAL", pause - 1));
        stage.steps("n1 unreachable");
    }
    stage.steps("+2s \n n1 greets \n n1 < CLIENT KILL ID 1 \n n1 > 1 \n no faults \n n1 breaks");
    stage.play("+49.999999ms \n n1 < - \n +1ns \n n1 < DIAL");
}

#[test]
fn the_pause_before_a_redial_is_jittered_by_a_fifth_either_way() {
    for (jitter, pause) in [("0", "40ms"), ("18446744073709551615", "59.999999ms")] {
        play(
            1,
            &format!(
                "jitter {jitter}
                 n1 breaks
                 +{pause}
                 n1 < DIAL"
            ),
        );
    }
}

#[test]
fn what_comes_from_an_older_connection_is_ignored() {
    let mut stage = open(1);
    let old = stage.wires[0].epoch;
    stage.steps("n1 breaks \n +50ms \n n1 < DIAL");
    let now = stage.now;
    stage.machine.handle_connected(now, 0, old);
    stage.machine.handle_dial_failed(now, 0, old, "old");
    stage.machine.handle_closed(now, 0, old, "old");
    stage.machine.handle_bytes(now, 0, old, b"+OK\r\n");
    stage.machine.handle_written(0, old, 1);
    stage.steps("n1 < - \n fault n1 down reset by peer");

    stage.steps("n1 connects \n n1 < HELLO .. \n n1 < INFO .. \n n1 < INFO .. \n n1 < SCRIPT ..");
    stage.steps("n1 > hello 2 \n n1 > server run1 \n n1 > master \n n1 > text c0ffee");
    stage.steps("n1 < CLIENT KILL ID 1 \n n1 > 1 \n n1 takes 0 \n acquire 1 r");
    stage.machine.handle_bytes(now, 0, old, b"+OK\r\n");
    stage.machine.handle_closed(now, 0, old, "old");
    stage.machine.handle_written(0, old, 1);
    stage.steps("= - \n no faults \n n1 breaks");
    stage.play("= no quorum 1 at 1 after 0ms: down (reset by peer) \n debts 0");
}

#[test]
fn what_comes_from_a_connection_that_the_machine_has_closed_is_ignored() {
    let mut stage = open(1);
    stage.steps("n1 > ok \n n1 < CLOSE");
    let epoch = stage.wires[0].epoch;
    stage.machine.handle_closed(stage.now, 0, epoch, "late");
    stage.machine.handle_bytes(stage.now, 0, epoch, b"+OK\r\n");
    stage.machine.handle_written(0, epoch, 1);
    stage.play("fault n1 down the server answered .. \n +50ms \n n1 < DIAL");
}

#[test]
fn a_master_that_was_never_there_is_dialled_for_ever() {
    play_from_the_start(
        1,
        "n1 < DIAL
         n1 unreachable
         = settled
         fault n1 down connection refused
         acquire 1 r
         = no quorum 1 at 1 after 0ms: down (connection refused)
         +50ms
         n1 greets
         no faults",
    );
}
