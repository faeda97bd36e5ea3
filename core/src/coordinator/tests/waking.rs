//! Wake-ups between processes, and one node first. Of three nodes, `n3` is asked first for `r`, and
//! it notifies when `r` becomes free.

use super::Stage;
use super::stage::MAILBOX;
use crate::shared::Settings;
use crate::wire::Login;

pub(super) fn open(masters: usize) -> Stage {
    let mut stage = Stage::with(masters, &Login::default(), |settings| settings.wake_ups = true);
    stage.steps(&format!("n1-{masters} opens \n = connected"));
    stage
}

fn play(script: &str) {
    open(3).play(script);
}

/// Another client holds `r`, and acquire 1 waits for it and listens.
pub(super) const WAITS: &str = "jitter most
     acquire 1 r wait 10s
     n1-3 < SET r #1 NX PX 10000
     n1-3 > nil
     n3 < EVAL release 1 r #1
     n3 < SUBSCRIBE quorumlock:free:0:r
     n3 > 0
     n3 > subscribed r
     n3 < EVAL look 1 r                        // it may have become free before
     n3 < SET r #2 NX PX 10000
     n3 > 9000
     n3 > nil\n";

pub(super) fn waits() -> Stage {
    let mut stage = open(3);
    stage.steps(WAITS);
    stage
}

/// No message comes when a master is back.
#[test]
fn a_waiter_without_a_quorum_does_not_listen() {
    play(
        "jitter most
         acquire 1 r wait 10s
         n1-3 < SET r #1 NX PX 10000
         n1-2 > -LOADING
         n1-3 < EVAL release 1 r #1
         n3 > ok
         n3 > 1
         n1-2 > 0
         n1-3 < -",
    );
}

#[test]
fn a_waiter_listens_at_one_master_and_then_tries_once_more() {
    waits().play(
        "next 250ms                     // messages tell the rest: seldom
         +249ms
         n1-3 < -
         +1ms
         n1-3 < SET r #3 NX PX 10000    // all of them, after one that was asked first
         n1-3 > ok
         = acquired 1 ..",
    );
}

#[test]
fn a_message_makes_the_attempt_at_once() {
    waits().play(
        "+1ms
         n3 > freed r
         n3 < SET r #3 NX PX 10000
         n1 < -
         n3 > ok
         n1 < SET r #3 NX PX 10000
         n2 < SET r #3 NX PX 10000
         n1 > ok
         = acquired 1 until 9899ms",
    );
}

#[test]
fn one_that_comes_during_an_attempt_is_not_slept_through() {
    waits().play(
        "+1ms
         n3 > freed r
         n3 < SET r #3 NX PX 10000
         n3 > freed r                   // and taken again, and freed again
         n3 > nil
         +0ms
         n3 < SET r #4 NX PX 10000",
    );
}

#[test]
fn what_the_first_node_refuses_the_others_are_not_asked() {
    waits().play(
        "+249ms
         n3 > freed r
         n3 < SET r #3 NX PX 10000
         n3 > nil
         n1 < -
         n2 < -
         +1ms
         n3 > freed r
         n1-3 < SET r #4 NX PX 10000   // as long as the longest pause after the first",
    );
}

#[test]
fn the_last_attempt_of_a_wait_asks_all() {
    play(
        "jitter most
         acquire 1 r wait 5ms
         n1-3 < SET ..
         n1-3 > nil
         n3 < EVAL ..
         n3 < SUBSCRIBE ..
         n3 > 0
         n3 > -NOPERM no
         +5ms
         n1-3 < EVAL look 1 r
         n1-3 < SET ..
         n1-3 > 9000
         n1-3 > nil
         n3 < EVAL ..
         = contended 1 at 2 after 5ms: held, expires in 9 s | held, expires in 9 s | not waited for
         n3 > 0",
    );
}

/// The attempt may have refused another client, which listens now and would sleep until its next
/// poll.
#[test]
fn a_cancelled_attempt_notifies_others_if_no_client_waits_here() {
    play(
        "acquire 1 r wait 10s
         n1-3 < SET r #1 NX PX 10000
         n1 > ok
         cancel 1
         n1-3 < EVAL release 1 r #1
         n3 < PUBLISH quorumlock:free:0:r ..
         n2-3 > ok
         n1-3 > 1
         n3 > 0
         acquire 2 r wait 10s
         acquire 3 r wait 10s
         n1-3 < SET r #2 NX PX 10000
         cancel 2
         n1-3 < EVAL release 1 r #2     // 3 goes at once
         n1-3 < SET r #3 NX PX 10000",
    );
}

#[test]
fn a_release_notifies_others_if_no_client_waits_here() {
    play(
        "acquire 1 r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         drop 1
         n1-3 < EVAL release 1 r #1
         n3 < PUBLISH quorumlock:free:0:r ..      // where they listen
         n1-3 > 1
         n3 > 2
         debts 0
         acquire 2 r+s
         n1-3 < EVALSHA ..
         n1-3 > ok
         = acquired 2 ..
         release 3 of 2
         n1-3 < EVAL release_all 2 r s #2
         n1 < PUBLISH quorumlock:free:0:s ..
         n3 < PUBLISH quorumlock:free:0:r ..
         n1-2 > 1
         = released 3
         n3 > 1
         n1 > -NOPERM no
         n3 > 0",
    );
}

/// Three masters, each with a database of its own: channels know no databases, so their names
/// contain them.
#[test]
fn releases_and_waiters_share_a_channel_in_any_database() {
    let login = |database| Login { database, ..Login::default() };
    let change = |settings: &mut Settings| settings.wake_ups = true;
    let mut stage = Stage::of_logins(&[login(0), login(0), login(7)], change);
    stage.steps(
        "n1-2 opens
         n3 < DIAL
         n3 connects
         n3 < HELLO ..
         n3 < SELECT 7
         n3 > hello 1
         n3 > ok
         n3 asks
         n3 > server run3
         n3 > master
         n3 > memory
         n3 > text c0ffee
         n3 > text c0ffee
         n3 > confirmed
         = connected",
    );
    stage.play(
        "acquire 1 r
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 ..
         drop 1
         n1-3 < EVAL release 1 r #1
         n3 < PUBLISH quorumlock:free:7:r ..
         n1-3 > 1
         n3 > 0
         acquire 2 r wait 10s
         n1-3 < SET r #2 ..
         n1-3 > nil
         n3 < EVAL release 1 r #2
         n3 < SUBSCRIBE quorumlock:free:7:r
         cancel 2
         n3 > 0
         n3 > -NOPERM no",
    );
}

/// Passes `r` on from acquire to acquire; where others are notified of that, so many listen at
/// `n1`.
fn pass_on(stage: &mut Stage, from: u64, to: u64, listeners: Option<u64>) {
    let (publish, answer) = match listeners {
        Some(listeners) => ("n1 < PUBLISH quorumlock:free:0:r ..", format!("n1 > {listeners}")),
        None => ("", String::new()),
    };
    for holder in from..=to {
        stage.steps(&format!(
            "drop {holder}
             n1 < EVAL release 1 r ..
             {publish}
             n1 < SET r ..
             n1 > 1
             {answer}
             n1 > ok
             = acquired {} ..",
            holder + 1,
        ));
    }
}

fn many_want_it() -> Stage {
    let mut stage = open(1);
    stage.steps("acquire 1 r \n n1 < SET .. \n n1 > ok \n = acquired 1 ..");
    (2..40).for_each(|request| stage.steps(&format!("acquire {request} r wait 10s")));
    stage
}

#[test]
fn what_passes_on_here_is_announced_to_others_every_eighth_time() {
    let mut stage = many_want_it();
    pass_on(&mut stage, 1, 7, None);
    pass_on(&mut stage, 8, 8, Some(0));
    pass_on(&mut stage, 9, 15, None);
    pass_on(&mut stage, 16, 16, Some(0));
}

#[test]
fn if_a_client_has_asked_one_steps_back() {
    let mut stage = many_want_it();
    pass_on(&mut stage, 1, 7, None);
    pass_on(&mut stage, 8, 8, Some(2));
    stage.steps(&format!("n1 > says {MAILBOX} ask r \n = wanted 9"));
    pass_on(&mut stage, 9, 15, None);
    stage.play(
        "drop 16
         n1 < EVAL release 1 r ..
         n1 < PUBLISH ..
         n1 < -
         n1 > 1
         n1 > 2
         +3.7ms
         n1 < -
         +50us
         n1 < SET r ..                  // one first, and there is but one
         n1 > nil
         n1 < SUBSCRIBE ..",
    );
}

#[test]
fn no_client_listens_any_more_to_what_none_wants() {
    let mut stage = waits();
    assert_eq!(stage.machine.at.waiters.topics(), 1);
    stage.steps(
        "cancel 1
         +10s
         n1-3 beats
         n1 > server run1
         n3 > server run3
         n2 > server run2
         n1-3 > known
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n3 > unsubscribed r
         n3 > freed r                   // late, and harmless
         no faults",
    );
    assert_eq!(stage.machine.at.waiters.topics(), 0);
    stage.play("");
}

#[test]
fn a_waiter_whose_connection_breaks_listens_at_another_master() {
    waits().play(
        "n3 breaks
         +20ms                          // there are no messages now
         n1-2 < EVAL look 1 r
         n1-2 < SET ..
         n1-2 > -1
         n1-2 > nil
         n2 < EVAL ..
         n2 < SUBSCRIBE quorumlock:free:0:r
         n2 > 0
         n2 > subscribed r
         n2 < EVAL look 1 r
         n2 < SET ..",
    );
}

#[test]
fn an_unasked_confirmation_closes_the_connection() {
    play(
        "n1 > subscribed r
         n1 < CLOSE
         fault n1 down the server confirmed a subscription that nobody asked for",
    );
}
