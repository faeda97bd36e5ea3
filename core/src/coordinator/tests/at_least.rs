//! Work that ends well leaves its keys for some time; whatever ends otherwise does not.
//!
//! The keys of `least 20s` live for 20,202 ms: so long, 1 % and 2 ms.

use super::{Stage, open, play};
use crate::quorum::{ClockDrift, Instant};
use crate::shared::AtLeast;
use crate::wire::Millis;
use std::time::Duration;

/// Three masters that have granted `r` to request 1, for 10 s and for 20 s at least.
const HELD: &str = "acquire 1 r least 20s
                    n1-3 < SET r #1 NX PX 20202
                    n1-3 > ok
                    = acquired 1 until 9898ms
                    ";

fn held(script: &str) {
    play(3, &format!("{HELD}{script}"));
}

/// One master, by the same request; each way to release is distinguished.
fn held_alone() -> Stage {
    let mut stage = open(1);
    stage.tokens.ways = true;
    stage.steps("acquire 1 r least 20s \n n1 < SET r #1 NX PX 20202 \n n1 > ok");
    stage.steps("= acquired 1 until 9898ms");
    stage
}

#[test]
fn what_is_left_is_rounded_up_and_has_a_drift_of_its_own() {
    let drift = ClockDrift { rate_ppm: 10_000, constant: Duration::from_millis(2) };
    let at_least = AtLeast::new(Duration::from_secs(20), drift);
    let began = Instant::from_nanos(7);
    for (nanos, millis) in [
        (7, Some(20_202)),
        (8, Some(20_202)), // 20,201.99999899 ms
        (5_000_000_007, Some(15_152)),
        (20_000_000_006, Some(3)), // 2.00000101 ms
        (20_000_000_007, None),
        (20_000_000_008, None),
    ] {
        let left = at_least.left(began, Instant::from_nanos(nanos));
        assert_eq!(left.map(Millis::span), millis.map(Duration::from_millis), "{nanos}");
    }
    let none = ClockDrift { rate_ppm: 0, constant: Duration::ZERO };
    let least = AtLeast::new(Duration::from_nanos(1), none);
    let left = least.left(began, began).map(Millis::span);
    assert_eq!(left, Some(Duration::from_millis(1)), "no PEXPIRE 0, which deletes");
}

#[test]
fn a_release_shortens_the_life_and_a_quorum_confirms_it() {
    held(
        "+5s
         finish 2 of 1
         n1-3 < EVAL shorten 1 r #1 15152
         n1 > 1
         = -
         n3 > 1
         = released 2
         n2 > 1
         debts 0",
    );
}

#[test]
fn a_drop_deletes_at_once() {
    held("+5s \n drop 1 \n n1-3 < EVAL release 1 r #1 \n n1-3 > 1 \n debts 0");
}

#[test]
fn a_release_after_that_time_deletes() {
    play(
        1,
        "acquire 1 r ttl 4s least 5s
         n1 < SET r #1 NX PX 5052
         n1 > ok
         = acquired 1 until 3958ms
         +3s
         extend 2 of 1
         n1 < EVALSHA extend 1 r #1 4000
         n1 > 1
         = extended 2 until 6958ms
         +2s
         finish 3 of 1
         n1 < EVAL release 1 r #1
         n1 > 1
         = released 3",
    );
}

/// A crash must not keep others out for so long after the last extension.
#[test]
fn a_ttl_that_is_longer_decides_and_an_extension_is_of_the_ttl() {
    play(
        1,
        "acquire 1 r ttl 20s delay 1s least 5s
         n1 < SET r #1 NX PX 21000
         n1 > ok
         = acquired 1 until 19798ms
         extend 2 of 1
         n1 < EVALSHA extend 1 r #1 21000
         n1 > 1
         = extended 2 ..
         finish 3 of 1
         n1 < EVAL shorten 1 r #1 5052
         n1 > 1
         = released 3
         acquire 4 s ttl 5s delay 1s least 9s
         n1 < SET s #2 NX PX 9092
         n1 > ok
         = acquired 4 until 4948ms
         extend 5 of 4
         n1 < EVALSHA extend 1 s #2 6000
         n1 > 1
         = extended 5 ..
         drop 4
         n1 < EVAL release 1 s #2",
    );
}

#[test]
fn a_top_up_lives_for_what_is_left_or_for_the_ttl() {
    play(
        3,
        "acquire 1 r ttl 4s least 8s
         n1-3 < SET r #1 NX PX 8082
         n1-3 > ok
         = acquired 1 until 3958ms
         +3s
         extend 2 of 1
         n1-3 < EVALSHA extend 1 r #1 4000
         n1-2 > 1
         = extended 2 ..
         n3 > 0
         n3 < EVAL top_up 1 r #1 5052
         n3 > ok
         +2s
         extend 3 of 1
         n1-3 < EVALSHA extend 1 r #1 4000
         n1-2 > 1
         = extended 3 ..
         n3 > 0
         n3 < EVAL top_up 1 r #1 4000
         n3 > ok",
    );
}

#[test]
fn a_connection_that_breaks_leaves_it_owed_with_less() {
    held_alone().play(
        "finish 2 of 1
         n1 < EVAL shorten 1 r #1 20202
         n1 breaks
         debts 1
         +60ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1 < EVAL shorten 1 r #1 20142     // of 19,940 ms that are left
         n1 > 1
         = released 2
         debts 0",
    );
}

#[test]
fn once_that_time_is_over_what_is_owed_is_a_deletion() {
    let mut stage = open(1);
    stage.tokens.ways = true;
    stage.play(
        "acquire 1 r ttl 1s least 50ms
         n1 < SET r #1 NX PX 1000
         n1 > ok
         = acquired 1 ..
         finish 2 of 1
         n1 < EVAL shorten 1 r #1 53        // 52.5 ms
         n1 breaks
         +60ms
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1 < EVAL shorten 1 r #1 0
         n1 > 0                             // it was shortened, and has expired
         debts 0
         +40ms
         = release 2 unconfirmed: no answer in time",
    );
}

#[test]
fn an_error_leaves_it_owed() {
    let mut stage = held_alone();
    stage.steps("finish 2 of 1 \n n1 < EVAL shorten 1 r #1 20202");
    stage.play(
        "n1 > -NOREPLICAS Not enough good replicas to write.
         = release 2 unconfirmed: error of the server \
           (NOREPLICAS Not enough good replicas to write.)
         debts 1
         +200ms
         n1 < EVAL shorten 1 r #1 20000
         n1 > -NOPERM this user has no permissions
         n1 < -                             // not again at once
         +200ms
         n1 < EVAL shorten 1 r #1 19798
         n1 > 1
         debts 0",
    );
}

#[test]
fn a_report_says_where_it_was_done() {
    held(
        "finish 2 of 1
         n1-3 < EVAL shorten 1 r #1 20202
         n1 > 1
         n2-3 > -MISCONF no
         = release 2 unconfirmed: shortened | error of the server (MISCONF no) | \
           error of the server (MISCONF no)
         debts 2",
    );
}

/// Nothing is called by its hash, and what was learned from it is not about a release.
#[test]
fn it_is_sent_in_full_and_teaches_nothing_about_releases() {
    let mut stage = held_alone();
    stage.play(
        "finish 2 of 1
         n1 < EVAL shorten 1 r #1 20202
         n1 > 1
         = released 2
         acquire 3 s
         n1 < SET s #2 ..
         n1 > ok
         = acquired 3 ..
         drop 3
         n1 < EVAL release 1 s #2
         n1 > 1
         acquire 4 t least 20s
         n1 < SET t #3 ..
         n1 > ok
         = acquired 4 ..
         finish 5 of 4
         n1 < EVAL shorten 1 t #3 20202
         n1 > 1
         = released 5",
    );
}

/// A server that has a command to compare and delete would delete too early.
#[test]
fn a_valkey_shortens_by_the_script() {
    let mut stage = Stage::new(1, &super::Login::default());
    stage.steps(&super::greets(1, "valkey 1", "run1"));
    stage
        .steps("= connected \n acquire 1 r least 20s \n n1 < SET .. \n n1 > ok \n = acquired 1 ..");
    stage.play("finish 2 of 1 \n n1 < EVAL shorten 1 r #1 20202 \n n1 > 1 \n = released 2");
}

#[test]
fn a_quorum_without_our_keys_is_a_loss() {
    held(
        "finish 2 of 1
         n1-3 < EVAL shorten 1 r #1 20202
         n1-2 > 0
         = release 2 lost: quorum gone: no key there | no key there | not waited for
         n3 > 1
         debts 0",
    );
}

#[test]
fn an_attempt_that_does_not_win_leaves_nothing() {
    play(
        3,
        "acquire 1 r least 20s
         n1-3 < SET r #1 NX PX 20202
         n1 > ok
         n2-3 > nil
         n1 < EVAL release 1 r #1
         = contended 1 ..
         acquire 2 r least 20s
         n1-3 < SET r #2 NX PX 20202
         cancel 2
         n1-3 < EVAL release 1 r #2",
    );
}

#[test]
fn several_and_fenced_keys_are_shortened_together() {
    let mut stage = open(1);
    stage.steps("wall 1000 \n acquire 1 a+b least 20s fenced");
    stage.steps("n1 < EVALSHA acquire 4 a b fence:a fence:b #1 20202 0 ..");
    stage.play(
        "n1 > ok
         = acquired 1 ..
         finish 2 of 1
         n1 < EVAL shorten 2 a b #1 20202
         n1 > 1
         = released 2
         acquire 3 a+b least 50ms fenced
         n1 < EVALSHA ..
         n1 > ok
         = acquired 3 ..
         +60ms
         finish 4 of 3
         n1 < EVAL release_all 4 a b fence:a fence:b #2 ..
         n1 > 1
         = released 4",
    );
}

/// The key is not free: waiters elsewhere get no message, and the one in this process tries, is
/// refused, learns for how long, and does not try over and over.
#[test]
fn no_waiter_is_notified_and_the_one_in_this_process_polls() {
    let mut stage = Stage::with(1, &super::Login::default(), |settings| {
        settings.wake_ups = true;
        settings.backoff.cap = Duration::from_secs(2);
    });
    stage.steps("n1 opens \n = connected");
    stage.steps("acquire 1 r least 20s \n n1 < SET r #1 .. \n n1 > ok \n = acquired 1 ..");
    stage.steps(
        "acquire 2 r wait 30s
         finish 3 of 1
         n1 < EVAL shorten 1 r #1 20202
         n1 < SET r #2 NX PX 10000
         n1 > 1
         = released 3
         n1 > nil
         n1 < SUBSCRIBE quorumlock:free:0:r
         n1 > subscribed r",
    );
    let mut attempts = 0;
    let before = stage.wires[0].sent.len();
    while stage.now < Instant::from_nanos(10_000_000_000) {
        stage.pass(Duration::from_millis(100));
        while let Some(sent) = stage.wires[0].unseen.pop_front() {
            let reply = match sent.split(' ').next() {
                Some("EVAL") if sent.contains("look") => ":15000\r\n",
                Some("SET") => {
                    attempts += 1;
                    "_\r\n"
                }
                Some("EVAL") if sent.contains("release") => ":0\r\n",
                _ => continue,
            };
            stage.says(0, reply.as_bytes());
        }
    }
    assert!(stage.wires[0].sent.len() > before);
    assert!((1..=15).contains(&attempts), "{attempts} attempts in ten seconds");
}

#[test]
fn a_shutdown_still_shortens() {
    held_alone().play(
        "n1 breaks
         finish 2 of 1
         = release 2 unconfirmed: down (reset by peer)
         shutdown
         debts 1
         +1ns
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1 < EVAL shorten 1 r #1 20202
         n1 < EVAL withdraw ..
         n1 > 1
         n1 < EVAL withdraw 1 quorumlock:agreement 0 20407 n1
         debts 0",
    );
}
