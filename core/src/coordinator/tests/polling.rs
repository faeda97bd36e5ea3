//! Polling behind messages: seldom behind a long hold, as often as ever once there is news.

use super::asking::{REFUSED, asking_with};
use super::stage::Stage;
use super::waking::{WAITS, open};
use super::words::reply;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const LIFE: Duration = Duration::from_secs(10);

/// What was sent while another client held `r`.
struct Sent {
    commands: usize,
    /// When all nodes were asked, counted from the beginning.
    asked_all: Vec<Duration>,
    /// When only the first was.
    probed: Vec<Duration>,
}

impl Sent {
    /// Returns when attempts began, in order.
    fn attempts(&self) -> Vec<Duration> {
        let mut attempts = [&*self.asked_all, &*self.probed].concat();
        attempts.sort_unstable();
        attempts
    }

    /// Returns the times between one attempt and the next.
    fn pauses(&self) -> Vec<Duration> {
        self.attempts().windows(2).map(|two| two[1] - two[0]).collect()
    }
}

/// Lets another client hold `r` for a while; `life` is what its key has left after a time.
fn holds(stage: &mut Stage, span: Duration, life: impl Fn(Duration) -> Duration) -> Sent {
    let mut sent = Sent { commands: 0, asked_all: Vec::new(), probed: Vec::new() };
    let mut passed = Duration::ZERO;
    while passed < span {
        let asks = |stage: &Stage, node: usize| {
            stage.wires[node].unseen.iter().any(|asked| asked.starts_with("SET "))
        };
        match [0, 1, 2].map(|node| asks(stage, node)) {
            [true, true, true] => sent.asked_all.push(passed),
            [false, false, true] => sent.probed.push(passed),
            neither => assert_eq!(neither, [false; 3], "after {passed:?}"),
        }
        for node in 0..3 {
            while let Some(asked) = stage.wires[node].unseen.pop_front() {
                // What is sent for the connection's sake does not count: the heartbeat.
                let (counts, answer) = match asked.split(' ').next() {
                    _ if asked.starts_with("EVAL look") => {
                        (1, life(passed).as_millis().to_string())
                    }
                    Some("SET" | "EVAL" | "EVALSHA") => (1, stage.answer(node, &asked)),
                    _ => (0, stage.answer(node, &asked)),
                };
                sent.commands += counts;
                stage.says(node, &reply(&answer));
                stage.pump();
            }
        }
        stage.pass(MS);
        passed += MS;
    }
    sent
}

#[test]
fn behind_a_long_hold_a_waiter_asks_seldom() {
    let mut stage = open(3);
    stage.steps(&WAITS.replace("10s", "100s"));
    holds(&mut stage, 2 * LIFE, |_| LIFE);
    let sent = holds(&mut stage, LIFE, |_| LIFE);
    assert!(sent.commands <= 40, "{} in {LIFE:?}", sent.commands);
    assert!(sent.pauses().iter().all(|pause| *pause <= 2005 * MS), "{:?}", sent.pauses());
    // As long as that, where the jitter is the most.
    assert!(sent.pauses().iter().any(|pause| *pause >= 1900 * MS), "{:?}", sent.pauses());
    // A key that is stuck on the first keeps no client out for long.
    assert!(sent.asked_all.len() >= 2, "{:?}", sent.asked_all);
}

#[test]
fn a_pause_is_a_small_share_of_the_wait() {
    let mut stage = open(3);
    stage.steps(&WAITS.replace("10s", "100s"));
    let sent = holds(&mut stage, 2 * LIFE, |_| LIFE);
    for two in sent.attempts().windows(2) {
        let most = (two[0] / 8).max(250 * MS);
        assert!(two[1] - two[0] <= most + 5 * MS, "{two:?}");
    }
}

/// The holder has ended without a message, and its keys expire.
#[test]
fn a_long_pause_ends_when_the_key_expires() {
    let mut stage = open(3);
    stage.steps(&WAITS.replace("10s", "100s"));
    let until = 2 * LIFE;
    let life = |passed| until.saturating_sub(passed).min(LIFE);
    let sent = holds(&mut stage, until + 20 * MS, life);
    assert!(sent.attempts().iter().any(|at| *at >= until), "{:?} of {until:?}", sent.pauses());
}

/// A master rounds down: a key that is about to expire has 0 ms left, and refuses all the same.
#[test]
fn a_key_in_its_last_millisecond_is_asked_for_again_soon() {
    let mut stage = open(3);
    stage.steps(&WAITS.replace("10s", "100s"));
    holds(&mut stage, 2 * LIFE, |_| LIFE);
    let sent = holds(&mut stage, 3 * LIFE / 10, |_| Duration::ZERO);
    assert!(sent.attempts().len() > 100, "{:?}", sent.pauses());
    assert!(sent.pauses().iter().all(|pause| *pause <= 10 * MS), "{:?}", sent.pauses());
}

#[test]
fn after_a_message_it_asks_as_often_as_before() {
    let mut stage = open(3);
    stage.steps(&WAITS.replace("10s", "100s"));
    holds(&mut stage, 2 * LIFE, |_| LIFE);
    stage.steps("n3 > freed r");
    let sent = holds(&mut stage, Duration::from_secs(1), |_| LIFE);
    assert_eq!(sent.probed.first(), Some(&Duration::ZERO), "at once");
    assert!(sent.pauses().iter().all(|pause| *pause <= 255 * MS), "{:?}", sent.pauses());
    assert!(!sent.asked_all.is_empty(), "a key may be stuck on the first");
}

/// Its user may not send messages, so no other client of that user sends one, either.
#[test]
fn where_messages_are_denied_it_asks_as_often_as_before() {
    let mut stage = asking_with(250 * MS);
    stage.steps(&format!(
        "acquire 1 r wait 100s
         {REFUSED}
         n3 > stands 9000 00000000000000aa0000000000000001
         n3 < PUBLISH quorumlock:free:0:@00000000000000aa ask r
         n3 > 9000
         n3 > nil
         n3 > -NOPERM no"
    ));
    let sent = holds(&mut stage, 2 * LIFE, |_| LIFE);
    assert!(sent.pauses().iter().all(|pause| *pause <= 255 * MS), "{:?}", sent.pauses());
}

/// A message may have been missed with the connection that it would have come over.
#[test]
fn without_the_master_that_tells_it_polls_soon() {
    let mut stage = open(3);
    stage.steps(&WAITS.replace("10s", "100s"));
    holds(&mut stage, 2 * LIFE, |_| LIFE);
    stage.steps("n3 breaks");
    for _ in 0..250 {
        stage.pass(MS);
        if stage.wires[0].unseen.iter().any(|asked| asked.starts_with("SET ")) {
            return;
        }
    }
    panic!("no master is asked in 250 ms");
}

/// An attempt of the last moments of a wait may be its last, so that its refusal must tell how long
/// the lock is held; an earlier one need not ask.
#[test]
fn an_attempt_that_the_wait_ends_during_tells_for_how_long() {
    let mut stage = open(3);
    stage.steps(&WAITS.replace("wait 10s", "wait 220ms"));
    stage.play(
        "+19ms
         n3 > freed r
         n3 < SET r #3 NX PX 10000
         n3 > nil
         +1ms
         n3 > freed r
         n3 < EVAL look 1 r
         n3 < SET r #4 NX PX 10000
         +5ms
         n1-2 < EVAL look 1 r
         n1-2 < SET r #4 NX PX 10000
         +195ms                         // the wait is over, and its last attempt is not
         n1 > 700
         n1 > nil
         n3 > 800
         n3 > nil
         n2 < EVAL release 1 r #4
         = contended 1 at 4 after 220ms: held, expires in 700 ms | not waited for | \
           held, expires in 800 ms",
    );
}
