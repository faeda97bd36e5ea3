//! The handshake: what must be known before the first SET.

use super::{Stage, play_from_the_start};
use crate::wire::Login;

#[test]
fn a_handshake_is_one_write_and_a_master_votes_once_it_answers() {
    play_from_the_start(
        1,
        "n1 < DIAL
         n1 connects
         n1 < HELLO 3 SETNAME quorumlock
         n1 asks
         n1 > hello 7
         n1 > server a
         n1 > master
         = -
         acquire 1 r                    // not known well enough yet
         = no quorum 1 at 1 after 0ms: down (not connected yet)
         n1 < -
         n1 > agreed
         = connected
         acquire 2 r
         n1 < SET r #1 NX PX 10000
         n1 > ok
         = acquired 2 until 9898ms",
    );
}

/// User, password, database, and the handshake's commands for them.
const LOGINS: [(Option<&str>, Option<&str>, i64, &str); 6] = [
    (None, None, 0, "HELLO 3 SETNAME quorumlock"),
    (None, None, 5, "HELLO 3 SETNAME quorumlock"),
    (None, Some("pw"), 0, "HELLO 3 AUTH default pw SETNAME quorumlock"),
    (Some("ann"), Some("pw"), 0, "HELLO 3 AUTH ann pw SETNAME quorumlock"),
    (Some("ann"), Some("pw"), 5, "HELLO 3 AUTH ann pw SETNAME quorumlock"),
    (Some("ann"), None, 0, "HELLO 3 AUTH ann '' SETNAME quorumlock"),
];

#[test]
fn the_first_command_logs_in_and_the_next_selects_the_database() {
    for (user, password, database, hello) in LOGINS {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let login = Login { username: own(user), password: own(password), database };
        let mut stage = Stage::new(1, &login);
        stage.steps(&format!("n1 < DIAL \n n1 connects \n n1 < {hello}"));
        if database != 0 {
            stage.steps(&format!("n1 < SELECT {database} \n n1 < - \n n1 > hello 1 \n n1 > ok"));
        }
        stage.play("n1 asks");
    }
}

/// The answer to HELLO, and the fault that the master then has.
const REFUSALS: [(&str, &str); 11] = [
    (
        "-WRONGPASS invalid username-password pair or user is disabled.",
        "rejected wrongpass invalid username-password pair or user is disabled.",
    ),
    (
        "-NOAUTH HELLO must be called with the client already authenticated",
        "rejected noauth it asks for a password: redis://:password@host:port",
    ),
    ("-NOPERM this user has no permissions", "rejected noperm this user has no permissions"),
    (
        "-DENIED Redis is running in protected mode",
        "rejected denied redis is running in protected mode",
    ),
    (
        "-ERR unknown command `HELLO`, with args beginning with: `3`",
        "rejected err unknown command `hello`: redis 6.2 or later is needed, and hello not renamed",
    ),
    ("-ERR max number of clients reached", "down err max number of clients reached (maxclients)"),
    (
        "raw %2\\r\\n$2\\r\\nid\\r\\n:1\\r\\n$4\\r\\nmode\\r\\n$7\\r\\ncluster\\r\\n",
        "unfit a node of a cluster, which moves keys and promotes replicas by itself: name ..",
    ),
    (
        "raw %2\\r\\n$2\\r\\nid\\r\\n:1\\r\\n$4\\r\\nmode\\r\\n$8\\r\\nsentinel\\r\\n",
        "unfit a sentinel, which keeps no keys: name independent masters only",
    ),
    ("-LOADING Redis is loading the dataset in memory", "down loading redis is loading .."),
    ("ok", "rejected hello 3 was not answered as by a redis server"),
    ("raw %1\\r\\n+proto\\r\\n:3\\r\\n", "rejected hello 3 was not answered as by a redis server"),
];

#[test]
fn a_master_that_refuses_hello_has_the_fault_that_it_names() {
    for (refusal, fault) in REFUSALS {
        play_from_the_start(
            1,
            &format!(
                "n1 < DIAL
                 n1 connects
                 n1 < HELLO 3 SETNAME quorumlock
                 n1 asks
                 n1 > {refusal}
                 n1 < CLOSE
                 = connected
                 fault n1 {fault}
                 n1 > server a              // too late
                 = -"
            ),
        );
    }
}

#[test]
fn a_database_that_may_not_be_chosen_is_a_fault() {
    let login = Login { database: 99, ..Login::default() };
    Stage::new(1, &login).play(
        "n1 < DIAL
         n1 connects
         n1 < HELLO 3 SETNAME quorumlock
         n1 < SELECT 99
         n1 > hello 1
         n1 > -ERR DB index is out of range
         n1 < CLOSE
         = connected
         fault n1 rejected ERR DB index is out of range: database 99",
    );
}

#[test]
fn a_master_that_denies_info_and_the_script_still_votes() {
    play_from_the_start(
        1,
        "n1 < DIAL
         n1 connects
         n1 < HELLO 3 SETNAME quorumlock
         n1 asks
         n1 > hello 1
         n1 > -NOPERM User default has no permissions to run the 'info' command
         n1 > -NOPERM User default has no permissions to run the 'info' command
         n1 > -NOPERM User default has no permissions to run the 'info' command
         n1 > -NOPERM User default has no permissions to run the 'script|load' command
         n1 > -NOPERM User default has no permissions to run the 'script|load' command
         n1 > confirmed
         = connected
         no faults
         acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > ok
         = acquired 1 until 9898ms",
    );
}

#[test]
fn a_stalled_handshake_is_given_up_after_the_connect_timeout() {
    play_from_the_start(
        1,
        "n1 < DIAL
         +10ms
         n1 connects
         n1 < HELLO 3 SETNAME quorumlock
         n1 asks
         n1 > hello 1
         next 510ms
         +499.999ms
         n1 < -
         +1us
         n1 < CLOSE
         = connected
         fault n1 down no answer to the handshake within 500 ms: raise connect_timeout",
    );
}

#[test]
fn all_have_settled_once_each_has_answered_or_failed() {
    play_from_the_start(
        3,
        "n1-3 < DIAL
         n1 unreachable
         n2 unreachable
         = -
         +50ms
         n1 < DIAL
         n2 < DIAL
         n1 unreachable
         = -
         n3 unreachable
         = connected
         +100ms                         // and never again
         n3 < DIAL
         n3 unreachable
         n1 < DIAL
         fault n3 down connection refused",
    );
}

#[test]
fn sessions_open_one_by_one_and_a_quorum_of_them_is_enough() {
    play_from_the_start(
        3,
        "n1-2 opens
         n3 < DIAL
         acquire 1 r
         n1-2 < SET r #1 NX PX 10000
         n1-2 > ok
         = acquired 1 until 9898ms
         n3 connects
         n3 < HELLO ..
         n3 asks
         = -",
    );
}
