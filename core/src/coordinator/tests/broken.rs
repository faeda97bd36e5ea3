//! What must hold in the machine is checked, and ends the client if it does not.

use super::open;
use super::stage::{DRIFT, Stage};
use crate::pace::Window;
use crate::quorum::Instant;
use crate::shared::{AttemptId, Keys};
use std::time::Duration;

const ASKS: &str = "acquire 1 r \n n1-3 < SET r #1 NX PX 10000";

fn asks() -> Stage {
    let mut stage = open(3);
    stage.steps(ASKS);
    stage
}

#[test]
fn a_round_that_ends_and_was_not_open_is_found() {
    let mut stage = asks();
    stage.machine.at.cx.masters.window = Window::new(stage.now);
    stage.steps("n1-2 > ok \n = broken: a round has ended twice");
}

#[test]
fn one_that_wins_a_place_that_another_has_is_found() {
    for changes in [false, true] {
        let mut stage = asks();
        let queue = &mut stage.machine.at.waiters.local_queue;
        queue.free(&Keys::from("r"));
        if changes {
            queue.occupy(&Keys::from("r"), AttemptId::NONE);
        }
        stage.steps("n1-2 > ok \n = broken: a key has a second holder in this process");
    }
}

#[test]
fn a_deadline_that_is_too_late_is_found() {
    let ttl = Duration::from_secs(10);
    let drift = DRIFT.of(ttl);
    for (late, found) in [(Duration::ZERO, "= -"), (Duration::from_nanos(1), "= broken: ..")] {
        let mut stage = open(3);
        let started = Instant::from_nanos(5);
        let deadline = started.after(ttl - drift + late);
        stage.machine.at.cx.check_deadline(deadline, started, ttl);
        stage.steps(&format!("+0ms \n {found}"));
    }
}

#[test]
fn a_round_that_moves_a_deadline_too_far_is_found() {
    let mut stage = asks();
    stage.steps("n1-3 > ok \n = acquired 1 .. \n +1ms \n extend 2 of 1 \n n1-3 < EVALSHA ..");
    let rounds = &mut stage.machine.locks.rounds;
    for round in rounds.places(|_| true) {
        rounds.get_mut(round).unwrap().started = Instant::from_nanos(0);
    }
    stage.steps("n1-2 > 1 \n = broken: ..");
}

/// The first round is won last, by a master that answers late, and moves no deadline.
#[test]
fn an_extension_that_is_won_after_a_later_one_breaks_nothing() {
    let mut stage = asks();
    stage.play(
        "n1-3 > ok
         = acquired 1 ..
         extend 2 of 1
         n1-3 < EVALSHA ..
         n1 > -ERR
         n2 > 1
         +10ms
         extend 3 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 3 until 9908ms
         n3 > 1
         = extended 2 until 9908ms
         n3 > 1
         = -",
    );
}
