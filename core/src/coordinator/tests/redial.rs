//! Redialling, and late answers on old connections.

use super::{open, play, play_from_the_start};

#[test]
fn redial_pauses_double_up_to_a_cap_and_restart_after_a_session() {
    let mut stage = open(1);
    stage.steps("n1 breaks");
    for pause in [50, 100, 200, 400, 800, 1600, 2000, 2000] {
        stage.steps(&format!("+{}.999999ms \n n1 < - \n +1ns \n n1 < DIAL", pause - 1));
        stage.steps("n1 unreachable");
    }
    // A session that answers nothing is not a session.
    stage.steps("+2s \n n1 greets \n n1 < CLIENT KILL ID 1 \n n1 > 1 \n no faults \n n1 breaks");
    stage.steps("+1999.999999ms \n n1 < - \n +1ns \n n1 greets \n n1 < CLIENT KILL ID 2 \n n1 > 1");
    stage.steps("acquire 1 r \n n1 < SET .. \n n1 > nil \n = contended 1 ..");
    stage.steps("n1 breaks");
    stage.play("+49.999999ms \n n1 < - \n +1ns \n n1 < DIAL");
}

#[test]
fn the_pause_before_a_redial_is_jittered_by_a_fifth_either_way() {
    for (jitter, pause) in [("least", "40ms"), ("most", "59.999999ms")] {
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
    stage.machine.handle_closed(now, 0, old, "old");
    stage.machine.handle_closed(now, 0, old, "old");
    stage.machine.handle_bytes(now, 0, old, b"+OK\r\n");
    stage.machine.handle_written(now, 0, old, 1);
    stage.steps("n1 < - \n fault n1 down reset by peer");

    stage.steps("n1 connects \n n1 < HELLO .. \n n1 asks");
    stage.steps("n1 > hello 2 \n n1 > server run1 \n n1 > master \n n1 > agreed");
    stage.steps("n1 < CLIENT KILL ID 1 \n n1 > 1 \n n1 takes 0 \n acquire 1 r");
    stage.machine.handle_bytes(now, 0, old, b"+OK\r\n");
    stage.machine.handle_closed(now, 0, old, "old");
    stage.machine.handle_written(now, 0, old, 1);
    stage.steps("= - \n no faults \n n1 breaks");
    stage.play("= no quorum 1 at 1 after 0ms: down (reset by peer) \n debts 0");
}

#[test]
fn input_from_a_connection_that_the_machine_closed_is_ignored() {
    let mut stage = open(1);
    stage.steps("n1 > ok \n n1 < CLOSE");
    let epoch = stage.wires[0].epoch;
    stage.machine.handle_closed(stage.now, 0, epoch, "late");
    stage.machine.handle_bytes(stage.now, 0, epoch, b"+OK\r\n");
    stage.machine.handle_written(stage.now, 0, epoch, 1);
    stage.play("fault n1 down the server answered .. \n +50ms \n n1 < DIAL");
}

#[test]
fn a_master_that_was_never_there_is_dialled_for_ever() {
    play_from_the_start(
        1,
        "n1 < DIAL
         n1 unreachable
         = connected
         fault n1 down connection refused
         acquire 1 r
         = no quorum 1 at 1 after 0ms: down (connection refused)
         +50ms
         n1 greets
         no faults",
    );
}

#[test]
fn a_shutdown_dials_at_once_only_masters_with_debts() {
    play(
        3,
        "acquire 1 r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         n2 breaks
         n3 breaks
         +50ms
         n2-3 < DIAL
         n2 unreachable
         n3 unreachable
         drop 1
         n1 < EVAL ..
         n1 > 1
         n2 restarts
         +100ms
         n3 < DIAL
         n2 opens
         n2 < EVAL ..
         n2 > 0
         n2 breaks
         n3 unreachable
         debts 1
         shutdown
         n1 < EVAL withdraw 1 quorumlock:agreement 0 10102 n1 n2 n3
         n1 > 1
         +0ms
         n2 < -
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n3 < EVAL release ..
         n3 < EVAL withdraw 1 quorumlock:agreement 0 10102 n1 n2 n3
         n3 > 1
         n1 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2 n3
         n3 < EVAL withdraw 1 quorumlock:agreement 0 0 n1 n2 n3
         debts 0",
    );
}
