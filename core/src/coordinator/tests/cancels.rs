//! A caller that goes away: what it began is undone, what it has won is not.

use super::{open, play};

#[test]
fn a_cancelled_attempt_is_silently_undone_on_every_master() {
    play(
        5,
        "n5 breaks
         acquire 1 r wait 10s
         n1-4 < SET r #1 NX PX 10000
         n1 > ok
         n2 > nil
         cancel 1
         n1-4 < EVAL release 1 r #1
         debts 4
         n3-4 > ok                      // late, and not a win
         n1-4 > 1
         = -
         debts 0",
    );
}

#[test]
fn after_a_cancel_while_trying_only_the_debts_are_left() {
    let mut stage = open(3);
    stage.steps("acquire 1 r wait 10s \n n1-3 < SET .. \n n1 > nil \n cancel 1 \n n1-3 < EVAL ..");
    assert_eq!(
        stage.left(),
        "0 acquisitions, 0 attempts, 0 rounds, 0 places, timers to None, 3 debts"
    );
    stage.play("n2-3 > ok \n n1-3 > 1");
}

#[test]
fn a_cancel_while_waiting_leaves_nothing() {
    let mut stage = open(3);
    stage.steps("acquire 1 r wait 10s \n n1-3 < SET .. \n n1-3 > nil \n n3 < EVAL .. \n n3 > 0");
    stage.steps("cancel 1");
    assert_eq!(stage.left(), super::stage::NOTHING_LEFT);
    stage.play("+1s \n = - \n n1-3 < -");
}

#[test]
fn a_cancel_after_the_win_is_ignored() {
    play(
        1,
        "acquire 1 r wait 10s
         n1 < SET ..
         n1 > ok
         = acquired 1 until 9898ms
         cancel 1
         n1 < -
         +9897ms
         = -
         +1ms
         = lost 1: lapsed",
    );
}

#[test]
fn a_cancel_of_an_unknown_request_is_ignored() {
    play(1, "cancel 7 \n n1 < - \n = -");
}

#[test]
fn a_cancel_before_any_write_sends_the_rollback_behind_the_set() {
    play(
        1,
        "n1 takes 0
         acquire 1 r
         cancel 1
         n1 < -
         n1 takes all
         n1 < SET r #1 NX PX 10000
         n1 < EVAL release 1 r #1",
    );
}

#[test]
fn shutdown_undoes_what_is_under_way_and_ends_what_waits() {
    let mut stage = open(3);
    stage.steps(
        "acquire 1 r wait 10s
         n1-3 < SET r #1 NX PX 10000
         n1-3 > ok
         = acquired 1 ..
         acquire 2 s wait 10s
         n1-3 < SET s #2 NX PX 10000
         n1-3 > nil
         n3 < EVAL release 1 s #2
         n3 > 0
         acquire 3 t wait 10s
         n1-3 < SET t #3 NX PX 10000
         shutdown
         n1-3 < EVAL release 1 t #3
         = -
         debts 3
         n1-3 > nil
         n1-3 > 0
         debts 0
         drop 1                         // a guard may still go
         n1-3 < EVAL release 1 r #1
         n1-3 > 1",
    );
    assert_eq!(stage.left(), super::stage::NOTHING_LEFT);
}
