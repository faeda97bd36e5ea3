//! The order of waiters within a process, without a command to the masters.

use super::stage::Stage;
use super::{open, play};
use crate::obstacle::Obstacle;
use crate::shared::{Event, FailureKind, Keys, RequestId};
use crate::waiting::local_queue::LocalQueue;

#[test]
fn the_next_waiter_in_line_goes_in_one_write_with_the_release() {
    play(
        1,
        "acquire 1 r wait 1s
         n1 < SET r #1 NX PX 10000
         acquire 2 r wait 1s
         acquire 3 r wait 1s
         n1 < -
         n1 > ok
         = acquired 1 until 9898ms
         +5ms
         drop 1
         n1 < EVAL release 1 r #1
         n1 < SET r #2 NX PX 10000
         n1 < -
         n1 > 1
         n1 > ok
         = acquired 2 until 9903ms
         release 4 of 2
         n1 < EVAL release 1 r #2
         n1 < SET r #3 NX PX 10000
         n1 > 1
         = released 4
         n1 > ok
         = acquired 3 until 9903ms",
    );
}

#[test]
fn one_attempt_finds_a_neighbour_that_holds_contends_or_waits() {
    play(
        1,
        "acquire 1 r
         n1 < SET ..
         acquire 2 r                    // it contends
         = contended 2 at 0 after 0ms: ..
         n1 > ok
         = acquired 1 ..
         acquire 3 r                    // it holds
         = contended 3 at 0 after 0ms: ..
         n1 < -",
    );
}

#[test]
fn a_waiter_behind_a_neighbour_gives_up_without_having_asked() {
    play(
        1,
        "acquire 1 r
         n1 < SET ..
         n1 > ok
         = acquired 1 ..
         acquire 2 r wait 5ms
         acquire 3 r wait 50ms
         +4.999999ms
         = -
         +1ns
         = contended 2 at 0 after 5ms: ..
         n1 < -
         drop 1
         n1 < EVAL ..
         n1 < SET r #2 NX PX 10000",
    );
}

/// The ways in which the acquire that has the place may go away, and the commands sent for it.
const ENDS: [&str; 6] = [
    "drop 1 \n n1 < EVAL ..",
    "release 9 of 1 \n n1 < EVAL ..",
    "forget 1",
    "+9.898s \n = lost 1: lapsed",
    "lapsed 1 \n = lost 1: lapsed",
    "extend 9 of 1 \n n1 < EVALSHA .. \n n1 > 0 \n = lost 1: quorum gone: no key there \n \
     = extend 9 lost",
];

#[test]
fn however_a_hold_ends_its_place_is_free_once() {
    for ends in ENDS {
        let mut stage = open(1);
        stage.play(&format!(
            "acquire 1 r
             n1 < SET ..
             n1 > ok
             = acquired 1 ..
             acquire 2 r wait 30s
             acquire 3 r wait 30s
             {ends}
             n1 < SET r #2 NX PX 10000
             n1 < -"
        ));
    }
}

#[test]
fn a_guard_dropped_after_its_loss_frees_no_other_waiters_place() {
    play(
        1,
        "acquire 1 r
         n1 < SET ..
         n1 > ok
         = acquired 1 ..
         acquire 2 r wait 30s
         acquire 3 r wait 30s
         +9.898s
         = lost 1: lapsed
         n1 < SET r #2 NX PX 10000
         drop 1
         n1 < EVAL release 1 r #1
         n1 < -",
    );
}

#[test]
fn a_contender_that_gives_up_makes_way() {
    play(
        1,
        "acquire 1 r wait 1s
         n1 < SET ..
         acquire 2 r wait 1s
         acquire 3 r wait 1s
         cancel 2                       // it only waited
         cancel 1
         n1 < EVAL release 1 r #1
         n1 < SET r #2 NX PX 10000
         n1 > nil
         n1 > 0
         n1 > nil                       // 3 contends now, and backs off
         acquire 4 r wait 1s
         cancel 3
         n1 < SET r #3 NX PX 10000",
    );
}

#[test]
fn several_are_waited_for_at_once_and_taken_all_or_none() {
    play(
        1,
        "acquire 1 a
         n1 < SET a ..
         n1 > ok
         = acquired 1 ..
         acquire 2 b
         n1 < SET b ..
         n1 > ok
         = acquired 2 ..
         acquire 3 b+a wait 1s
         acquire 4 b wait 1s            // behind it, though it needs less
         acquire 5 c
         n1 < SET c ..
         n1 > ok
         = acquired 5 ..
         drop 2
         n1 < EVAL ..
         n1 > 1
         n1 < -
         drop 1
         n1 < EVAL ..
         n1 < EVALSHA acquire 2 a b #4 10000 0
         n1 > 1
         n1 > ok
         = acquired 3 ..
         drop 3
         n1 < EVAL ..
         n1 < SET b #5 NX PX 10000",
    );
}

#[test]
fn a_waiter_in_front_that_goes_lets_those_behind_it_pass() {
    play(
        1,
        "acquire 1 a
         n1 < SET a ..
         n1 > ok
         = acquired 1 ..
         acquire 2 a+b wait 1s
         acquire 3 b wait 1s
         n1 < -
         cancel 2
         n1 < SET b #2 NX PX 10000",
    );
}

#[test]
fn ten_thousand_waits_that_end_in_an_outage_end_one_by_one() {
    let mut stage = open(1);
    stage.steps("n1 breaks");
    for request in 1..=10_000 {
        stage.steps(&format!("acquire {request} r wait 10ms"));
    }
    stage.pass(std::time::Duration::from_millis(10));
    assert_eq!(stage.unseen.len(), 10_000);
    assert!(stage.unseen.iter().any(|event| event.starts_with("no quorum 1 at 2 after 10ms")));
    stage.unseen.clear();
    stage.play("n1 < -");
}

#[test]
fn an_outage_is_reported_as_one_to_waiters_behind_it_too() {
    play(
        1,
        "n1 breaks
         acquire 1 r wait 1s
         acquire 2 r wait 5ms
         acquire 3 r
         = no quorum 3 at 1 after 0ms: down (reset by peer)
         +5ms
         = no quorum 2 at 1 after 5ms: down (reset by peer)
         +45ms
         n1 < DIAL
         n1 unreachable",
    );
}

/// Returns what was in the way of the latest acquire.
fn obstacle(stage: &mut Stage) -> Obstacle {
    let obstacle = |event| match event {
        Event::NotAcquired { failure, .. } => match failure.kind {
            FailureKind::Contended(obstacle) => Some(obstacle),
            _ => None,
        },
        _ => None,
    };
    stage.events.drain(..).rev().find_map(obstacle).expect("an acquire that others kept out")
}

#[test]
fn a_guard_of_this_process_is_named_as_what_is_in_the_way() {
    let mut stage = open(1);
    stage.steps("acquire 1 r\nn1 < SET ..\nacquire 2 r\n= contended 2 ..");
    assert_eq!(obstacle(&mut stage), Obstacle::LocalQueue, "it has not won yet");
    stage.steps("n1 > ok\n= acquired 1 ..\nacquire 3 r\n= contended 3 ..");
    assert_eq!(obstacle(&mut stage), Obstacle::OwnGuard, "at once");
    stage.steps("acquire 4 r wait 5ms\n+5ms\n= contended 4 ..");
    assert_eq!(obstacle(&mut stage), Obstacle::OwnGuard, "after a wait");
    stage.steps("forget 1\nacquire 5 r\nn1 < SET ..\nn1 > nil\n= contended 5 ..");
    assert_eq!(obstacle(&mut stage), Obstacle::Holder(None), "the master refused");
}

/// The caller looks up which of them it was.
#[test]
fn of_several_resources_those_that_were_in_the_way_are_yet_to_be_named() {
    let mut stage = open(1);
    stage.steps("acquire 1 r\nn1 < SET ..\nn1 > ok\n= acquired 1 ..");
    stage.events.clear();
    for (acquire, expected) in [("2 r", vec![]), ("3 r+s", vec!["r", "s"])] {
        stage.steps(&format!("acquire {acquire} wait 5ms\n+5ms\n= contended .."));
        let unnamed = |event| match event {
            Event::NotAcquired { failure, .. } => failure.unnamed,
            _ => None,
        };
        let keys: Vec<_> = stage.events.drain(..).filter_map(unnamed).collect();
        assert!(keys.iter().flat_map(Keys::iter).map(|key| &**key).eq(expected), "{acquire}");
    }
}

/// Returns whether an acquire steps back after a lock has passed on here that many times, once a
/// release was heard elsewhere, or not.
fn steps_back_after(times: u64, elsewhere: bool) -> bool {
    let (mut queue, keys) = (LocalQueue::default(), Keys::from("r"));
    assert!(queue.take(&keys, RequestId(0)));
    assert!(queue.won(&keys, RequestId(0)));
    queue.heard("r", elsewhere);
    for next in 1..=times {
        queue.wait(&keys, RequestId(next));
        queue.pass_on(&keys);
        queue.free(&keys);
        assert!(queue.advance(&keys, RequestId(next)));
        assert!(queue.won(&keys, RequestId(next)));
    }
    queue.steps_back(&keys)
}

#[test]
fn the_eighth_in_a_row_steps_back_for_an_earlier_listener() {
    assert!(steps_back_after(8, true));
    assert!(!steps_back_after(7, true));
    assert!(!steps_back_after(8, false));
}

#[test]
fn an_older_request_that_comes_late_to_a_free_place_is_served() {
    let mut queue = LocalQueue::default();
    let (a, both) = (Keys::from("a"), Keys::several(["a", "b"].map(Into::into)).unwrap());
    assert!(queue.take(&a, RequestId(0)));
    queue.wait(&both, RequestId(2));
    queue.wait(&Keys::from("b"), RequestId(1));
    while let Some(head) = queue.next_head() {
        assert_eq!((head, queue.advance(&Keys::from("b"), head)), (RequestId(1), true));
    }
    assert_eq!(queue.contender("b"), Some(RequestId(1)));
}
