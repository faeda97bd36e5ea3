//! Masters that are not independent.

use super::{play, play_from_the_start};

#[test]
fn the_same_server_behind_two_addresses_counts_once() {
    play_from_the_start(
        3,
        "n1 opens
         n2 < DIAL
         n2 connects
         n2 < HELLO ..
         n2 asks
         n2 > hello 2
         n2 > server run1
         n2 > master
         n2 > agreed
         n2 < CLOSE
         fault n2 unfit the same server as n1: each master counts once
         n3 opens
         = connected
         acquire 1 r
         n1,n3 < SET r #1 NX PX 10000
         n1 > ok
         = -
         n3 > ok
         = acquired 1 ..
         drop 1
         n1,n3 < EVAL ..
         n1,n3 > 1
         acquire 2 s
         n1,n3 < SET s #2 NX PX 10000
         n1 > nil
         n3 < EVAL ..
         = contended 2 at 1 after 0ms: held | \
           unfit (the same server as n1: each master counts once) | not waited for",
    );
}

#[test]
fn of_two_addresses_that_are_met_at_once_one_is_kept() {
    play_from_the_start(
        2,
        "n1-2 < DIAL
         n1-2 connects
         n1-2 < HELLO ..
         n1-2 asks
         n1-2 > hello 1
         n1-2 > server same
         n1-2 > master
         n1-2 > agreed
         n1 < CLOSE
         = connected
         fault n1 unfit the same server as n2: each master counts once",
    );
}

#[test]
fn an_address_that_moves_to_a_server_of_ours_becomes_unfit() {
    play(
        3,
        "n2 restarts
         +50ms
         n2 < DIAL
         n2 connects
         n2 < HELLO ..
         n2 asks
         n2 > hello 9
         n2 > server run3
         n2 > master
         n2 > agreed
         n2 < CLOSE
         fault n2 unfit the same server as n3: each master counts once",
    );
}

#[test]
fn a_replica_has_no_vote() {
    play_from_the_start(
        1,
        "n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 1
         n1 > server run1
         n1 > replica 10.0.0.9:6380
         = -
         n1 > agreed
         n1 < CLOSE
         = connected
         fault n1 unfit a replica of 10.0.0.9:6380: name independent masters only
         acquire 1 r
         = no quorum 1 at 1 after 0ms: \
           unfit (a replica of 10.0.0.9:6380: name independent masters only)",
    );
}

#[test]
fn a_replica_that_was_promoted_votes_after_the_next_dial() {
    play_from_the_start(
        1,
        "n1 < DIAL
         n1 connects
         n1 < HELLO ..
         n1 asks
         n1 > hello 1
         n1 > server run1
         n1 > replica 10.0.0.9:6380
         n1 > agreed
         n1 < CLOSE
         = connected
         next 50ms
         +50ms
         n1 opens
         no faults
         n1 < -",
    );
}

/// The memory that a master reports, and the fault that it then has.
const MEMORIES: [(&str, &str); 4] = [
    (
        "memory 900 allkeys-lru",
        "n1 < CLOSE
         fault n1 unfit maxmemory-policy is allkeys-lru, which evicts locks that are held: set \
         noeviction",
    ),
    ("memory 900 noeviction", "no faults"),
    ("memory 0 allkeys-lru", "no faults"),
    ("-NOPERM no", "no faults"),
];

#[test]
fn a_master_that_evicts_locks_when_it_is_full_has_no_vote() {
    for (memory, then) in MEMORIES {
        play_from_the_start(
            1,
            &format!(
                "n1 < DIAL
                 n1 connects
                 n1 < HELLO ..
                 n1 asks
                 n1 > hello 1
                 n1 > server run1
                 n1 > master
                 n1 > {memory}
                 n1 > text c0ffee
                 n1 > text c0ffee
                 n1 > confirmed
                 = connected
                 {then}"
            ),
        );
    }
}
