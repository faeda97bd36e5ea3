//! A hold that is given back stays idle, and goes to the next acquire without the masters. By default, its
//! validity is 9898ms, and half of that is 4949ms.

use super::{open, play, telling};
use crate::quorum::Instant;

/// A lock that is kept warm is won by request 1.
const WON: &str = "
    acquire 1 r warm 2s
    n1 < SET r #1 NX PX 10000
    n1 > ok
    = acquired 1 until 9898ms\n";

fn warm(script: &str) {
    play(1, &format!("{WON}{script}"));
}

#[test]
fn what_was_given_back_goes_to_the_next_acquire_without_a_command() {
    warm(
        "+1s
         back 1
         +1s
         acquire 2 r                    // at once, though it does not wait
         = acquired 2 until 9898ms
         n1 < -
         release 3 of 2                 // it has not asked for a warm lock: not that it matters here
         n1 < EVAL release 1 r #1
         n1 > 1
         = released 3",
    );
}

#[test]
fn a_hold_of_an_acquire_that_has_not_asked_for_it_is_released_when_it_is_given_back() {
    play(
        1,
        "acquire 1 r
         n1 < SET r #1 NX PX 10000
         n1 > ok
         = acquired 1 ..
         back 1
         n1 < EVAL release 1 r #1",
    );
    warm(
        "back 1
         acquire 2 r
         = acquired 2 ..
         back 2
         n1 < EVAL release 1 r #1",
    );
}

#[test]
fn what_is_idle_is_released_after_its_time() {
    warm(
        "+1s
         back 1
         next 3000ms
         +1999ms
         n1 < -
         +1ms
         n1 < EVAL release 1 r #1
         acquire 2 r
         n1 < SET r #2 NX PX 10000
         n1 > 1
         n1 > ok
         = acquired 2 ..",
    );
}

#[test]
fn what_is_idle_is_released_at_half_of_its_validity_at_the_latest() {
    warm(
        "+4s
         back 1
         next 4949ms
         +949ms
         n1 < EVAL release 1 r #1",
    );
    warm("+4948ms \n back 1 \n acquire 2 r \n = acquired 2 until 9898ms \n n1 < -");
    warm("+4949ms \n back 1 \n n1 < EVAL release 1 r #1");
}

#[test]
fn a_guard_that_lapsed_is_released_when_it_is_given_back() {
    warm("+9898ms \n = lost 1: lapsed \n back 1 \n n1 < EVAL release 1 r #1");
}

#[test]
fn the_hold_of_the_next_guard_ends_at_its_deadline_and_its_loss_is_its_own() {
    warm(
        "back 1
         acquire 2 r
         = acquired 2 until 9898ms
         +9898ms
         = lost 2: lapsed
         drop 1                         // it is over for good: nothing of it is left
         n1 < -
         drop 2
         n1 < EVAL release 1 r #1",
    );
}

#[test]
fn nothing_extends_what_is_idle_and_the_keeper_of_the_next_guard_does() {
    play(
        1,
        "jitter least
         acquire 1 r warm 4s keep 60s
         n1 < SET r #1 NX PX 10000
         n1 > ok
         = acquired 1 until 9898ms
         back 1
         next 4000ms
         +3999ms
         n1 < -
         acquire 2 r keep forever
         = acquired 2 until 9898ms
         +0ms
         n1 < EVALSHA extend 1 r #1 10000
         n1 > 1
         = extended by its keeper until 13897ms",
    );
}

#[test]
fn an_extension_that_was_under_way_moves_no_deadline_of_the_next_guard() {
    warm(
        "extend 2 of 1
         n1 < EVALSHA extend 1 r #1 10000
         back 1
         acquire 3 r
         = acquired 3 until 9898ms
         +5ms
         n1 > 1
         = extend 2 lost",
    );
}

#[test]
fn those_that_wait_in_this_process_get_it_one_after_the_other_without_a_command() {
    warm(
        "acquire 2 r wait 1s warm 2s
         acquire 3 r wait 1s warm 2s
         back 1
         = acquired 2 until 9898ms
         back 2
         = acquired 3 until 9898ms
         n1 < -
         +4949ms                        // the masters were asked long ago
         acquire 4 r wait 1s
         back 3
         n1 < EVAL release 1 r #1
         n1 < SET r #2 NX PX 10000
         n1 > 1
         n1 > ok
         = acquired 4 ..",
    );
}

#[test]
fn a_release_is_a_release() {
    warm(
        "acquire 2 r wait 1s
         release 3 of 1
         n1 < EVAL release 1 r #1
         n1 < SET r #2 NX PX 10000
         n1 > 1
         = released 3
         n1 > ok
         = acquired 2 ..",
    );
    warm("drop 1 \n n1 < EVAL release 1 r #1");
}

/// Acquires that what is idle does not suit: they ask the masters, behind its release.
const OTHERS: [(&str, &str); 9] = [
    ("r ttl 5s", "SET r #2 NX PX 5000"),
    ("r label me", "SET r #2.."),
    ("r fenced", "EVALSHA acquire 2 r .."),
    ("r delay 2s", "SET r #2 NX PX 12000"),
    ("r least 20s", "SET r #2 NX .."),
    ("r fair", "SET r #2 NX PX 10000"),
    ("write:r", "SET r #2 NX PX 10000"),
    ("read:r", "SCRIPT LOAD acquire_read"),
    ("q+r", "EVALSHA acquire 2 q r #2 10000 0"),
];

#[test]
fn what_is_idle_makes_way_for_an_acquire_that_it_does_not_suit() {
    for (acquire, command) in OTHERS {
        let mut stage = open(1);
        stage.steps(WON);
        stage.steps(&format!(
            "back 1
             acquire 2 {acquire}
             n1 < EVAL release 1 r #1
             n1 < {command}"
        ));
    }
}

#[test]
fn what_is_not_a_plain_lock_of_one_resource_is_not_kept_warm() {
    for (acquire, _) in &OTHERS[3..] {
        let mut stage = open(1);
        stage.steps(&format!("acquire 1 {acquire} warm 2s"));
        while stage.unseen.is_empty() {
            // The answer to the acquire, or to the SCRIPT LOAD before it.
            stage.steps("n1 > ok");
        }
        stage.steps("= acquired 1 .. \n back 1");
        let released = |sent: &String| sent.contains("release");
        assert!(
            stage.wires[0].unseen.iter().any(released),
            "{acquire}: {:?}",
            stage.wires[0].unseen
        );
    }
}

#[test]
fn an_acquire_of_several_that_waits_for_another_key_has_what_is_idle_released() {
    play(
        1,
        &format!(
            "{WON}
             back 1
             acquire 2 q
             n1 < SET q #2 NX PX 10000
             n1 > ok
             = acquired 2 ..
             acquire 3 q+r wait 1s
             n1 < EVAL release 1 r #1
             n1 > 1
             drop 2
             n1 < EVAL release 1 q #2
             n1 < EVALSHA acquire 2 q r #3 10000 0"
        ),
    );
    let behind_a_holder = format!(
        "{WON}
         back 1
         acquire 2 q
         n1 < SET q #2 NX PX 10000
         n1 > ok
         = acquired 2 ..
         acquire 3 q+r
         n1 < EVAL release 1 r #1
         +0ms
         = contended 3 .."
    );
    play(1, &behind_a_holder);
}

#[test]
fn a_shutdown_releases_what_is_idle_and_what_is_given_back_after_it() {
    let mut stage = open(1);
    stage.steps(WON);
    stage.steps("back 1 \n shutdown \n n1 < EVAL release 1 r #1");
    let mut stage = open(1);
    stage.steps(WON);
    stage.steps("shutdown \n back 1 \n n1 < EVAL release 1 r #1");
}

#[test]
fn what_is_adopted_elsewhere_or_detached_is_not_idle() {
    warm(
        "detach 2 of 1
         n1 < EVALSHA extend 1 r #1 10000
         n1 > 1
         = detached 2
         acquire 3 r
         n1 < SET r #2 NX PX 10000",
    );
}

/// Returns for how many gives-back in a row a hold passes on without a command, if a client in another
/// process is known to wait, or not. Each time another acquire waits here.
fn passed_on(elsewhere: bool) -> u64 {
    let mut stage = open(1);
    stage.steps(WON);
    stage.machine.at.waiters.local_queue.heard("r", elsewhere);
    for holder in 1..=20 {
        let next = holder + 1;
        stage.steps(&format!("acquire {next} r wait 1s warm 2s \n back {holder}"));
        if !stage.wires[0].unseen.is_empty() {
            return holder - 1;
        }
        stage.unseen.clear();
    }
    20
}

#[test]
fn a_client_elsewhere_that_is_known_to_wait_has_its_turn_after_eight() {
    assert_eq!((passed_on(true), passed_on(false)), (7, 20));
}

#[test]
fn what_a_client_elsewhere_is_known_to_wait_for_is_not_left_idle() {
    let mut stage = open(1);
    stage.steps(WON);
    stage.machine.at.waiters.local_queue.heard("r", true);
    stage.play("back 1 \n n1 < EVAL release 1 r #1");
}

#[test]
fn the_release_after_half_of_the_validity_notifies_those_that_wait_elsewhere() {
    let mut stage = telling();
    stage.steps(
        "acquire 1 r warm 2s
         n1-3 < SET r #1 NX PX 10000
         n1-3 > ok
         = acquired 1 ..
         acquire 2 r wait 30s
         +4949ms
         back 1
         n1-2 < EVAL release 1 r #1
         n1-2 < SET r #2 NX PX 10000
         n3 < EVAL release 1 r #1",
    );
    let sent = &stage.wires[2].unseen;
    assert!(sent.iter().any(|sent| sent.starts_with("PUBLISH")), "{sent:?}");
}

#[test]
fn a_machine_that_was_stopped_hands_nothing_over_after_the_time_of_what_is_idle() {
    let mut stage = open(1);
    stage.steps(WON);
    stage.steps("back 1");
    stage.now = Instant::from_nanos(2_000_000_000);
    stage.steps(
        "acquire 2 r
         n1 < EVAL release 1 r #1
         n1 < SET r #2 NX PX 10000",
    );
}
