//! The slots of a semaphore: announced on one channel, looked at together, tried at one node first.
//! Of three nodes, `n3` is the first of `r`.

use super::open;
use super::semaphore::waits;
use super::waking;
use crate::shared::{Event, RequestId};

#[test]
fn a_slot_costs_what_a_lock_costs_and_is_announced_on_the_channel_of_all() {
    waking::open(3).play(
        "acquire 1 s3@r=3
         n1-3 < SET s3 #1 NX PX 10000
         n1-3 > ok
         = acquired 1 until 9898ms
         drop 1
         n1-3 < EVAL release 1 s3 #1
         n3 < PUBLISH quorumlock:free:0:r 3
         n1-3 > 1
         n3 > 2
         debts 0",
    );
}

#[test]
fn a_repeated_release_is_announced_as_it_was() {
    waking::open(3).play(
        "acquire 1 s3@r=3
         n1-3 < SET s3 ..
         n1-3 > ok
         = acquired 1 ..
         acquire 2 s
         n1-3 < SET s ..
         n1-3 > ok
         = acquired 2 ..
         drop 2
         n1-3 < EVAL release 1 s ..
         n1 < PUBLISH quorumlock:free:0:s ..
         n1-3 > 1
         n1 > 0
         drop 1
         n1-3 < EVAL release 1 s3 #1      // by hash, as it happens
         n3 < PUBLISH quorumlock:free:0:r 3
         n1 > -NOSCRIPT No matching script
         n1 < EVAL release 1 s3 #1
         n3 < PUBLISH quorumlock:free:0:r 3
         n1-3 > 1
         n3 > 0
         n3 > 0",
    );
}

#[test]
fn a_probe_that_is_refused_is_over_and_one_that_is_granted_asks_the_others() {
    open(3).play(
        "acquire 1 r probing
         n3 < SET r #1 NX PX 10000
         n1 < -
         n2 < -
         n3 > nil
         = contended 1 at 1 after 0ms: not waited for | not waited for | held
         acquire 2 r probing
         n3 < SET r #2 NX PX 10000
         n3 > ok
         n1-2 < SET r #2 NX PX 10000
         n1 > ok
         = acquired 2 ..
         n2 > ok",
    );
}

#[test]
fn a_node_that_does_not_answer_a_probe_decides_nothing() {
    open(3).play(
        "acquire 1 r probing
         n3 < SET r #1 NX PX 10000
         +5ms
         n1-2 < SET r #1 NX PX 10000
         n1-2 > ok
         = acquired 1 ..",
    );
}

#[test]
fn a_look_at_one_node_says_what_that_node_says() {
    open(3).play(
        "look 1 r a b c
         n3 < PTTL a
         n3 < PTTL b
         n3 < PTTL c
         n3 > -2
         n3 > 1500
         = -
         n3 > -1                        // it never expires
         = looked 1: 0ms 1500ms ?
         look 2 r a
         n3 < PTTL a
         n3 > 0                         // nearly free, and not yet
         = looked 2: 1ms",
    );
}

#[test]
fn a_look_at_all_says_when_a_quorum_is_free() {
    open(3).play(
        "look 1 all a b c
         n1-3 < PTTL a
         n1-3 < PTTL b
         n1-3 < PTTL c
         n1 > -2
         n1 > 300
         n1 > -1
         n2 > 700
         n2 > 100
         n2 > -1
         n3 > 900
         n3 > 200
         n3 > 5
         = looked 1: 700ms 200ms ?",
    );
}

#[test]
fn a_look_ends_whatever_becomes_of_the_nodes() {
    open(3).play(
        "look 1 all a b
         n1-3 < PTTL a
         n1-3 < PTTL b
         n1 > 300
         n1 > -NOPERM no
         n2 breaks
         +200ms
         n2 < DIAL
         = looked 1: ? ?
         n3 > 300                       // too late
         n3 > 300
         look 2 r s
         n3 < PTTL s
         n3 > 5
         = looked 2: 5ms",
    );
}

/// A permit may be won in the moment in which its seeker is gone.
#[test]
fn a_permit_that_is_won_for_a_seeker_that_is_gone_is_given_back() {
    let mut stage = open(1);
    stage.steps("acquire 1 r \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..");
    let (attempt, deadline) = (stage.hold(1), stage.now);
    let request = RequestId(7).own();
    stage.machine.at.cx.events.push(Event::Acquired { request, attempt, deadline, ballot: None });
    stage.machine.serve();
    stage.pump();
    stage.play("n1 < EVAL release 1 r #1 \n n1 > 1 \n debts 0");
}

/// One master lacks its key and another answers that it has none, but grants none: at a quorum a slot looks free that
/// is not.
#[test]
fn a_slot_that_looks_free_in_vain_is_tried_more_and_more_seldom() {
    const LOOKS: &str = "n1-3 < PTTL r0 \n n1-3 < PTTL r1 \n n1-3 < PTTL r2
         n1 > -2 \n n1 > 8000 \n n1 > 8000
         n2 > 8000 \n n2 > 8000 \n n2 > 8000
         n3 > -2 \n n3 > 8000 \n n3 > 8000\n";
    let fails = |token: usize| {
        format!(
            "n1-3 < SET r0 #{token} .. \n n1 > ok \n n2-3 > nil \n n1 < EVAL release .. \n n1 > 1\n"
        )
    };
    let looks_at_one =
        "n3 < PTTL r0 \n n3 < PTTL r1 \n n3 < PTTL r2 \n n3 > -2 \n n3 > 8000 \n n3 > 8000\n";
    let mut stage = waits();
    stage.steps("+5ms");
    stage.steps(&[LOOKS, &fails(2), looks_at_one].concat());
    stage.steps("n3 < SET r0 #3 .. \n n3 > nil");
    stage.steps(looks_at_one);
    stage.steps("n3 < SET r0 #4 .. \n n3 > nil");
    stage.steps(looks_at_one);
    stage.steps("n3 < SET r0 #5 .. \n n3 > nil");
    stage.steps(&[LOOKS, &fails(6)].concat());
    for (token, at, pause) in [(7, 10, 5), (8, 20, 10), (9, 40, 20), (10, 80, 40)] {
        stage.steps(&format!("next {at}ms \n +{pause}ms"));
        stage.steps(&[LOOKS, &fails(token)].concat());
    }
    stage.play("next 160ms");
}
