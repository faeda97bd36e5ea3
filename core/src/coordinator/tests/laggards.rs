//! A master that is slow to answer is not asked first, and notifies those all the same that ask it first.

use super::waitlist::{REFUSED, listing, lists};
use super::{Login, Stage, greets};
use std::time::Duration;

const HEARTBEAT: Duration = Duration::from_secs(10);

/// Three heartbeats, which the master that is asked first for `r` answers so late.
fn beats(stage: &mut Stage, late: Duration) {
    let mut pause = HEARTBEAT;
    for _ in 0..3 {
        stage.steps(&format!("+{}ms \n n1-3 beats", pause.as_millis()));
        for node in [1, 2] {
            stage.steps(&format!("n{node} > server run{node} \n n{node} > known"));
        }
        stage.steps(&format!("+{}ms \n n3 > server run3 \n n3 > known", late.as_millis()));
        pause = HEARTBEAT - late;
    }
}

/// Request 1 is refused, asks in the list at this node, and has the lock.
fn wins(stage: &mut Stage, node: u8) {
    stage.steps(&format!(
        "acquire 1 r wait 30s
         n1-3 < SET r #1 NX PX 10000
         n1-2 > nil
         n3 < EVAL release 1 r #1
         n{node} < SUBSCRIBE quorumlock:free:0:r
         n{node} < SCRIPT LOAD waitlist
         n{node} < EVALSHA wait ..
         n3 > nil
         n3 > 0
         n{node} > subscribed r
         n{node} > text waitlist
         n{node} > listed 1 0 9 0
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n1-3 > held -2 -
         n1-3 > ok
         = acquired 1 ..
         n{node} < UNSUBSCRIBE quorumlock:free:0:r
         n{node} > unsubscribed r
         drop 1
         n1-3 < EVAL release .."
    ));
}

#[test]
fn waiters_stand_at_another_master_than_a_laggard_and_releases_call_at_both() {
    let mut stage = listing();
    beats(&mut stage, Duration::from_millis(20));
    wins(&mut stage, 2);
    // It calls at both, and finds no waiter.
    stage.play(
        "n2 < EVALSHA call ..
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA call ..
         n1-3 > 1
         n2 > called 0 0 0
         n3 > text waitlist
         n3 > called 0 0 0",
    );
}

#[test]
fn a_master_that_was_slow_once_is_no_laggard() {
    let mut stage = listing();
    beats(&mut stage, Duration::ZERO);
    stage.steps("+20ms");
    wins(&mut stage, 3);
    stage.play("n3 < EVALSHA call .. \n n1-3 > 1 \n n3 > called 0 0 0");
}

/// Once an answer of a master was measured, a waiter in front waits for so many of its round trips before it asks all.
#[test]
fn a_waiter_in_front_waits_for_the_answer_of_a_master_that_is_far_away() {
    let mut stage = Stage::with(3, &Login::default(), lists);
    stage.steps("n1-2 opens");
    stage.steps(&greets(3, "hello 9", "run3").replace("asks", "asks \n +40ms"));
    stage.steps("= connected");
    stage.steps(&REFUSED.replace("n3 > nil", "+40ms \n n3 > nil"));
    stage.steps(
        "+79ms
         n1-3 < -
         +1ms
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n1-2 > -2
         n1-2 > ok
         = acquired 1 ..",
    );
}
