//! What a subscriber or a recorder is shown, and that without one nothing is.
#![cfg(feature = "watched")]

use super::asking::{ASKED, WON, asking};
use super::open;
use super::stage::Stage;
use crate::quorum::Progress;
use crate::report::Answer;
use crate::shared::{Event, IdleEnd, Observation, Watching};
use crate::status::{Margin, NodeStanding};
use std::time::Duration;

fn watched(masters: usize) -> Stage {
    let mut stage = open(masters);
    stage.machine.watch(Watching::Votes);
    stage
}

/// Returns what was observed since the last time.
fn observed(stage: &mut Stage) -> Vec<Observation> {
    let observation = |event| match event {
        Event::Observed(observation) => Some(observation),
        _ => None,
    };
    stage.events.drain(..).filter_map(observation).collect()
}

/// Held on two of three masters, the third has refused.
const HELD: &str = "acquire 1 r
                    n1-3 < SET ..
                    n3 > nil
                    n1-2 > ok
                    = acquired 1 ..";

#[test]
fn each_attempt_is_observed_once_with_all_masters_answers() {
    let mut stage = watched(3);
    stage.steps("acquire 1 r\nn1-3 < SET ..\n+3ms");
    assert!(observed(&mut stage).is_empty(), "nothing is decided");
    stage.steps("n3 > nil\nn1-2 > ok\n= acquired 1 ..");
    let seen = observed(&mut stage);
    let [Observation::Attempt { number: 1, result: Ok(()), took, votes, .. }] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert_eq!(took.as_millis(), 3);
    let granted = votes.iter().filter(|vote| vote.answer == Answer::Granted).count();
    assert_eq!((granted, votes.len()), (2, 3), "{votes:?}");
}

#[test]
fn a_lost_attempt_is_seen_before_the_next_one_begins() {
    let mut stage = watched(1);
    stage.steps("acquire 1 r\nn1 < SET ..\nn1 > nil");
    let seen = observed(&mut stage);
    let [Observation::Attempt { number: 1, result: Err(kind), votes, .. }] = &seen[..] else {
        panic!("{seen:?}")
    };
    assert!(kind.is_contended());
    assert!(matches!(votes[0].answer, Answer::Refused(_)), "{votes:?}");
}

#[test]
fn an_extension_is_seen_with_the_masters_that_it_tops_up() {
    let mut stage = watched(3);
    stage.steps(HELD);
    observed(&mut stage);
    stage.steps(
        "extend 2 of 1\nn1-3 < EVALSHA ..\nn3 > 0\nn1-2 > 1\n= extended 2 ..\nn3 < EVAL top_up ..",
    );
    let seen = observed(&mut stage);
    let [
        Observation::Extension { by_keeper: false, progress: Progress::Extended(_), .. },
        Observation::ToppedUp { node, .. },
    ] = &seen[..]
    else {
        panic!("{seen:?}")
    };
    assert_eq!(*node, stage.machine.at.cx.masters.sessions[2].name);
}

/// Returns what acquires were seen to wait for.
fn waits(stage: &mut Stage) -> Vec<(u64, &'static str, Option<Duration>)> {
    let seen = observed(stage).into_iter().filter_map(|observation| match observation {
        Observation::Waits { request, waits_for, left, .. } => Some((request.0, waits_for, left)),
        _ => None,
    });
    seen.collect()
}

#[test]
fn a_wait_is_seen_with_what_it_is_for_and_the_time_left() {
    let mut stage = watched(1);
    stage.steps("jitter most\nacquire 1 r wait 1s\nn1 < SET ..\nn1 > nil");
    assert_eq!(waits(&mut stage), [(1, "holder", None)]);
    stage.steps("+5ms\nn1 < EVAL look 1 r\nn1 < SET ..\nn1 > 1400\nn1 > nil");
    let left = Some(Duration::from_millis(1400));
    assert_eq!(waits(&mut stage), [(1, "holder", left)]);
    stage.breaks(0);
    stage.steps("+10ms");
    assert_eq!(waits(&mut stage), [(1, "quorum", None)]);
}

#[test]
fn one_attempt_waits_for_nothing() {
    let mut stage = watched(1);
    stage.steps("acquire 1 r\nn1 < SET ..\nacquire 2 r\nn1 > nil");
    assert!(waits(&mut stage).is_empty());
}

#[test]
fn a_wait_behind_a_neighbour_is_in_the_local_queue_or_for_its_guard() {
    let mut stage = watched(1);
    stage.steps("acquire 1 r\nn1 < SET ..\nacquire 2 r wait 1s\nn1 > ok\n= acquired 1 ..");
    stage.steps("acquire 3 r wait 1s");
    let seen = [(2, "local_queue", None), (3, "own_guard", None)];
    assert_eq!(waits(&mut stage), seen);
}

#[test]
fn the_extension_that_reaches_max_hold_is_seen_once() {
    let mut stage = watched(1);
    stage.steps("acquire 1 r ttl 900ms keep 1400ms\nn1 < SET ..\nn1 > ok\n= acquired 1 ..");
    let extend = |stage: &mut Stage| {
        stage.steps("+300ms\nn1 < EVALSHA ..\nn1 > 1\n= extended by its keeper ..");
        observed(stage).into_iter().find_map(|observation| match observation {
            Observation::LastExtension { left, .. } => Some(left),
            _ => None,
        })
    };
    assert_eq!(extend(&mut stage), None, "until 1189 ms");
    assert_eq!(extend(&mut stage), Some(Duration::from_millis(800)), "until 1400 ms");
    stage.steps("extend 2 of 1\nn1 < EVALSHA ..\nn1 > 1\n= extended 2 until 1400ms");
    let seen = observed(&mut stage);
    assert!(matches!(&seen[..], [Observation::Extension { .. }]), "{seen:?}");
}

/// A hold that was given back, and is idle.
const IDLE: &str = "acquire 1 r warm 2s\nn1 < SET ..\nn1 > ok\n= acquired 1 ..\nback 1";

#[test]
fn an_acquire_that_asks_no_master_is_seen_whether_the_hold_was_idle_or_passed_on() {
    let reused = |stage: &mut Stage| {
        let seen = observed(stage).into_iter().filter_map(|seen| match seen {
            Observation::Reused { request } => Some(request.0),
            _ => None,
        });
        seen.collect::<Vec<_>>()
    };
    let mut stage = watched(1);
    stage.steps(IDLE);
    assert!(reused(&mut stage).is_empty(), "it has asked");
    stage.steps("acquire 2 r warm 2s\n= acquired 2 ..");
    assert_eq!(reused(&mut stage), [2], "it was idle");
    stage.steps("acquire 3 r wait 1s warm 2s\nback 2\n= acquired 3 ..");
    assert_eq!(reused(&mut stage), [3], "it was passed on");
}

#[test]
fn each_release_of_what_was_idle_is_seen_with_its_reason() {
    let ends = |stage: &mut Stage| {
        let seen = observed(stage).into_iter().filter_map(|seen| match seen {
            Observation::IdleReleased { key, reason } => Some((key.to_string(), reason)),
            _ => None,
        });
        seen.collect::<Vec<_>>()
    };
    let late = "~2000ms\nacquire 2 r ttl 5s\nn1 < EVAL release 1 r #1\nn1 < SET ..";
    for (steps, reason) in [
        ("+2000ms\nn1 < EVAL release 1 r #1", IdleEnd::Unused),
        (late, IdleEnd::Unused),
        ("acquire 2 r ttl 5s\nn1 < EVAL release 1 r #1\nn1 < SET ..", IdleEnd::NotSuited),
        ("shutdown\nn1 < EVAL release 1 r #1", IdleEnd::Shutdown),
        ("acquire 2 r+s\nn1 < EVAL release 1 r #1\nn1 < EVALSHA ..", IdleEnd::NotSuited),
    ] {
        let mut stage = watched(1);
        stage.steps(IDLE);
        assert!(ends(&mut stage).is_empty());
        stage.steps(steps);
        assert_eq!(ends(&mut stage), [("r".to_owned(), reason)], "{steps}");
    }
    let mut stage = asking();
    stage.machine.watch(Watching::Votes);
    stage.steps(&format!("{WON}back 1\n{ASKED}"));
    assert_eq!(ends(&mut stage), [("r".to_owned(), IdleEnd::Asked)]);
}

#[test]
fn without_an_observer_nothing_is_seen() {
    let mut stage = open(3);
    stage.steps(HELD);
    stage.steps("extend 2 of 1\nn1-3 < EVALSHA ..\nn1-3 > 1\n= extended 2 ..");
    assert!(observed(&mut stage).is_empty());
}

#[test]
fn the_votes_of_an_attempt_are_only_seen_where_they_are_wanted() {
    let mut stage = open(3);
    stage.machine.watch(Watching::Outcomes);
    stage.steps(HELD);
    let seen = observed(&mut stage);
    let [Observation::Attempt { votes, .. }] = &seen[..] else { panic!("{seen:?}") };
    assert!(votes.is_empty(), "{votes:?}");
}

#[test]
fn a_master_that_goes_down_changes_its_standing_and_the_margin() {
    let mut stage = open(3);
    let stands = |stage: &Stage, node| match stage.machine.masters().standing(stage.now, node) {
        Some(NodeStanding::Voting) => "voting",
        Some(NodeStanding::Down(_)) => "down",
        other => panic!("{other:?}"),
    };
    let margin = |stage: &Stage| stage.machine.masters().margin(stage.now);
    assert_eq!((stands(&stage, 0), margin(&stage)), ("voting", Some(Margin::Spare)));
    stage.breaks(0);
    assert_eq!((stands(&stage, 0), margin(&stage)), ("down", Some(Margin::Bare)));
    stage.breaks(1);
    assert_eq!((stands(&stage, 2), margin(&stage)), ("voting", Some(Margin::None)));
}

#[test]
fn what_a_lost_master_has_to_learn_is_owed() {
    let mut stage = open(3);
    stage.steps(HELD);
    assert_eq!(stage.machine.masters().owed(0), 0);
    stage.breaks(0);
    let attempt = stage.hold(1);
    stage.machine.handle_release(stage.now, None, attempt, true);
    assert_eq!([0, 1, 2].map(|node| stage.machine.masters().owed(node)), [1, 0, 0]);
}
