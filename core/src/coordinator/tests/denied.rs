//! A predecessor that may not be killed: its late SET can arrive after the rollback, so the
//! rollback is repeated.

use super::{play, play_from_the_start};

#[test]
fn where_the_kill_is_denied_the_rollback_is_repeated_for_a_ttl() {
    play(
        1,
        "acquire 1 r ttl 1s
         n1 < SET r #1 NX PX 1000
         n1 breaks
         = no quorum 1 ..
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > -NOPERM User default has no permissions to run the 'client|kill' command
         n1 < EVAL release 1 r #1
         n1 > 0
         debts 1
         +200ms
         n1 < EVAL release 1 r #1
         n1 > 1                         // here it came
         debts 1
         +200ms
         n1 < EVAL release 1 r #1
         n1 > 0
         +200ms
         n1 < EVAL release 1 r #1
         n1 > 0
         +200ms
         n1 < EVAL release 1 r #1
         +199.999999ms
         n1 > 0                         // a nanosecond short of a ttl
         debts 1
         +200ms
         n1 < EVAL release 1 r #1
         n1 > 0
         debts 0
         +5s
         n1 < -",
    );
}

#[test]
fn the_ttl_of_repeating_ends_to_the_nanosecond() {
    play(
        1,
        "acquire 1 r ttl 150ms
         n1 < SET r #1 NX PX 150
         n1 breaks
         = no quorum 1 ..
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > -NOPERM no
         n1 < EVAL release 1 r #1
         +150ms
         n1 > 0
         debts 0
         +5s
         n1 < -",
    );
}

#[test]
fn where_the_kill_is_denied_the_master_still_votes() {
    play(
        1,
        "n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > -NOPERM no
         no faults
         acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > ok
         = acquired 1 ..",
    );
}

/// INFO is denied on the second connection, on the first one, on both.
const DENIED: [(&str, &str); 3] =
    [("server run1", "-NOPERM no"), ("-NOPERM no", "server run1"), ("-NOPERM no", "-NOPERM no")];

#[test]
fn without_info_no_client_is_killed_and_rollbacks_are_repeated() {
    for (first, second) in DENIED {
        play_from_the_start(
            1,
            &format!(
                "n1 < DIAL
                 n1 connects
                 n1 < HELLO ..
                 n1 asks
                 n1 > hello 1
                 n1 > {first}
                 n1 > -NOPERM no
                 n1 > agreed
                 = connected
                 acquire 1 r ttl 300ms
                 n1 < SET r #1 NX PX 300
                 n1 breaks
                 = no quorum 1 ..
                 +50ms
                 n1 < DIAL
                 n1 connects
                 n1 < HELLO ..
                 n1 asks
                 n1 > hello 2
                 n1 > {second}
                 n1 > -NOPERM no
                 n1 > agreed
                 n1 < EVAL release 1 r #1
                 n1 > 0
                 debts 1
                 +200ms
                 n1 < EVAL release 1 r #1
                 n1 > 0
                 debts 1
                 +200ms
                 n1 < EVAL release 1 r #1
                 n1 > 0
                 debts 0"
            ),
        );
    }
}

#[test]
fn the_rollback_of_an_attempt_after_the_reconnect_is_sent_once() {
    play(
        1,
        "n1 breaks
         +50ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > -NOPERM no
         +1ms
         acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > nil
         = contended ..
         debts 0",
    );
}

#[test]
fn where_client_is_no_command_a_node_opens_again_all_the_same() {
    for error in ["ERR unknown command 'CLIENT'", "ERR unknown subcommand 'KILL'"] {
        play(
            1,
            &format!(
                "acquire 1 r ttl 150ms
                 n1 < SET ..
                 n1 breaks
                 = no quorum 1 ..
                 +50ms
                 n1 greets
                 n1 < CLIENT KILL ID 1
                 n1 > -{error}
                 no faults
                 n1 < EVAL release 1 r #1
                 +150ms
                 n1 > 0
                 debts 0"
            ),
        );
    }
}

#[test]
fn a_momentary_failure_of_info_is_not_taken_for_a_denial() {
    play(
        1,
        "acquire 1 r
         n1 < SET ..
         n1 breaks
         = no quorum 1 ..
         +50ms
         n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 2
         n1 > -BUSY Redis is busy running a script
         n1 < CLOSE
         fault n1 down BUSY Redis is busy running a script
         debts 1
         +100ms
         n1 greets
         n1 < CLIENT KILL ID 1          // which the right to kill is still used for
         n1 > 1
         n1 < EVAL release 1 r #1
         n1 > 1
         debts 0",
    );
}
