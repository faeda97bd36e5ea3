//! A waiter stands in a list at `n3`, which tells of `r`, and a release calls the first of the list.

use super::all_open;
pub(super) use super::stage::MAILBOX;
use super::stage::Stage;
use crate::shared::Settings;
use crate::wire::Login;

pub(super) fn lists(settings: &mut Settings) {
    settings.wake_ups = true;
    settings.waitlists = Some("list:".into());
}

/// Opens three masters where waiters stand in lists.
pub(super) fn listing() -> Stage {
    all_open(Stage::with(3, &Login::default(), lists), 3)
}

/// Request 1 is refused, and asks in the list, of which it knows nothing yet.
pub(super) const REFUSED: &str = "acquire 1 r wait 30s
     n1-3 < SET r #1 NX PX 10000
     n1-2 > nil
     n3 < EVAL release 1 r #1
     n3 < SUBSCRIBE quorumlock:free:0:r
     n3 < SCRIPT LOAD waitlist
     n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 '' 20 120000 16384 60000 250 0
     n3 > nil
     n3 > 0
     n3 > subscribed r
     n3 > text waitlist";

/// Request 1 stands in the list behind so many.
pub(super) fn behind(ahead: usize) -> Stage {
    let mut stage = listing();
    stage.steps(REFUSED);
    stage.steps(&format!(
        "n3 > listed 0 9000 7 {ahead} 00000000000000aa 5
         = {ahead} ahead of 1
         n3 < UNSUBSCRIBE quorumlock:free:0:r          // which others are called for
         n3 > unsubscribed r"
    ));
    stage
}

/// Request 1 is the first of the list, and listens.
pub(super) fn first() -> Stage {
    let mut stage = listing();
    stage.steps(REFUSED);
    stage.steps("n3 > listed 0 9000 7 0 aa 5 \n = 0 ahead of 1");
    stage
}

/// Request 1 is called, and tries.
pub(super) fn tries() -> Stage {
    let mut stage = behind(8);
    stage.steps(&format!(
        "n3 > says {MAILBOX} free 00000000000000000000000000000003 r
         n1-3 < SET r #3 NX PX 10000"
    ));
    stage
}

/// The same, and it wins under its third token.
fn called() -> Stage {
    let mut stage = tries();
    stage.steps("n1-3 > ok \n = acquired 1 ..");
    stage
}

/// Request 1 releases, for the first time by a call, which finds no waiter.
pub(super) const LAST: &str = "drop 1
     n1-3 < EVAL release ..
     n3 < EVALSHA call ..
     n1-3 > 1
     n3 > called 0 0 0";

/// The same releases, and has called a waiter.
pub(super) fn has_called() -> Stage {
    let mut stage = called();
    stage.steps(
        "release 2 of 1
         n1-3 < EVAL release 1 r #3
         n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 '' ''
         n1-3 > 1
         = released 2
         ",
    );
    stage
}

#[test]
fn the_further_back_a_waiter_stands_the_more_seldom_it_asks() {
    for (ahead, pause) in [(4, "187500us"), (8, "375ms"), (80, "3750ms")] {
        let mut stage = behind(ahead);
        stage.play(&format!(
            "+{pause}
             n1-2 < -
             n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 20 120000 16384 60000 250 0
             cancel 1
             n3 < ZREM list:r #2
             n3 > listed 0 9000 7 3 aa 5
             n3 > 1"
        ));
    }
}

/// A holder that has died calls no waiter, and the last, which watches calls, may have died, too.
#[test]
fn no_pause_ends_much_later_than_the_key() {
    for (answer, pause) in [
        ("0 3000", 4_000_000), // and up to 2 s, so that not all of a crowd ask at once
        ("0 -1", 4_687_500),   // which has no end
        ("2 19", 3_019_000), // the waiter that was called may have the lock for as long as this one would
        ("0 9000", 4_687_500), // by its place
    ] {
        let mut stage = listing();
        stage.steps(
            &REFUSED.replace("r wait 30s", "r ttl 2s wait 30s").replace("PX 10000", "PX 2000"),
        );
        stage.steps(&format!(
            "n3 > listed {answer} 7 100 00000000000000aa 5
             = 100 ahead of 1
             n3 < UNSUBSCRIBE quorumlock:free:0:r
             n3 > unsubscribed r
             +{}us
             n1-3 < -
             +1us
             n1-2 < -
             n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 20 120000 16384 60000 250 0",
            pause - 1
        ));
    }
}

#[test]
fn the_waiter_that_is_called_asks_all_and_its_release_calls_the_next() {
    has_called().play("n3 > called 1 1 4");
}

#[test]
fn what_passes_on_within_a_process_is_asked_for_in_no_list() {
    let mut stage = called();
    stage.play(
        "acquire 3 r wait 30s
         drop 1
         n1-3 < EVAL release ..
         n1-3 < SET r #4 NX PX 10000
         n1-3 > 1
         n1-3 > ok
         = acquired 3 ..
         drop 3
         n1-3 < EVAL release ..
         n3 < EVALSHA call ..
         n1-3 > 1
         n3 > called 0 0 0",
    );
}

#[test]
fn what_is_known_to_be_waited_for_is_asked_for_in_its_list_first() {
    let mut stage = has_called();
    stage.play(
        "n3 > called 1 1 4
         acquire 3 r wait 30s
         n1-2 < -
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #4 '' 20 120000 16384 60000 250 0
         n3 > listed 1 0 9 0
         n1-3 < SET r #5 NX PX 10000
         n1-3 > ok
         = acquired 3 ..
         acquire 4 s wait 30s                // of this one, nothing is known
         n1-3 < SET s #6 NX PX 10000
         n1-3 > ok
         = acquired 4 ..
         drop 4
         n1-3 < EVAL release 1 s #6
         n1 < SCRIPT LOAD waitlist
         n1 < EVALSHA call ..
         n1-3 > 1
         n1 > text waitlist
         n1 > called 0 0 0
         drop 3
         n1-3 < EVAL release 1 r #5
         n3 < EVALSHA call ..
         n1-3 > 1
         n3 > called 1 1 4",
    );
}

#[test]
fn one_that_does_not_wait_asks_all_masters() {
    has_called().play(
        "n3 > called 1 1 4
         acquire 3 r
         n1-3 < SET r #4 NX PX 10000
         n1-2 > nil
         n3 < EVAL release 1 r #4
         = contended 3 ..
         n3 > nil
         n3 > 0",
    );
}

#[test]
fn where_a_call_finds_no_waiter_the_next_acquire_asks_in_no_list() {
    let answers = [("called 0 0 0", false), ("called 0 3 0", true), ("called 0 0 1", true)];
    for (answer, is_asked_first) in answers {
        let mut stage = has_called();
        stage.steps(&format!("n3 > {answer} \n acquire 3 r wait 30s"));
        if is_asked_first {
            stage.steps("n3 < EVALSHA wait .. \n n3 > listed 1 0 9 0");
        }
        let token = if is_asked_first { "#5" } else { "#4" };
        stage.play(&format!("n1-3 < SET r {token} NX PX 10000 \n n1-3 > ok \n = acquired 3 .."));
    }
}

/// A request wins with the token of its number, and gives the lock back.
fn has_and_drops(request: u8, how: &str) -> String {
    format!(
        "acquire {request} r{how}
         n1-3 < SET r #{request} NX PX 10000
         n1-3 > ok
         = acquired {request} ..
         drop {request}
         n1-3 < EVAL release 1 r #{request}"
    )
}

#[test]
fn a_release_calls_after_an_ask_and_until_a_call_finds_no_client() {
    let asks = |settings: &mut Settings| {
        lists(settings);
        settings.asks = true;
    };
    let mut stage = all_open(Stage::with(3, &Login::default(), asks), 3);
    stage.steps(&has_and_drops(1, ""));
    stage.steps("n1-3 < - \n n1-3 > 1");
    // The next waiter is called at once, and the one after it by the next release.
    stage.steps(&format!(
        "n3 > says {MAILBOX} ask r
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 '' ''
         n3 > text waitlist
         n3 > called 0 1 0                   // a client listens, and stands in no list"
    ));
    stage.steps(&has_and_drops(2, ""));
    stage.steps("n3 < EVALSHA call .. \n n1-3 > 1 \n n3 > called 0 0 0");
    stage.steps(&has_and_drops(3, ""));
    stage.play("n1-3 < - \n n1-3 > 1");
}

#[test]
fn a_message_in_a_mailbox_is_a_verb_and_what_it_is_about_and_any_other_is_ignored() {
    let mut stage = first();
    let waiter = "00000000000000000000000000000003";
    for other in [
        "ask",
        "free",
        "watch",
        "slot",
        "freely W r",
        "next W r",
        "free W",
        "watch W",
        "slot W 7",
        "slot W r r",
    ] {
        let other = other.replace('W', waiter);
        stage.steps(&format!("n3 > says {MAILBOX} {other} \n n1-3 < -"));
    }
    stage.play(&format!(
        "n3 > says {MAILBOX} free {waiter} a key with spaces  // it goes on: none waits for that key here
         n3 < EVALSHA call 3 a key with spaces list:a key with spaces ..
         n3 > says {MAILBOX} free {waiter} r
         n1-3 < SET r #3 NX PX 10000"
    ));
}

#[test]
fn a_master_that_denies_calls_notifies_and_one_that_has_forgotten_the_script_calls() {
    has_called().play(
        "n3 > -NOPERM no
         n3 < PUBLISH quorumlock:free:0:r ''
         n3 > 1",
    );
    has_called().play(
        "n3 > -NOSCRIPT no
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 '' ''
         n3 > text waitlist
         n3 > called 0 0 0",
    );
    has_called().play(
        "n3 > -NOSCRIPT no
         n3 < SCRIPT LOAD waitlist
         n3 < EVALSHA call 3 r list:r list-due:r quorumlock:free:0: '' 1000 '' ''
         n3 > -NOPERM no
         n3 > -NOSCRIPT no
         n3 < PUBLISH quorumlock:free:0:r ''
         n3 > 1",
    );
}

#[test]
fn the_first_listens_to_clients_that_do_not_know_of_the_list() {
    let mut stage = first();
    stage.play(&format!(
        "n3 > says r called                  // which waits for a moment
         n1-3 < -
         +20ms
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 20 120000 16384 60000 250 0
         n3 > freed r                        // while the question is under way
         n1-3 < -
         n3 > listed 2 20 7 0 bb 6
         +22500us                            // some later than others
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 20 120000 16384 60000 250 0
         n3 > listed 0 9000 7 0 bb 6
         n3 > freed r                        // it is the first, and tries
         n1-3 < EVAL look 1 r
         n1-3 < SET r #3 NX PX 10000
         n1-3 > held -2 -
         n1-3 > ok
         = acquired 1 ..
         n3 < UNSUBSCRIBE quorumlock:free:0:r
         n3 < ZREM list:r #2
         n3 > unsubscribed r
         n3 > 1
         {LAST}"
    ));
}

#[test]
fn a_waiter_that_watches_a_call_asks_after_it_and_once_the_holder_has_died() {
    let mut stage = behind(80);
    stage.play(&format!(
        "n3 > says {MAILBOX} watch 0000000000000000000000000000000a r
         n3 > says {MAILBOX} watch 00000000000000000000000000000003 r
         n3 > says {MAILBOX} watch 00000000000000000000000000000003 r
         n1-3 < -
         +20ms
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 ..
         n3 > listed 0 600 7 79 00000000000000aa 5
         = 79 ahead of 1
         +602500us
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 ..
         n3 > listed 0 9000 7 78 00000000000000aa 5
         = 78 ahead of 1
         +3656250us
         n3 < EVALSHA wait 3 r list:r list-due:r quorumlock:free:0: '' #2 7 ..
         n3 > listed 0 9000 7 77 00000000000000aa 5
         = 77 ahead of 1
         cancel 1
         n3 < ZREM list:r #2
         n3 > 1"
    ));
}
