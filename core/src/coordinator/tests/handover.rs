//! The hand-over from one connection to the next, which keeps a late SET from arriving after its
//! rollback.

use super::{play, play_from_the_start};

#[test]
fn a_handover_kills_the_predecessor_then_pays_debts_then_votes() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 breaks
         = no quorum 1 ..
         +50ms
         acquire 2 s wait 10s
         n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 2
         n1 > server run1
         n1 > master
         n1 < -
         n1 > agreed
         n1 < CLIENT KILL ID 1
         n1 < -                         // neither the rollback nor the next SET
         n1 > 1
         n1 < EVAL release 1 r #1
         n1 < EVAL look 1 s
         n1 < SET s #2 NX PX 10000
         n1 < -",
    );
}

#[test]
fn no_client_is_killed_on_a_server_that_has_restarted() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 restarts
         = no quorum 1 ..
         +50ms
         n1 opens
         n1 < EVAL release 1 r #1
         n1 > 0
         debts 0",
    );
}

#[test]
fn a_predecessor_that_is_gone_already_is_dead() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 breaks
         = no quorum 1 ..
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 0
         n1 < EVAL release 1 r #1
         n1 > 0
         debts 0
         no faults",
    );
}

#[test]
fn handshakes_that_come_to_nothing_keep_the_predecessor() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 breaks
         = no quorum 1 ..
         +50ms
         n1 < DIAL
         n1 unreachable
         +100ms
         n1 < DIAL
         n1 connects                    // client 2, which never hears anything
         n1 < HELLO ..
         n1 asks
         +500ms
         n1 < CLOSE
         +200ms
         n1 greets                      // client 3 is lost while it kills
         n1 < CLIENT KILL ID 1
         n1 breaks
         debts 1
         +400ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 < -
         n1 > 1
         n1 < EVAL release 1 r #1
         n1 > 1
         debts 0
         n1 breaks                      // client 4 was open: it is the predecessor now
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 4
         n1 > 1
         no faults",
    );
}

#[test]
fn a_kill_that_fails_for_another_reason_is_tried_again() {
    play(
        1,
        "n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > -ERR syntax error
         n1 < CLOSE
         fault n1 down ERR syntax error
         +100ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         no faults",
    );
}

#[test]
fn a_debt_made_during_a_handshake_waits_for_the_kill_too() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > ok
         = acquired 1 ..
         n1 breaks
         +50ms
         n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         drop 1
         n1 < -
         n1 > hello 2
         n1 > server run1
         n1 > master
         n1 > agreed
         n1 < CLIENT KILL ID 1
         n1 < -
         n1 > 1
         n1 < EVAL release 1 r #1",
    );
}

#[test]
fn a_connection_that_never_opened_is_no_predecessor() {
    play_from_the_start(
        1,
        "n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 1
         n1 > server run1
         n1 breaks
         = connected
         +50ms
         n1 opens
         n1 < -",
    );
}
