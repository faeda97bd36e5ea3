//! The machine checked against tables of events, without a runtime.
//!
//! A test is a script (`script.rs` has the steps): the events, and everything that the machine does
//! in response.

mod acquire;
mod adopt;
mod adopted;
mod agreement;
mod asking;
mod at_least;
mod at_least_lost;
mod backlog;
mod barrier;
mod broken;
mod cancels;
mod claims;
mod connections;
mod denied;
mod detach;
mod downgrade;
mod endings;
mod extension;
mod fair;
mod fair_permits;
mod fenced;
mod fenced_warm;
mod first_round;
mod foreign;
mod handover;
mod handshake;
mod healthy;
mod hints;
mod inspect;
mod joint;
mod keeper;
mod labels;
mod laggards;
mod ledger;
mod listening;
mod local_queue;
mod loss;
mod observed;
mod overload;
mod pauses;
mod polling;
mod probing;
mod queue;
mod readers;
mod redial;
mod release;
mod remaining;
mod renewal;
mod replies;
mod rest;
mod rollback;
mod script;
mod semaphore;
mod silence;
mod slots;
mod stage;
mod standing;
mod sums;
mod telling;
mod tokens;
mod topup;
mod trust;
mod unfit;
mod verdicts;
mod waiting;
mod waitlist;
mod waitlist_faults;
mod waitlist_lacking;
mod waitlist_permits;
mod waitlist_several;
mod waking;
mod warm;
mod ways;
mod withdrawal;
mod words;

use crate::quorum::Membership;
use crate::shared::Settings;
use crate::wire::Login;
use stage::Stage;
use std::time::Duration;

/// Plays `script` on so many masters, all of them open.
fn play(masters: usize, script: &str) {
    let mut stage = open(masters);
    stage.play(script);
}

/// Opens so many masters.
fn open(masters: usize) -> Stage {
    all_open(Stage::new(masters, &Login::default()), masters)
}

/// Opens three masters that tell when a key is free: `n3` tells of `r`. Waiters poll seldom.
fn telling() -> Stage {
    let adjust = |settings: &mut Settings| {
        settings.wake_ups = true;
        settings.backoff.cap = Duration::from_secs(60);
    };
    all_open(Stage::with(3, &Login::default(), adjust), 3)
}

/// Opens the masters of two lists: a letter for each, as in `Membership::pictured`.
fn open_lists(lists: &str) -> Stage {
    let membership = Membership::pictured(lists);
    all_open(Stage::of(membership, lists.len(), &Login::default()), lists.len())
}

fn all_open(mut stage: Stage, masters: usize) -> Stage {
    stage.steps(&format!("n1-{masters} opens"));
    stage.steps("= connected");
    stage
}

/// Returns the steps of a whole handshake: the master's answer to HELLO, and its process.
fn greets(node: usize, hello: &str, server: &str) -> String {
    format!(
        "n{node} < DIAL
         n{node} connects
         n{node} < HELLO ..
         n{node} asks
         n{node} > {hello}
         n{node} > server {server}
         n{node} > master
         n{node} > agreed\n"
    )
}

/// Plays `script` on so many masters that are being dialled.
fn play_from_the_start(masters: usize, script: &str) {
    Stage::new(masters, &Login::default()).play(script);
}

#[test]
fn what_a_script_does_not_name_fails_the_test() {
    let unnamed = [
        "acquire 1 r \n = no quorum ..",
        "acquire 1 r \n n1 < SET s ..",
        "acquire 1 r \n n1 < SET r .. \n n1 > ok",
        "acquire 1 r \n n1 < SET r .. \n n1 > ok \n = acquired 1 until 9899ms",
    ];
    for script in unnamed {
        assert!(std::panic::catch_unwind(|| play(1, script)).is_err(), "{script} passed");
    }
}
