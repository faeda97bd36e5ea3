//! Waiters in other processes are notified once a key is free, and not over and over.

use super::stage::MAILBOX;
use super::waking::{open, waits};

/// If the predecessor may not be killed, the release is repeated; the waiters are notified once.
#[test]
fn a_repeated_release_notifies_no_waiter_again() {
    let mut stage = open(1);
    stage.play(
        "acquire 1 r ttl 1s
         n1 < SET r ..
         n1 > ok
         = acquired 1 ..
         n1 breaks
         +60ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > -NOPERM no
         drop 1
         n1 < EVAL release 1 r #1
         n1 < PUBLISH ..
         n1 > 1
         n1 > 0
         +200ms
         n1 < EVAL release 1 r #1
         n1 < -
         n1 > 0
         +200ms
         n1 < EVAL release 1 r #1
         n1 < -",
    );
}

/// `n3` notifies at once. The others have forgotten the script, and a waiter that was notified in
/// the meantime has tried in vain.
#[test]
fn a_waiter_notified_before_it_is_free_everywhere_is_notified_again() {
    let mut stage = open(3);
    stage.tokens.ways = true;
    stage.steps(
        "acquire 1 r \n n1-3 < SET .. \n n1-3 > ok \n = acquired 1 .. \n drop 1
         n1-3 < EVAL release 1 r #1
         n3 < PUBLISH ..
         n1-2 > 1
         n3 > -LOADING no               // it is not known there
         n3 > 0
         +200ms
         n3 < EVAL release 1 r #1
         n3 < PUBLISH ..",
    );
    stage.play(
        "acquire 2 r \n n1-3 < SET .. \n n1-2 > ok \n = acquired 2 .. \n drop 2
         n1-2 < EVALSHA release 1 r #2
         n3 < EVAL release 1 r #2
         n3 < PUBLISH ..
         n1 > -NOSCRIPT No matching script.
         n1 < EVAL release 1 r #2
         n3 < PUBLISH quorumlock:free:0:r ..
         n1 > 1",
    );
}

/// The holder that releases is stopped before it has written to `n1` and `n2`.
#[test]
fn a_waiter_notified_before_it_is_free_everywhere_tries_again_soon() {
    let mut stage = waits();
    stage.steps("n3 > freed r");
    let mut lost_at = 0;
    for attempt in 3..7 {
        let pause = 1 << (attempt - 3);
        lost_at += 1;
        stage.steps(&format!(
            "n3 < SET r #{attempt} NX PX 10000
             +1ms
             n3 > ok
             n1-2 < SET r #{attempt} NX PX 10000
             n1-2 > nil
             n3 < EVAL release 1 r #{attempt}
             n3 > 1
             next {}ms
             +{pause}ms",
            lost_at + pause
        ));
        lost_at += pause;
    }
    stage.play(
        "n3 < SET r #7 NX PX 10000
         n3 > ok
         n1-2 < SET r #7 NX PX 10000
         n1-2 > nil
         n3 < EVAL release 1 r #7     // another client has it
         n3 > 1
         next 269ms",
    );
}

/// Lets a lock pass on within this process, while it listens.
fn steps_back(is_asked: bool) -> bool {
    let mut stage = waits();
    stage.steps(
        "+1ms
         n3 > freed r
         n3 < SET r #3 NX PX 10000
         n3 > ok
         n1-2 < SET r #3 NX PX 10000
         n1-2 > ok
         = acquired 1 ..
         drop 1
         n1-3 < EVAL release 1 r #3
         n3 < PUBLISH ..
         n1-3 > 1
         acquire 2 r
         n1-3 < SET ..",
    );
    stage.steps("n3 > 2 \n n1-3 > ok \n = acquired 2 ..");
    if is_asked {
        stage.steps(&format!("n3 > says {MAILBOX} ask r \n = wanted 2"));
    }
    for held in 2..=8 {
        stage.steps(&format!("acquire {} r wait 10s \n drop {held}", held + 1));
        stage.steps("n1-3 < EVAL release .. \n n1-3 < SET .. \n n1-3 > 1 \n n1-3 > ok");
        stage.steps(&format!("= acquired {} ..", held + 1));
    }
    stage.steps("acquire 10 r wait 10s \n drop 9 \n n1-3 < EVAL release .. \n n3 < PUBLISH ..");
    stage.wires[0].unseen.is_empty()
}

#[test]
fn a_process_makes_way_for_a_client_that_has_asked() {
    assert!(!steps_back(false));
    assert!(steps_back(true));
}
