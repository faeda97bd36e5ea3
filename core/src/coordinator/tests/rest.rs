//! A client that uses no lock asks its masters less often, and asks them before it acquires again.

use super::{Stage, all_open};
use crate::shared::{Rest, Settings};
use crate::wire::Login;
use std::time::Duration;

const BEAT: &str = "n1 beats \n n1 > server run1 \n n1 > known";

/// One master, and a client that rests after a minute: it then asks every twenty seconds.
fn minute() -> Stage {
    let rest = |settings: &mut Settings| {
        settings.rest = Rest { after: Duration::from_secs(60), heartbeat: Duration::from_secs(20) };
        settings.wake_ups = true;
    };
    all_open(Stage::with(1, &Login::default(), rest), 1)
}

/// The same, once it rests.
fn resting() -> Stage {
    let mut stage = minute();
    for _ in 0..6 {
        stage.steps(&format!("+9.999999999s \n n1 < - \n +1ns \n {BEAT}"));
    }
    stage
}

fn can_acquire(stage: &Stage) -> bool {
    let masters = stage.machine.masters();
    masters.status(stage.now).can_acquire() && masters.can_vote(stage.now)
}

#[test]
fn a_client_that_rests_asks_less_often_and_reports_what_it_knows_meanwhile() {
    let mut stage = resting();
    stage.steps("+19.999999999s \n n1 < -");
    assert!(can_acquire(&stage));
    stage.steps(&format!("+1ns \n {BEAT}"));
    assert!(can_acquire(&stage));
    stage.play(&format!("+20s \n {BEAT}"));
}

#[test]
fn what_it_knows_is_over_after_two_intervals() {
    let mut stage = resting();
    stage.steps("~40s");
    assert!(can_acquire(&stage));
    stage.steps("~1ns");
    assert!(!can_acquire(&stage));
    stage.play(&format!("+0ms \n {BEAT}"));
}

#[test]
fn a_client_that_rests_notices_a_master_that_has_fallen_silent() {
    let mut stage = resting();
    stage.steps("+20s \n n1 beats \n +600ms \n n1 < CLOSE");
    assert!(!can_acquire(&stage));
    stage.play("+50ms \n n1 greets \n n1 < CLIENT KILL ID 1 \n n1 > 1");
}

#[test]
fn an_acquire_within_15_seconds_of_the_last_answer_asks_nothing_first() {
    let mut stage = resting();
    stage.steps("+15s \n acquire 1 r \n n1 < SET .. \n n1 > nil \n = contended 1 ..");
    // From now on it asks as often as ever.
    stage.play(&format!("+5s \n {BEAT} \n +10s \n {BEAT}"));
}

#[test]
fn an_acquire_soon_after_a_heartbeat_brings_the_next_one_forward() {
    let mut stage = resting();
    stage.steps("+2s \n acquire 1 r \n n1 < SET .. \n n1 > nil \n = contended 1 ..");
    stage.play(&format!("+9.999999999s \n n1 < - \n +1ns \n {BEAT}"));
}

#[test]
fn a_later_acquire_asks_first_whether_the_master_may_vote() {
    let mut stage = resting();
    stage.steps(&format!("+15.000000001s \n acquire 1 r \n {BEAT}"));
    stage.play("n1 < SET .. \n n1 > ok \n = acquired 1 ..");

    // It has become a replica meanwhile: no vote is asked of it.
    let mut stage = resting();
    stage
        .steps("+18s \n acquire 1 r \n n1 beats \n n1 > server run1 \n n1 > replica 10.0.0.9:6379");
    stage.steps("n1 > memory \n n1 > confirmed \n n1 < CLOSE \n = no quorum 1 ..");
    stage.play("fault n1 unfit ..");
}

#[test]
fn a_client_that_holds_waits_or_listens_does_not_rest() {
    for (begins, ends) in [
        (
            "acquire 1 r ttl 300s \n n1 < SET .. \n n1 > ok \n = acquired 1 ..",
            "drop 1 \n n1 < EVAL .. \n n1 > 1",
        ),
        (
            "listen 1 r \n n1 < SUBSCRIBE quorumlock:free:0:r \n n1 > subscribed r \n = listens 1",
            "unlisten 1 r",
        ),
    ] {
        let mut stage = minute();
        stage.steps(begins);
        for _ in 0..8 {
            stage.steps(&format!("+9.999999999s \n n1 < - \n +1ns \n {BEAT}"));
        }
        stage.steps(ends);
    }
}
