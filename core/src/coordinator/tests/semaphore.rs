//! Seeking a permit: which slot is tried, and what it costs. Of three nodes, `n3` is the first of `r`,
//! where the slots of the semaphore are looked at and announced. This client tries `r1` first.

use super::stage::Stage;
use super::waking;

fn play(script: &str) {
    waking::open(3).play(script);
}

#[test]
fn a_hit_costs_what_a_lock_costs() {
    play(
        "acquire 1 3of:r
         n1-3 < SET r1 #1 NX PX 10000
         n1-3 > ok
         = acquired 1 until 9898ms
         drop 1
         n1-3 < EVAL release 1 r1 #1
         n3 < PUBLISH quorumlock:free:0:r 1
         n1-3 > 1
         n3 > 0
         debts 0",
    );
}

#[test]
fn the_slot_that_it_had_last_comes_first() {
    play(
        "acquire 1 3of:r
         acquire 2 3of:r                // at the same time, another slot
         n1-3 < SET r1 #1 ..
         n1-3 < SET r0 #2 ..
         n1-3 > ok
         = acquired 1 ..
         n1-3 > ok
         = acquired 2 ..
         drop 1
         n1-3 < EVAL release 1 r1 ..
         n3 < PUBLISH quorumlock:free:0:r 1
         drop 2
         n1-3 < EVAL release 1 r0 ..
         n3 < PUBLISH quorumlock:free:0:r 0
         n1-2 > 1
         n1-2 > 1
         n3 > 1
         n3 > 0
         n3 > 1
         n3 > 0
         acquire 3 3of:r
         n1-3 < SET r0 #3 ..
         n1-3 > ok
         = acquired 3 ..",
    );
}

#[test]
fn after_a_miss_it_looks_at_one_node_and_takes_what_is_free_there() {
    play(
        "acquire 1 3of:r
         n1-3 < SET r1 #1 ..
         n1-3 > nil
         n3 < EVAL release 1 r1 #1
         n3 < PTTL r0
         n3 < PTTL r1
         n3 < PTTL r2
         n3 > 0
         n3 > 700
         n3 > 8000
         n3 > -2
         n1-3 < SET r2 #2 ..
         n1-3 > ok
         = acquired 1 ..",
    );
}

/// Other clients have the three slots.
fn full(acquire: &str) -> Stage {
    let mut stage = waking::open(3);
    stage.steps(acquire);
    stage.steps(
        "n1-3 < SET r1 #1 ..
         n1-3 > nil
         n3 < EVAL release 1 r1 #1
         n3 < PTTL r0
         n3 < PTTL r1
         n3 < PTTL r2
         n3 > 0
         n3 > 700
         n3 > 8000
         n3 > 9000",
    );
    stage
}

#[test]
fn a_caller_that_does_not_wait_learns_that_it_is_full_and_until_when() {
    full("acquire 1 3of:r").play("= all 3 taken 1 at 1 after 0ms: 700ms");
}

const LOOKS: &str = "n1-3 < PTTL r0 \n n1-3 < PTTL r1 \n n1-3 < PTTL r2\n";

/// Request 1 has no place in a list, since there are none, and looks at all nodes.
pub(super) fn waits() -> Stage {
    let mut stage = full("jitter most \n acquire 1 3of:r wait 10s");
    stage.steps(LOOKS);
    stage.steps("n1-3 > 700 \n n1-3 > 8000 \n n1-3 > 9000");
    stage
}

#[test]
fn one_without_a_place_looks_more_and_more_seldom_and_when_the_first_slot_expires() {
    let mut stage = waits();
    let mut left = 700;
    for pause in [5, 10, 20, 40, 80, 160, 250] {
        left -= pause;
        stage.steps(&format!("+{}ms \n n1-3 < - \n +1ms", pause - 1));
        stage.steps(LOOKS);
        stage.steps(&format!("n1-3 > {left} \n n1-3 > 8000 \n n1-3 > 9000"));
    }
    stage.steps("next 700ms \n +135ms");
    stage.steps(LOOKS);
    stage.play(
        "n1-3 > -2
         n1-3 > 7300
         n1-3 > 8300
         n1-3 < SET r0 #2 ..
         n1-3 > ok
         = acquired 1 ..",
    );
}

#[test]
fn what_another_was_faster_to_get_is_looked_for_again() {
    let mut stage = waits();
    stage.steps("+5ms");
    stage.steps(LOOKS);
    stage.steps(
        "n1-3 > 695
         n1-3 > 8000
         n1-3 > -2
         n1-3 < SET r2 #2 ..
         n1-3 > nil
         n3 < EVAL release 1 r2 #2
         n3 < PTTL r0
         n3 < PTTL r1
         n3 < PTTL r2
         n3 > 0
         n3 > 650
         n3 > 8000
         n3 > 9990",
    );
    stage.steps(LOOKS);
    stage.play("n1-3 > 650 \n n1-3 > 7950 \n n1-3 > 9990 \n next 10ms");
}

#[test]
fn a_waiter_fails_at_the_end_and_leaves_nothing() {
    let mut stage = full("jitter most \n acquire 1 3of:r wait 4ms");
    stage.steps(LOOKS);
    stage.steps("n1-3 > 700 \n n1-3 > 8000 \n n1-3 > 9000 \n next 4ms \n +4ms");
    stage.steps(LOOKS);
    stage.play(
        "n1-3 > 200
         n1-3 > 8000
         n1-3 > 9000
         = all 3 taken 1 at 1 after 4ms: 200ms
         debts 0",
    );
}

#[test]
fn those_behind_it_wait_without_traffic_and_are_offered_what_it_leaves() {
    let mut stage = waits();
    stage.steps(
        "acquire 2 3of:r wait 10s
         acquire 3 3of:r wait 20ms
         acquire 4 3of:r                // does not wait
         = all 3 taken 4 at 0 after 0ms: 700ms
         n1-3 < -
         +5ms",
    );
    stage.steps(LOOKS);
    stage.play(
        "n1-3 > -2
         n1-3 > 7995
         n1-3 > -2
         n1-3 < SET r0 #2 ..
         n3 < SET r2 #3 ..
         n3 > nil
         n3 > nil
         n1 > nil
         n2 < EVAL release ..
         n3 < PTTL r0
         n3 < PTTL r1
         n3 < PTTL r2
         n2 > nil
         n2 > 0
         +15ms
         = all 3 taken 3 at 0 after 20ms: 7980ms",
    );
}

#[test]
fn a_cancelled_one_leaves_nothing_and_the_next_looks_out() {
    let mut stage = waits();
    stage.steps("acquire 2 3of:r wait 10s \n cancel 1 \n n1-3 < - \n +5ms");
    stage.steps(LOOKS);
    stage.play("cancel 2 \n debts 0");
}

#[test]
fn a_cancelled_try_is_rolled_back_and_announced() {
    play(
        "acquire 1 3of:r wait 10s
         n1-3 < SET r1 #1 ..
         n1 > ok
         cancel 1
         n1-3 < EVAL release 1 r1 #1
         n3 < PUBLISH quorumlock:free:0:r 1
         n2-3 > ok
         n1-3 > 1
         n3 > 0
         debts 0",
    );
}

/// This client has both slots, and another acquire waits.
fn all_here() -> Stage {
    let mut stage = waking::open(3);
    stage.steps(
        "acquire 1 2of:r wait 10s
         acquire 2 2of:r wait 10s
         n1-3 < SET r1 #1 ..
         n1-3 < SET r0 #2 ..
         n1-3 > ok
         = acquired 1 ..
         n1-3 > ok
         = acquired 2 ..
         acquire 3 2of:r wait 60s
         n1-3 < -",
    );
    stage
}

#[test]
fn slots_of_this_process_are_not_tried_and_pass_on_within_it() {
    all_here().play(
        "acquire 4 2of:r wait 60s
         drop 2
         n1-3 < EVAL release 1 r0 #2
         n1-3 < SET r0 #3 ..            // no other is notified
         n1-3 > 1
         n1-3 > ok
         = acquired 3 ..
         drop 3
         n1-3 < EVAL release 1 r0 #3
         n1-3 < SET r0 #4 ..
         n1-3 > 1
         n1-3 > ok
         = acquired 4 ..",
    );
}

#[test]
fn a_shutdown_leaves_no_waiter() {
    all_here().play("acquire 4 2of:r wait forever \n shutdown");
}

#[test]
fn an_outage_is_one_and_is_waited_out() {
    play(
        "n1-2 breaks
         acquire 1 3of:r
         = no quorum 1 at 1 after 0ms: ..
         jitter most
         acquire 2 3of:r wait 4ms
         +4ms
         = no quorum 2 ..",
    );
}

#[test]
fn without_random_bytes_there_is_no_permit() {
    play(
        "jitter none
         acquire 1 3of:r wait 10s
         = no randomness 1
         jitter middle",
    );
}
