//! Credentials that are renewed on a living connection, in the order of its commands.

use super::open;
use super::stage::Stage;
use crate::wire::Login;

/// Opens one master with credentials that live for ten seconds.
fn opened(given: &str) -> Stage {
    let mut stage = Stage::new(1, &Login::default());
    stage.steps(&format!(
        "n1 < DIAL
         n1 given {given}
         n1 connects
         n1 < HELLO 3 AUTH app p1 ..
         n1 asks
         n1 > hello 1
         n1 > server run1
         n1 > master
         n1 > agreed
         = connected"
    ));
    stage
}

#[test]
fn a_connection_begins_with_what_the_provider_has_returned_for_it() {
    let mut stage = opened("p1");
    stage.steps("n1 breaks \n +60ms");
    stage.play(
        "n1 < DIAL
         n1 given p2
         n1 connects
         n1 < HELLO 3 AUTH app p2 ..
         n1 asks
         n1 > hello 2
         n1 > server run1
         n1 > master
         n1 > agreed
         n1 < CLIENT KILL ID 1
         n1 > 1",
    );
}

#[test]
fn a_fifth_before_their_end_credentials_are_renewed_behind_what_was_sent() {
    opened("p1 for 10s").play(
        "+7.9s
         acquire 1 r
         n1 < SET r #1 ..
         +100ms
         n1 < RENEW
         n1 given p2 for 10s
         n1 < AUTH app p2
         n1 > ok                        // of the SET
         = acquired 1 ..
         drop 1
         n1 < EVAL release 1 r #1
         n1 > ok
         n1 > 1
         debts 0
         no faults
         +1990ms
         n1 < -
         +10ms
         n1 beats
         n1 > server run1 \n n1 > known",
    );
}

/// They need not differ: what counts at the server may be when it was last shown them.
#[test]
fn credentials_that_expire_are_shown_again_although_they_are_the_same() {
    opened("p1 for 5s").play(
        "+4s
         n1 < RENEW
         n1 given p1 for 5s
         n1 < AUTH app p1
         n1 > ok
         +3990ms
         n1 < -
         +10ms
         n1 < RENEW",
    );
}

#[test]
fn credentials_that_are_only_watched_are_shown_once_they_have_changed() {
    opened("p1 every 2s").play(
        "+2s
         n1 < RENEW
         n1 given p1 every 2s
         n1 < -
         +2s
         n1 < RENEW
         n1 given p2 every 2s
         n1 < AUTH app p2
         n1 > ok
         +2s
         n1 < RENEW
         n1 given p2 every 2s
         n1 < -",
    );
}

/// Neither is a vote lost nor a command: the server goes on with the user that it has.
#[test]
fn a_refused_renewal_keeps_the_connection_and_its_votes_and_is_repeated() {
    opened("p1 for 5s").play(
        "+4s
         n1 < RENEW
         n1 given p2 for 5s
         n1 < AUTH app p2
         acquire 1 r
         n1 < SET r #1 ..
         n1 > -WRONGPASS invalid username-password pair or user is disabled.
         n1 > ok
         = acquired 1 ..
         stale n1 WRONGPASS invalid username-password pair or user is disabled.
         no faults
         +1s
         n1 < RENEW
         n1 given p2 for 5s
         n1 < AUTH app p2
         n1 > ok
         stale n1 -
         drop 1
         n1 < EVAL release 1 r #1
         n1 > 1",
    );
}

#[test]
fn a_provider_that_fails_costs_no_vote_where_the_connection_lives() {
    opened("p1 for 5s").play(
        "+4s
         n1 < RENEW
         n1 given -
         stale n1 the provider is asleep
         acquire 1 r
         n1 < SET r #1 ..
         n1 > ok
         = acquired 1 ..
         +1s
         n1 < RENEW
         n1 given p2 for 5s
         n1 < AUTH app p2
         n1 > ok
         stale n1 -
         drop 1
         n1 < EVAL release 1 r #1
         n1 > 1",
    );
}

/// A server that is slow has answered neither of two.
#[test]
fn each_answer_is_that_to_the_credentials_which_were_shown_with_it() {
    let mut stage = opened("p1 every 100ms");
    for shown in ["p2", "p3"] {
        stage.steps(&format!(
            "+100ms
             n1 < RENEW
             n1 given {shown} every 100ms
             n1 < AUTH app {shown}"
        ));
    }
    stage.play(
        "n1 > ok
         stale n1 -
         n1 > -WRONGPASS invalid username-password pair or user is disabled.
         stale n1 WRONGPASS invalid username-password pair or user is disabled.
         +1s
         n1 < RENEW
         n1 given p2 every 100ms
         n1 < -
         stale n1 -",
    );
}

/// A provider that hangs is asked once: nothing is due until it has answered.
#[test]
fn a_provider_that_has_not_answered_is_not_asked_twice() {
    opened("p1 for 5s").play(
        "+9990ms
         n1 < RENEW
         n1 < -
         +10ms
         n1 beats
         n1 > server run1 \n n1 > known",
    );
}

#[test]
fn what_comes_for_an_earlier_connection_is_ignored() {
    let mut stage = opened("p1 for 5s");
    let before = stage.wires[0].epoch;
    stage.steps("+4s \n n1 < RENEW \n n1 breaks \n +60ms \n n1 < DIAL");
    let now = stage.wires[0].epoch;
    stage.wires[0].epoch = before;
    stage.steps("n1 given old for 5s");
    stage.wires[0].epoch = now;
    stage.play("n1 given new for 5s \n n1 connects \n n1 < HELLO 3 AUTH app new ..\n n1 asks");
}

/// A server that has `AUTH` renamed repeats what followed it.
#[test]
fn no_refusal_shows_the_password() {
    opened("p1 for 5s").play(
        "+4s
         n1 < RENEW
         n1 given hunter2
         n1 < AUTH app hunter2
         n1 > -ERR unknown command 'AUTH', with args beginning with: 'app' 'hunter2'
         stale n1 ERR unknown command 'AUTH'",
    );
}

#[test]
fn without_a_provider_nothing_is_renewed() {
    let mut stage = open(1);
    stage.play("+9990ms \n n1 < - \n +10ms \n n1 beats \n n1 > server run1 \n n1 > known");
}
