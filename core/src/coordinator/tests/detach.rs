//! The detachment: the last extension, and that nothing follows it.

use super::stage::Stage;
use super::{all_open, open, play};
use crate::master::RestartGuard;
use crate::shared::Settings;
use crate::wire::Login;

/// Three masters; all hold `r` for request 1 until 9898 ms.
const HELD: &str = "acquire 1 r
                    n1-3 < SET r #1 NX PX 10000
                    n1-3 > ok
                    = acquired 1 until 9898ms\n";

fn held(script: &str) {
    play(3, &format!("{HELD}{script}"));
}

#[test]
fn a_hold_is_detached_when_every_master_has_answered_its_last_extension() {
    held(
        "+1s
         detach 2 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n1-2 > 1
         = -
         n3 > 1
         = detached 2
         +8s                            // no timer, no loss, no command
         = -
         n1-3 < -",
    );
}

/// Its adopter may be of a version that knows no queue.
#[test]
fn a_fair_lock_is_adopted_and_released_as_any_other() {
    play(
        3,
        "acquire 1 r fair
         n1-3 < SET r #1 NX PX 10000
         n1-3 > ok
         = acquired 1 ..
         detach 2 of 1
         n1-3 < EVALSHA extend 1 r #1 10000
         n1-3 > 1
         = detached 2
         adopt 3 of 2
         n1-3 < EVALSHA extend 1 r #1 10000
         n1-3 > 1
         = adopted 3 ..
         release 4 of 3
         n1-3 < EVAL release 1 r #1
         n1-3 > 1
         = released 4",
    );
}

#[test]
fn nothing_is_sent_behind_the_last_extension() {
    // Not by its own stragglers, not by an earlier round's, not by the keeper.
    play(
        3,
        "acquire 1 r keep forever
         n1-3 < SET ..
         n1-2 > ok
         = acquired 1 ..
         n3 > nil
         +3.3s
         extend 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         = extended 2 ..
         detach 3 of 1
         n1-3 < EVALSHA ..
         n3 > 0                         // vacant, in the round that was won
         n3 > 0                         // and in the last one
         +34ms                          // the keeper's round was due
         n1-2 > 1
         = detached 3
         +6s
         n1-3 < -
         = -",
    );
}

#[test]
fn a_master_that_does_not_answer_may_yet_get_a_set_and_is_named() {
    play(
        3,
        "acquire 1 r
         n1-3 < SET ..
         n1-2 > ok
         = acquired 1 ..
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         +199.999999ms
         = -
         +1ns
         = detached 2 without n3",
    );
    // Nothing was sent to it, so nothing can arrive.
    play(
        3,
        "n3 breaks
         acquire 1 r
         n1-2 < SET ..
         n1-2 > ok
         = acquired 1 ..
         detach 2 of 1
         n1-2 < EVALSHA ..
         n1-2 > 1
         = detached 2",
    );
}

/// It may have voted for another client before it restarted, which may win on that vote.
#[test]
fn a_master_that_is_warming_up_is_named_as_well() {
    let on = |settings: &mut Settings| settings.restart_guard = RestartGuard::On;
    let mut stage = all_open(Stage::with(3, &Login::default(), on), 3);
    stage.steps(HELD);
    stage.play(
        "n3 restarts
         +50ms
         n3 < DIAL
         n3 connects
         n3 < HELLO ..
         n3 asks
         n3 > hello 1
         n3 > server run3+ up 0
         n3 > master
         n3 > agreed
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         n3 > 1                         // from its file, or a top-up
         = detached 2 without n3",
    );
}

#[test]
fn an_error_for_an_answer_settles_what_was_sent_before() {
    held(
        "detach 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 1
         n3 > -LOADING
         = detached 2",
    );
}

#[test]
fn a_predecessor_that_may_not_be_killed_can_deliver_a_set() {
    held(
        "n3 breaks
         +50ms
         n3 greets
         n3 < CLIENT KILL ID 1
         n3 > -NOPERM no
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1-3 > 1
         = detached 2 without n3",
    );
}

#[test]
fn too_few_answers_leave_the_hold_as_it_was() {
    play(
        3,
        "acquire 1 r keep forever
         n1-3 < SET ..
         n1-3 > ok
         = acquired 1 until 9898ms
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1 > 1
         +200ms
         = detach 2 unconfirmed: held by us | no answer in time | no answer in time
         n2-3 > 1
         +2424.5ms                      // a quarter of what is left
         n1-3 < EVALSHA ..
         n1-3 > 1
         = extended by its keeper until 12522.5ms
         detach 3 of 1
         n1-3 < EVALSHA ..
         n1-3 > 1
         = detached 3",
    );
}

#[test]
fn a_quorum_of_masters_that_may_get_a_late_set_hands_nothing_over() {
    held(
        "n2-3 breaks
         +50ms
         n2-3 greets
         n2-3 < CLIENT KILL ID 1
         n2-3 > -NOPERM no
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1-3 > 1
         = detach 2 unconfirmed: held by us | held by us | held by us
         +9.848s
         = lost 1: lapsed",
    );
}

#[test]
fn a_lock_that_is_lost_is_not_detached() {
    held(
        "+9898ms
         = lost 1: lapsed
         detach 2 of 1
         = detach 2 lost
         n1-3 < -",
    );
    held(
        "detach 2 of 1
         n1-3 < EVALSHA ..
         n1-2 > 0
         = lost 1: quorum gone: no key there | no key there | not waited for
         = detach 2 lost",
    );
    held(
        "+9800ms
         detach 2 of 1
         n1-3 < EVALSHA ..
         n1 > 1
         ~98ms                          // at the deadline, to the nanosecond
         n2 > 1
         = lost 1: lapsed
         = detach 2 lost",
    );
    held(
        "+9800ms
         detach 2 of 1
         n1-3 < EVALSHA ..
         +98ms
         = lost 1: lapsed               // no later than without a detachment
         n1 > 1
         = detach 2 lost",
    );
}

#[test]
fn a_guard_that_is_dropped_meanwhile_releases() {
    held(
        "detach 2 of 1
         n1-3 < EVALSHA ..
         drop 1
         n1-3 < EVAL release 1 r #1
         n1 > 1
         = detach 2 lost
         n2-3 > 1
         n1-3 > 1
         debts 0",
    );
}

#[test]
fn a_value_without_a_caller_is_released_on_every_master() {
    held(
        "detach 2 of 1
         n1-3 < EVALSHA ..
         n1-3 > 1
         = detached 2
         give back 2
         n1-3 < EVAL release 1 r #1
         n1-3 > 1
         debts 0",
    );
}

#[test]
fn the_next_acquire_in_the_process_asks_the_masters() {
    held(
        "acquire 2 r wait 20s
         n1-3 < -
         detach 3 of 1
         n1-3 < EVALSHA ..
         n1-3 < -
         n1-3 > 1
         = detached 3
         n1-3 < SET r #2 NX PX 10000
         n1-3 > nil                     // held, by the client with the value
         n3 < EVAL release 1 r #2
         = -",
    );
}

#[test]
fn an_extension_under_way_ends_with_the_detachment() {
    held(
        "extend 2 of 1
         detach 3 of 1
         n1-3 < EVALSHA ..
         n1-3 < EVALSHA ..
         n1 > 1
         = extend 2 lost                // its caller is gone: the guard was given away
         n2-3 > 1
         n1-3 > 1
         = detached 3",
    );
}

#[test]
fn the_number_and_the_lock_delay_go_along() {
    let mut stage = open(1);
    stage.steps(
        "wall 1000
         acquire 1 r fenced delay 2s
         n1 < EVALSHA acquire ..
         n1 > ok
         = acquired 1 until 9898ms with 1001
         detach 2 of 1
         n1 < EVALSHA extend 1 r #1 12000
         n1 > 1
         = detached 2",
    );
    let lock = stage.detached(2);
    let (ttl, life) = (lock.ttl.span(), lock.life.span());
    assert_eq!((ttl.as_secs(), life.as_secs()), (10, 12));
    let fenced = lock.fenced.expect("fenced");
    let numbers = (fenced.number.get(), fenced.greatest.get());
    assert_eq!((&**fenced.fences.first(), numbers), ("fence:r", (1001, 1001)));
    stage.play("");
}

#[test]
fn a_value_shows_all_but_its_token() {
    let mut stage = all_open(
        Stage::with(3, &Login::default(), |settings| settings.label = Some("me".into())),
        3,
    );
    stage.steps(HELD);
    stage.steps("detach 2 of 1\n n1-3 < EVALSHA ..\n n1-3 > 1\n = detached 2");
    let lock = stage.detached(2);
    assert_eq!(lock.label.as_deref(), Some("me"));
    let shown = format!("{lock:?}");
    assert!(shown.contains("\"r\"") && !shown.contains(&lock.token.to_string()), "{shown}");
    stage.play("");
}
