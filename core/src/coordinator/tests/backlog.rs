//! Acquires that wait until this client has fewer rounds open.

use super::{Stage, open};
use std::fmt::Write;
use std::time::Duration;

/// The rounds that a client may have open at first.
const FIRST: u64 = 512;

/// Opens three masters, and as many rounds as a client may: requests from 1000 on. No master answers yet.
fn full() -> Stage {
    let mut stage = open(3);
    stage.steps("acquire 1 held ttl 30s \n n1-3 < SET .. \n +20ms \n n1-3 > ok \n = acquired 1 ..");
    for request in 0..FIRST {
        stage.steps(&format!("acquire {} f{request} wait 60s", 1_000 + request));
        stage.wires.iter_mut().for_each(|wire| assert!(wire.unseen.pop_front().is_some()));
    }
    stage
}

/// Lets two masters grant so many of the rounds that are open, from the oldest on.
fn grant(stage: &mut Stage, count: u64) {
    for node in [0, 1] {
        stage.says(node, "+OK\r\n".repeat(usize::try_from(count).unwrap()).as_bytes());
    }
    stage.unseen.retain(|event| !event.starts_with("acquired 1"));
}

/// Names what each master is sent for these requests, in this order.
fn sent(requests: &[&str]) -> String {
    requests.iter().fold(String::new(), |mut steps, key| {
        let _ = writeln!(steps, "n1-3 < {key} ..");
        steps
    })
}

#[test]
fn what_is_beyond_the_window_is_sent_as_others_are_decided_the_oldest_first() {
    let mut stage = full();
    stage.steps("acquire 2 a wait 9s \n acquire 4 c wait 9s \n acquire 3 b wait 9s \n n1-3 < -");
    grant(&mut stage, 1);
    stage.steps(&sent(&["SET a"]));
    grant(&mut stage, 2);
    stage.steps(&sent(&["SET b", "SET c"]));
    stage.steps("n1-3 < - \n = -");
}

#[test]
fn holds_are_extended_released_and_topped_up_while_a_window_is_full() {
    let mut stage = full();
    stage.steps(
        "acquire 2 a wait 9s
         extend 3 of 1
         n1-3 < EVALSHA extend 1 held #1 30000
         drop 1
         n1-3 < EVAL release 1 held #1
         cancel 1000
         n1-3 < EVAL release 1 f0 ..
         n1-3 < SET a ..",
    );
}

#[test]
fn every_kind_of_lock_waits_for_the_window() {
    let kinds = "acquire 2 a fenced wait 9s
                 acquire 3 b+c wait 9s
                 acquire 4 read:d wait 9s
                 acquire 5 write:e wait 9s
                 acquire 6 3of:s wait 9s
                 acquire 7 q fair wait 9s
                 n1-3 < -";
    let mut stage = full();
    stage.steps(kinds);
    assert_eq!(stage.machine.acquires_in_line(), 6);
    grant(&mut stage, 6);
    assert_eq!(stage.machine.acquires_in_line(), 0);
    assert!(stage.wires.iter().all(|wire| wire.unseen.len() >= 6));
}

#[test]
fn one_that_cannot_begin_in_its_time_says_so_and_was_tried_by_no_master() {
    let mut stage = full();
    stage.steps(
        "acquire 2 a wait 150ms
         +149.999999ms
         = -
         +1ns
         = overloaded 2 at 0 after 150ms: ..
         n1-3 < -",
    );
    assert_eq!(stage.machine.acquires_in_line(), 0);
}

#[test]
fn one_behind_it_in_this_process_says_the_same() {
    let mut stage = full();
    stage.steps(
        "acquire 2 a wait 9s
         acquire 3 a wait 100ms
         +100ms
         = overloaded 3 at 0 after 100ms: ..
         n1-3 < -",
    );
}

#[test]
fn one_that_makes_a_single_attempt_goes_by_turns_with_those_that_wait() {
    let mut stage = full();
    stage.steps(
        "acquire 2 a wait 9s \n acquire 3 b wait 9s \n acquire 4 c \n acquire 5 d \n n1-3 < -",
    );
    grant(&mut stage, 4);
    stage.steps(&sent(&["SET c", "SET a", "SET d", "SET b"]));
}

#[test]
fn one_that_makes_a_single_attempt_waits_for_half_of_its_timeout_at_most() {
    let mut stage = full();
    stage
        .steps("acquire 2 a \n +99.999999ms \n = - \n +1ns \n = overloaded 2 at 0 after 100ms: ..");
}

#[test]
fn one_that_makes_a_single_attempt_is_refused_at_once_behind_too_many() {
    let mut stage = full();
    // A window takes 20 ms, of which 22 are to spare, and each of these goes after one that waits.
    for request in 0..2 * FIRST {
        stage.steps(&format!("acquire {} t{request}", 10_000 + request));
    }
    let refused = stage.unseen.iter().filter(|event| event.starts_with("overloaded")).count();
    assert_eq!(refused, 512, "were refused at once");
}

#[test]
fn one_that_was_cancelled_leaves_the_line() {
    let mut stage = full();
    stage.steps("acquire 2 a wait 9s \n acquire 3 b wait 9s \n cancel 2 \n n1-3 < -");
    grant(&mut stage, 1);
    stage.steps(&sent(&["SET b"]));
    assert_eq!(stage.machine.acquires_in_line(), 0);
}

#[test]
fn a_quorum_that_is_down_is_no_overload() {
    let mut stage = full();
    stage.steps("acquire 2 a wait 300ms \n n1 breaks \n n2 breaks");
    stage.pass(Duration::from_millis(300));
    let ended: Vec<_> = stage.unseen.iter().filter(|event| event.contains(" 2 at ")).collect();
    assert!(matches!(ended[..], [event] if event.starts_with("no quorum 2 ")), "{ended:?}");
}

#[test]
fn masters_that_answer_no_round_in_time_are_an_outage_for_those_behind_it() {
    let mut stage = full();
    stage.steps("acquire 2 a \n +100ms \n = overloaded 2 at 0 after 100ms: ..");
    // These fill the window again.
    for request in 0..FIRST {
        stage.steps(&format!("acquire {} u{request} wait 9s", 10_000 + request));
    }
    stage.pass(Duration::from_millis(110));
    stage.steps("acquire 5000 b");
    stage.pass(Duration::from_millis(100));
    let ended: Vec<_> = stage.unseen.iter().filter(|event| event.contains(" 5000 at ")).collect();
    let unanswered = ["no answer in time"; 3].join(" | ");
    assert_eq!(ended, [&format!("no quorum 5000 at 0 after 100ms: {unanswered}")]);
}
