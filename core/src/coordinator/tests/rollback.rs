//! An attempt that does not win is undone wherever it may have left something.

use super::play;
use super::waking::waits;

#[test]
fn a_win_without_remaining_validity_is_undone_everywhere() {
    play(
        3,
        "acquire 1 r ttl 3ms            // 2.03 ms of it are drift, 1 ms is the timeout
         n1-3 < SET r #1 NX PX 3
         +0.97ms
         n1 > ok
         = -
         n2 > ok
         n1-3 < EVAL release 1 r #1
         = no quorum 1 at 1 after 0.97ms: granted | granted | not waited for
         n3 > ok                        // late
         debts 3",
    );
}

#[test]
fn a_key_that_could_never_be_valid_is_set_and_undone() {
    play(
        1,
        "acquire 1 r ttl 2ms
         n1 < SET r #1 NX PX 2
         n1 > ok
         n1 < EVAL release 1 r #1
         = no quorum 1 at 1 after 0ms: granted",
    );
}

#[test]
fn a_loss_is_undone_on_each_asked_master_that_has_not_said_that_it_set_nothing() {
    play(
        5,
        "acquire 1 r
         n1-5 < SET r #1 NX PX 10000
         n1 > ok
         n2 > nil
         n3 > -NOREPLICAS Not enough good replicas to write.
         n1-5 < -
         n4 > nil
         n1,n3,n5 < EVAL release 1 r #1
         = contended 1 at 1 after 0ms: granted | held | \
           refused by the server (NOREPLICAS Not enough good replicas to write.) | held | \
           not waited for
         debts 3
         n1 > 1
         n3 > 0
         debts 1
         n5 > ok                        // the SET, late
         n5 > 1                         // and its rollback
         debts 0
         = -",
    );
}

#[test]
fn masters_that_are_down_refuse_at_once_and_are_not_undone() {
    play(
        5,
        "n4-5 breaks
         acquire 1 r
         n1-3 < SET r #1 NX PX 10000
         n1 > nil
         n2-3 < EVAL release 1 r #1
         = contended 1 at 1 after 0ms: held | not waited for | not waited for | \
           down (reset by peer) | down (reset by peer)
         debts 2",
    );
}

#[test]
fn nothing_is_sent_that_could_not_win() {
    play(
        5,
        "n3-5 breaks
         acquire 1 r
         = no quorum 1 at 1 after 0ms: not waited for | not waited for | \
           down (reset by peer) | down (reset by peer) | down (reset by peer)
         n1-2 < -
         debts 0",
    );
}

#[test]
fn a_silent_master_never_wins_and_is_undone_too() {
    play(
        3,
        "acquire 1 r
         n1-3 < SET r #1 NX PX 10000
         n1 > ok
         next 200ms
         +199.999999ms
         = -
         +1ns
         n1-3 < EVAL release 1 r #1
         = no quorum 1 at 1 after 200ms: granted | no answer in time | no answer in time
         n2-3 > ok                      // too late to count
         = -
         n1-3 > 1
         debts 0",
    );
}

/// A master that has forgotten its scripts refuses an attempt because of what the one before it has left there.
#[test]
fn an_attempt_before_a_rollback_that_was_not_known_is_made_again_behind_it() {
    let mut stage = waits();
    stage.tokens.ways = true;
    stage.play(
        "+1ms
         n3 > freed r
         n3 < SET r #3 NX PX 10000
         n3 > ok
         n1-2 < SET r #3 NX PX 10000
         n3 > freed r                   // by a node that was late
         n1-2 > nil
         n3 < EVALSHA release 1 r #3
         +0ms
         n3 < SET r #4 NX PX 10000
         n3 > -NOSCRIPT No matching script.
         n3 < EVAL release 1 r #3
         n3 > nil                       // because of #3
         +0ms
         n3 < SET r #5 NX PX 10000
         n3 > 1
         n3 > ok
         n1-2 < SET r #5 NX PX 10000
         n1-2 > ok
         = acquired 1 ..",
    );
}

/// The next attempt comes behind the rollback.
#[test]
fn a_rollback_that_was_not_known_shortens_no_pause() {
    let mut stage = waits();
    stage.tokens.ways = true;
    stage.play(
        "+250ms
         n1-3 < SET r #3 NX PX 10000
         n3 > ok
         n1-2 > nil
         n3 < EVALSHA release 1 r #3
         n3 > -NOSCRIPT No matching script.
         n3 < EVAL release 1 r #3
         +249ms
         n1-3 < -",
    );
}
