//! The adoption: an extension first, and no deadline before it is won.

use super::stage::Stage;
use super::{all_open, play};
use crate::master::RestartGuard;
use crate::wire::Login;

/// Three masters; `r` was held by request 1, and is a value of request 2 at 1 s.
pub(super) const DETACHED: &str = "acquire 1 r
                        n1-3 < SET r #1 NX PX 10000
                        n1-3 > ok
                        = acquired 1 ..
                        +1s
                        detach 2 of 1
                        n1-3 < EVALSHA ..
                        n1-3 > 1
                        = detached 2\n";

fn detached(script: &str) {
    play(3, &format!("{DETACHED}{script}"));
}

#[test]
fn the_deadline_counts_from_the_start_of_the_round_that_a_quorum_has_won() {
    play(
        3,
        "acquire 1 r ttl 1s
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 until 988ms
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1-3 > 1
         = detached 2
         +5s                            // another process has no deadline to compare with
         adopt 3 of 2
         n1-3 < EVALSHA extend 1 r #1 1000
         n1 > 1
         = -
         +99ms
         n2 > 1
         = adopted 3 until 5988ms
         n3 > 1
         +888.999999ms
         = -
         +1ns
         = lost 3: lapsed",
    );
}

#[test]
fn a_lock_whose_keys_have_expired_is_lost_and_nothing_is_deleted() {
    detached(
        "+8s
         adopt 3 of 2
         n1-3 < EVALSHA ..
         n1-3 > 0
         = adopt 3 lost: quorum gone: no key there | no key there | not waited for
         n1-3 < -
         debts 0",
    );
}

#[test]
fn a_minority_may_be_gone_and_is_topped_up() {
    detached(
        "n3 breaks
         adopt 3 of 2
         n1-2 < EVALSHA ..
         n1-2 > 1
         = adopted 3 until 10898ms
         release 4 of 3
         n1-2 < EVAL release 1 r #1
         n1-2 > 1
         = released 4
         debts 1                        // the master that is down may have the key
         +50ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > 1
         n3 < EVAL release 1 r #1
         n3 > 1
         debts 0",
    );
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         n3 > 0
         n1-2 > 1
         = adopted 3 until 10898ms
         n3 < EVAL top_up 1 r #1 10000",
    );
}

#[test]
fn a_straggler_is_topped_up_as_after_any_extension() {
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         n1-2 > 1
         = adopted 3 ..
         n3 > 0
         n3 < EVAL top_up 1 r #1 10000",
    );
}

#[test]
fn too_few_answers_give_the_value_back_for_another_try() {
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         n1 > 1
         +200ms
         = adopt 3 unconfirmed: held by us | no answer in time | no answer in time
         n1-3 < -                       // nothing is deleted
         debts 0
         n2-3 > 1                       // too late
         adopt 4 of 2
         n1-3 < EVALSHA ..
         n1-2 > 1
         = adopted 4 until 11098ms",
    );
}

#[test]
fn a_quorum_without_the_token_is_lost_at_once() {
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         n1 > 0
         = -
         n2 > -1
         = adopt 3 lost: quorum gone: no key there | held by another token | not waited for
         n1-3 < -
         debts 0",
    );
}

#[test]
fn a_master_that_may_get_a_late_set_does_not_count() {
    play(
        3,
        "acquire 1 r
         n1-3 < SET ..
         n1-2 > ok
         = acquired 1 ..
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         +200ms
         = detached 2 without n3
         n3 > ok
         n3 > 1
         adopt 3 of 2
         n1-3 < EVALSHA ..
         n3 > 1
         n1 > 1
         = -                            // two of three, of which one says nothing
         n2 > 1
         = adopted 3 ..
         detach 4 of 3                  // it is not forgotten when the lock goes on
         n1-3 < EVALSHA ..
         n1-3 > 1
         = detached 4 without n3
         adopt 5 of 4
         n1-3 < EVALSHA ..
         n3 > 1
         n1 > 1
         = -
         n2 > 0
         = adopt 5 lost: quorum gone: held by us | no key there | held by us",
    );
}

#[test]
fn masters_that_warm_up_do_not_count_and_the_value_comes_back() {
    let on = |guard| Stage::with(3, &Login::default(), |settings| settings.restart_guard = guard);
    let mut stage = all_open(on(RestartGuard::On), 3);
    stage.steps(DETACHED);
    stage.play(
        "n2-3 restarts
         +50ms
         n2-3 < DIAL
         n2 connects
         n2 < HELLO ..
         n2 asks
         n2 > hello 1
         n2 > server run2+ up 0
         n2 > master
         n2 > agreed
         adopt 3 of 2
         n1-2 < EVALSHA ..
         n1-2 > 1                       // from its file, or from a late SET
         = adopt 3 unconfirmed: held by us | warming up | down (reset by peer)
         n1-2 < -",
    );
}

#[test]
fn a_value_that_is_dropped_with_its_answer_is_released_as_well() {
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         give back 2 of 3               // not decided
         n1-3 < EVAL release 1 r #1
         n1-2 > 1
         n1-3 > 1
         = -
         n3 > 1
         debts 0",
    );
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         n1-2 > -LOADING
         n3 > 1
         = adopt 3 unconfirmed: ..
         give back 2 of 3
         n1-3 < EVAL release 1 r #1
         n1-3 > 1
         debts 0",
    );
}

#[test]
fn a_shutdown_gives_the_value_back_and_deletes_nothing() {
    detached(
        "adopt 3 of 2
         n1-3 < EVALSHA ..
         shutdown
         n1-3 < EVAL withdraw 1 quorumlock:agreement 0 10102 n1 n2 n3
         n1-3 > 1
         n1-3 > 1
         n1-3 < -
         = -
         debts 0",
    );
}
