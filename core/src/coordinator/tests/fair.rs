//! A fair acquire asks in the list at `n3` before it tries, and tries when that lets it.

use super::all_open;
use super::stage::Stage;
use super::waitlist::{MAILBOX, listing, lists};
use crate::shared::Settings;
use crate::wire::Login;
use std::time::Duration;

const ASKS: &str = "n1-2 < -
     n3 < SCRIPT LOAD waitlist
     n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #1 '' 20 120000 16384 60000 250 0
     n3 > text waitlist";

const WINS: &str = "n3 > listed 1 0 7 0
     n1-3 < SET r #2 NX PX 10000
     n1-3 > ok
     = acquired 1 ..";

const RELEASES: &str = "release 2 of 1
     n1-3 < EVAL release 1 r #2
     n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 '' ''
     n1-3 > 1
     = released 2
     ";

/// Request 1 has asked, and has no answer yet.
fn asks(acquire: &str) -> Stage {
    let mut stage = listing();
    stage.steps(&format!("acquire 1 {acquire} \n {ASKS}"));
    stage
}

/// Request 1 has the lock.
fn holds() -> Stage {
    let mut stage = asks("r fair wait 30s");
    stage.steps(WINS);
    stage
}

#[test]
fn it_tries_when_the_list_lets_it_and_its_release_calls_the_next() {
    holds().play(&format!("{RELEASES} \n n3 > called 1 1 4"));
}

/// Request 1 has had the lock at 57 of these caps, when its process leaves what no list serves to clients that poll, for
/// one and an eighth of them (`left.rs`). Its release has called so many waiters, and request 3 comes.
fn comes_back(cap: u32, called: u32) -> Stage {
    let cap = Duration::from_millis(cap.into());
    let often = |settings: &mut Settings| {
        lists(settings);
        settings.backoff.cap = cap;
    };
    let mut stage = all_open(Stage::with(3, &Login::default(), often), 3);
    stage.pass(57 * cap - Duration::from_millis(10));
    stage.steps(&format!(
        "acquire 1 r fair wait 30s
         {}
         {WINS}
         +20ms
         {RELEASES}
         n3 > called {called} {called} 0
         acquire 3 r fair wait 30s",
        ASKS.replace(" 250 ", &format!(" {} ", cap.as_millis()))
    ));
    stage
}

const ASKS_AGAIN: &str = "n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #3 '' ..";

/// It would lose its place to all that come meanwhile.
#[test]
fn it_asks_at_once_where_its_process_has_called_the_next() {
    comes_back(10, 1).steps(&format!("{ASKS_AGAIN} \n n1-2 < -"));
    comes_back(10, 0).steps(&format!("n1-3 < - \n +11250us \n {ASKS_AGAIN}"));
}

#[test]
fn what_is_left_to_others_is_left_whichever_master_comes_back() {
    let mut stage = comes_back(80, 0);
    stage.steps("n1 restarts \n +50ms \n n1 opens \n n1-3 < - \n +40ms");
    stage.steps(ASKS_AGAIN);
}

#[test]
fn it_waits_where_others_are_before_it_and_tries_when_it_is_called() {
    let mut stage = asks("r fair wait 30s");
    stage.play(&format!(
        "n3 > listed 0 9000 7 3 aa 5
         = 3 ahead of 1
         +126ms
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #1 7 ..
         n1-2 < -
         n3 > listed 0 9000 7 1 aa 5
         = 1 ahead of 1
         n3 > says {MAILBOX} free 00000000000000000000000000000002 r
         n1-3 < SET r #2 NX PX 10000
         n1-3 > ok
         = acquired 1 .."
    ));
}

#[test]
fn a_single_attempt_or_a_wait_that_ends_behind_others_tries_nothing() {
    for (acquire, pause) in [("r fair", ""), ("r fair wait 100ms", "+100ms")] {
        let mut stage = asks(acquire);
        stage.steps("n3 > listed 0 9000 7 2 aa 5");
        if !pause.is_empty() {
            stage.steps(&format!("= 2 ahead of 1 \n {pause}"));
        }
        stage.play(
            "= contended 1 at 0 ..
             n1-2 < -
             n3 < ZREM list:r #1
             n3 > 1",
        );
    }
}

#[test]
fn a_wait_that_ends_as_the_first_ends_with_an_attempt() {
    let mut stage = asks("r fair wait 100ms");
    stage.play(
        "n3 > listed 0 9000 7 0 aa 5
         = 0 ahead of 1
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 > subscribed r
         n3 < EVALSHA wait ..
         n3 > listed 0 9000 7 0 aa 5
         +100ms
         n1-3 < SET r #2 NX PX 10000
         n1-2 > nil
         = contended 1 at 1 after 100ms, 0 ahead: ..
         n3 < EVAL release 1 r #2
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n3 < ZREM list:r #1
         n1-3 < -",
    );
}

/// A question first would come too late where the client that has released it takes it again at once.
#[test]
fn the_first_tries_at_a_release_that_calls_no_waiter() {
    asks("r fair wait 30s").play(
        "n3 > listed 0 9000 7 0 aa 5
         = 0 ahead of 1
         n3 < SUBSCRIBE quorumlock:free:0:r
         n3 > subscribed r
         n3 < EVALSHA wait ..
         n3 > listed 0 9000 7 0 aa 5
         n3 > freed r
         n1-3 < SET r #2 NX PX 10000",
    );
}

/// Those that had refused were no quorum.
#[test]
fn a_session_that_opens_leaves_one_that_asks_to_its_answer() {
    let mut stage = asks("r fair wait 30s");
    stage.play(
        "n3 > listed 1 0 7 0
         n1-3 < SET r #2 NX PX 10000
         jitter least
         n1 breaks
         n2 > -OOM no
         n3 > ok
         n3 < EVAL release 1 r #2
         n3 > 1
         +50ms
         n3 < EVALSHA wait ..
         n1 greets
         n1 < CLIENT KILL ID 1
         n1 > 1
         n1-2 < EVAL release 1 r #2
         n1-3 < -
         n3 > listed 0 9000 7 1 aa 5
         = 1 ahead of 1",
    );
}

/// Where the key is stuck at the master of the list, the lock is won all the same, and in order.
#[test]
fn only_the_first_asks_all_masters_at_times() {
    for ahead in [0, 1, 3] {
        let mut stage = asks("r fair wait 30s");
        stage.steps(&format!("n3 > listed 0 -1 7 {ahead} aa 5 \n = {ahead} ahead of 1"));
        let mut tries = Vec::new();
        for millis in (20..=2_000).step_by(20) {
            for sent in std::mem::take(&mut stage.wires[2].unseen) {
                if sent.starts_with("SET") {
                    tries.push(millis);
                }
                let answers = ["EVALSHA wait", "SUBSCRIBE"].map(|verb| sent.starts_with(verb));
                match answers {
                    [true, _] => stage.steps(&format!("n3 > listed 0 -1 7 {ahead} aa 5")),
                    [_, true] => stage.steps("n3 > subscribed r"),
                    _ => stage.steps("n3 > nil"),
                }
            }
            stage.steps("+20ms");
        }
        match ahead {
            0 => assert!(matches!(tries[..], [1_000..=1_260, ..]), "{tries:?}"),
            _ => assert!(tries.is_empty(), "{tries:?}"),
        }
    }
}

#[test]
fn the_tasks_of_a_process_do_not_pass_it_on() {
    holds().play(
        "acquire 2 r fair wait 30s
         n1-3 < -
         release 3 of 1
         n1-3 < EVAL release 1 r #2
         n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 '' ''
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #3 '' ..
         n1-3 > 1
         = released 3
         n3 > called 1 1 4
         n3 > listed 2 20 9 4 '' 5/aa
         = 4 ahead of 2
         n1-3 < -",
    );
}

#[test]
fn where_it_can_have_no_list_it_polls() {
    for answer in ["n3 > -NOPERM no", "+200ms"] {
        let mut stage = asks("r fair wait 30s");
        stage.steps(answer);
        stage.wires[2].unseen.retain(|sent| !sent.starts_with("SUBSCRIBE"));
        stage.steps("n1-3 < SET r #2 NX PX 10000");
    }
}

/// The answer says more than the call of another, and its timer is for a master that is silent.
#[test]
fn a_call_of_another_cuts_no_question_short() {
    let mut stage = asks("r fair wait 30s");
    stage.play(&format!(
        "n3 > says {MAILBOX} watch 00000000000000000000000000000002 r
         +99ms
         n1-3 < -
         n3 > listed 0 9000 7 2 aa 5
         = 2 ahead of 1"
    ));
}

#[test]
fn a_single_attempt_is_made_where_the_master_of_the_list_is_silent() {
    let mut stage = asks("r fair");
    stage.steps("+99ms \n n1-3 < - \n +5ms \n n1-3 < SET r #2 NX PX 10000");
}

#[test]
fn one_that_too_few_masters_could_serve_asks_once_they_can() {
    listing().play(
        "n1-2 restarts
         acquire 1 r fair wait 30s
         n3 < -
         +50ms
         n1 opens
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA wait ..
         n2 < DIAL",
    );
}
