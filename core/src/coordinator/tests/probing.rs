//! One node first, `n3` for `r`: what it may decide, and what happens at the others.

use super::waking::waits;
use super::{Stage, greets};
use crate::master::RestartGuard;
use crate::shared::Settings;
use crate::wire::Login;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Another client holds `r`. Acquire 1 has waited for it, listens, and is notified that it is free:
/// it asks one node.
const PROBES: &str = "jitter most
     acquire 1 r wait 10s
     n1-3 < SET r #1 NX PX 10000
     n1-3 > nil
     n3 < EVAL release 1 r #1
     n3 < SUBSCRIBE quorumlock:free:0:r
     n3 > 0
     n3 > subscribed r
     n3 < EVAL look 1 r
     n3 < SET r #2 NX PX 10000
     n3 > -2
     n3 > nil
     +1ms
     n3 > freed r
     n3 < SET r #3 NX PX 10000
     n1-2 < -\n";

fn probes(script: &str) {
    let change = |settings: &mut Settings| settings.wake_ups = true;
    let mut stage = Stage::with(3, &Login::default(), change);
    stage.steps("n1-3 opens \n = connected");
    stage.steps(PROBES);
    stage.play(script);
}

#[test]
fn a_silent_first_master_is_waited_for_only_the_first_pause() {
    probes(
        "next 6ms
         +4.999999ms
         n1-2 < -
         +1ns
         n1-2 < SET r #3 NX PX 10000
         n1-2 > ok
         = acquired 1 until 9899ms      // from before the first was asked
         n3 > nil
         drop 1
         n1-3 < EVAL release 1 r #3
         n3 < PUBLISH ..",
    );
}

#[test]
fn a_first_node_that_answers_late_votes_with_the_others() {
    probes(
        "+5ms
         n1-2 < SET r #3 NX PX 10000
         n2 > nil
         n3 > ok
         = -
         n1 > ok
         = acquired 1 until 9899ms",
    );
}

#[test]
fn the_others_have_a_timeout_of_their_own_to_answer() {
    probes(
        "+5ms
         n1-2 < SET r #3 NX PX 10000
         +199.999999ms
         n1-3 < -
         +1ns
         n1-3 < EVAL release 1 r #3     // a quorum could not be reached any more
         n1-3 > ok
         n1-3 > 1
         cancel 1",
    );
}

/// The fault does not matter: it does not mean that another client holds the lock.
#[test]
fn a_first_node_that_fails_decides_nothing() {
    for fails in ["n3 > -OOM command not allowed", "n3 breaks", "n3 > -READONLY no"] {
        probes(&format!(
            "{fails}
             n1-2 < SET r #3 NX PX 10000
             n1-2 > ok
             = acquired 1 until 9899ms"
        ));
    }
}

#[test]
fn a_first_master_that_takes_no_bytes_decides_nothing_either() {
    let change = |settings: &mut Settings| settings.wake_ups = true;
    let mut stage = Stage::with(3, &Login::default(), change);
    stage.steps("n1-3 opens \n = connected");
    stage.steps(PROBES.split("+1ms").next().unwrap_or_default());
    stage.play(
        "+1ms
         n3 takes 0
         n3 > freed r
         n3 breaks
         n1-2 < SET r #3 NX PX 10000
         n1-2 > ok
         = acquired 1 until 9899ms
         drop 1
         n1-2 < EVAL release 1 r #3
         n2 < PUBLISH ..                // no client would listen to the first
         debts 2",
    );
}

#[test]
fn a_first_node_that_still_owes_an_answer_is_not_asked_first() {
    let change = |settings: &mut Settings| settings.wake_ups = true;
    let mut stage = Stage::with(3, &Login::default(), change);
    stage.steps("n1-3 opens \n = connected");
    stage.play(
        "jitter most
         acquire 1 r wait 10s
         n1-3 < SET r #1 NX PX 10000
         n1-2 > nil
         n3 < EVAL release 1 r #1
         n3 < SUBSCRIBE quorumlock:free:0:r
         +5ms
         n3 < EVAL look 1 r             // it has owed an answer for 5 ms
         n3 < SET r #2 NX PX 10000
         +5ms
         n1-2 < EVAL look 1 r
         n1-2 < SET r #2 NX PX 10000
         n1-2 > 9000
         n1-2 > nil
         n3 < EVAL release 1 r #2
         +10ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n1-2 > -2
         n1-2 > ok
         = acquired 1 ..",
    );
}

/// The first node's answer at the end of the wait is not what the caller gets.
#[test]
fn a_refusal_at_the_end_of_a_wait_is_asked_of_all() {
    probes(
        "cancel 1
         n3 < EVAL release 1 r #3
         n3 < PUBLISH ..
         n3 > nil
         n3 > 0
         n3 > 0
         jitter least
         acquire 2 r wait 10ms
         n1-3 < SET r #4 ..
         n1-3 > nil
         n3 < EVAL release 1 r #4
         n3 > 0
         +0ms
         n3 < EVAL look 1 r
         n3 < SET r #5 ..
         n1-2 < -
         ~10ms
         n1 breaks
         n2 breaks                      // meanwhile: with those, no client is the holder
         n3 > -2
         n3 > nil
         = no quorum 2 at 2 after 10ms: down (reset by peer) | down (reset by peer) | held",
    );
}

/// One master hangs while the wait ends: the lock is held all the same.
#[test]
fn a_first_node_that_hangs_as_the_wait_ends_makes_no_outage() {
    probes(
        "cancel 1
         n3 < EVAL release 1 r #3
         n3 < PUBLISH ..
         n3 > nil
         n3 > 0
         n3 > 0
         jitter least
         acquire 2 r wait 3ms
         n1-3 < SET r #4 ..
         n1-3 > nil
         n3 < EVAL release 1 r #4
         n3 > 0
         +0ms
         n3 < EVAL look 1 r
         n3 < SET r #5 ..
         +5ms
         n1-2 < EVAL look 1 r
         n1-2 < SET r #5 ..
         n1-2 > 9000
         n1-2 > nil
         n3 < EVAL release 1 r #5
         = contended 2 at 2 after 5ms: held, expires in 9 s | held, expires in 9 s | \
           not waited for",
    );
}

#[test]
fn a_waiter_leaving_during_a_probe_is_rolled_back_where_asked() {
    probes(
        "cancel 1
         n3 < EVAL release 1 r #3
         n3 < PUBLISH ..
         n1-2 < -
         debts 1
         n3 > ok
         n3 > 1
         n3 > 0
         +1s
         n1-2 < -",
    );
}

/// `D` is 30 s and its drift. The first node is waited for for 100 ms, long enough for it to
/// restart.
fn guarded(ups: [u64; 3]) -> Stage {
    let mut stage = Stage::with(3, &Login::default(), |settings| {
        (settings.wake_ups, settings.restart_guard) = (true, RestartGuard::On);
        (settings.backoff.base, settings.operation_timeout) = (100 * MS, 400 * MS);
    });
    for (node, up) in (1..).zip(ups) {
        stage.steps(&greets(node, "hello 1", &format!("run{node} up {up}")));
    }
    stage.steps("= connected");
    stage
}

/// The node may have granted the lock to another client before: its vote counts for nothing.
#[test]
fn a_master_that_restarts_during_a_probe_does_not_vote() {
    let mut stage = guarded([90; 3]);
    stage.steps(PROBES);
    stage.steps("n1 breaks \n +60ms");
    stage.steps(&greets(1, "hello 1", "another up 1"));
    stage.play(
        "n3 > ok
         n2 < SET r #3 NX PX 10000
         n1 < -
         n2 > nil
         n3 < EVAL release 1 r #3
         n3 > 1
         cancel 1",
    );
}

/// The node could not vote when the attempt began, and does not vote in the middle of it.
#[test]
fn a_master_warmed_up_during_a_probe_votes_in_the_next_attempt() {
    let mut stage = guarded([31, 90, 90]);
    stage.steps("+300ms");
    stage.steps(&PROBES.replace("n1-3", "n2-3"));
    stage.play(
        "+50ms                          // it may from 302 ms on
         n3 > ok
         n2 < SET r #3 NX PX 10000
         n1 < -
         n2 > nil
         n3 < EVAL release 1 r #3
         n3 > 1
         acquire 2 s
         n1-3 < SET s ..                // as does the next
         n1 > ok
         n2 > ok
         = acquired 2 ..
         cancel 1",
    );
}

/// It is asked for nothing while it warms up, and gets the key once the lock is won.
#[test]
fn a_master_that_warms_up_during_a_probe_gets_the_key_of_the_winner() {
    let mut stage = guarded([20, 90, 90]);
    stage.steps(&PROBES.replace("n1-3", "n2-3"));
    stage.play(
        "n3 > ok
         n2 < SET r #3 NX PX 10000
         n1 < -
         n2 > ok
         = acquired 1 ..
         n1 < EVAL top_up 1 r #3 10000
         n1 > 1
         drop 1
         n1-3 < EVAL release 1 r #3
         n1-3 > 1
         n3 < PUBLISH ..",
    );
}

/// Acquire 1 waits for `r`, which is held at `n1` and `n2`; the first node lacks the key.
#[test]
fn where_the_first_master_lacks_the_holders_key_another_one_is_asked_first() {
    waits().play(
        "+250ms
         jitter middle
         n1-3 < SET r #3 NX PX 10000
         n3 > ok
         n1-2 > nil
         n3 < EVAL release 1 r #3
         n3 > 1
         +125ms
         n2 < SET r #4 NX PX 10000      // and nothing keeps the holder's key from n3
         n1,n3 < -
         n2 > nil
         +124ms
         n1-3 < -
         +1ms
         n1-3 < SET r #5 NX PX 10000    // all of them, 250 ms after the last time
         n1-3 > ok
         = acquired 1 ..",
    );
}
