//! The notes for a subscriber or a recorder, and that without one nothing is noted.
#![cfg(feature = "watched")]

use super::super::{Decided, Margin, Note, Prolonged, Watching};
use super::open;
use super::stage::Stage;
use crate::report::Answer;
use crate::status::NodeStanding;

fn watched(masters: usize) -> Stage {
    let mut stage = open(masters);
    stage.machine.watch(Watching::Votes);
    stage
}

fn notes(stage: &mut Stage) -> Vec<Note> {
    std::iter::from_fn(|| stage.machine.poll_note()).collect()
}

/// Held on two of three masters, the third has refused.
const HELD: &str = "acquire 1 r
                    n1-3 < SET ..
                    n3 > nil
                    n1-2 > ok
                    = acquired 1 ..";

#[test]
fn each_attempt_is_noted_once_with_its_number_and_what_each_master_said() {
    let mut stage = watched(3);
    stage.steps("acquire 1 r\nn1-3 < SET ..\n+3ms");
    assert!(notes(&mut stage).is_empty(), "nothing is decided");
    stage.steps("n3 > nil\nn1-2 > ok\n= acquired 1 ..");
    let noted = notes(&mut stage);
    let [Note::Attempt { number: 1, decided: Decided::Won, took, votes, .. }] = &noted[..] else {
        panic!("{noted:?}")
    };
    assert_eq!(took.as_millis(), 3);
    let granted = votes.iter().filter(|one| one.answer == Answer::Granted).count();
    assert_eq!((granted, votes.len()), (2, 3), "{votes:?}");
}

#[test]
fn a_lost_attempt_is_noted_before_the_next_one_begins() {
    let mut stage = watched(1);
    stage.steps("acquire 1 r\nn1 < SET ..\nn1 > nil");
    let noted = notes(&mut stage);
    let [Note::Attempt { number: 1, decided: Decided::Contended, votes, .. }] = &noted[..] else {
        panic!("{noted:?}")
    };
    assert!(matches!(votes[0].answer, Answer::Refused(_)), "{votes:?}");
}

#[test]
fn an_extension_is_noted_with_who_is_topped_up_by_it() {
    let mut stage = watched(3);
    stage.steps(HELD);
    notes(&mut stage);
    stage.steps("extend 2 of 1\nn1-3 < EVALSHA ..\nn3 > 0\nn1-2 > 1\n= extended 2 ..\nn3 < SET ..");
    let noted = notes(&mut stage);
    let [Note::Extension { by_keeper: false, decided, .. }, Note::ToppedUp { node, .. }] =
        &noted[..]
    else {
        panic!("{noted:?}")
    };
    assert_eq!((*decided, &**node), (Prolonged::Extended, &*stage.machine.sessions[2].name));
}

#[test]
fn without_anybody_who_watches_nothing_is_noted() {
    let mut stage = open(3);
    stage.steps(HELD);
    stage.steps("extend 2 of 1\nn1-3 < EVALSHA ..\nn1-3 > 1\n= extended 2 ..");
    assert!(notes(&mut stage).is_empty());
}

#[test]
fn the_votes_of_an_attempt_are_only_noted_for_who_wants_them() {
    let mut stage = open(3);
    stage.machine.watch(Watching::Outcomes);
    stage.steps(HELD);
    let noted = notes(&mut stage);
    let [Note::Attempt { votes, .. }] = &noted[..] else { panic!("{noted:?}") };
    assert!(votes.is_empty(), "{votes:?}");
}

#[test]
fn a_master_that_goes_changes_how_it_stands_and_how_many_can_be_spared() {
    let mut stage = open(3);
    let stands = |stage: &Stage, node| match stage.machine.standing(stage.now, node) {
        Some(NodeStanding::Voting) => "voting",
        Some(NodeStanding::Down(_)) => "down",
        other => panic!("{other:?}"),
    };
    let margin = |stage: &Stage| stage.machine.margin(stage.now);
    assert_eq!((stands(&stage, 0), margin(&stage)), ("voting", Some(Margin::Spare)));
    stage.breaks(0);
    assert_eq!((stands(&stage, 0), margin(&stage)), ("down", Some(Margin::Bare)));
    stage.breaks(1);
    assert_eq!((stands(&stage, 2), margin(&stage)), ("voting", Some(Margin::None)));
}

#[test]
fn what_a_master_that_is_gone_has_to_be_told_is_owed() {
    let mut stage = open(3);
    stage.steps(HELD);
    assert_eq!(stage.machine.owed(0), 0);
    stage.breaks(0);
    let attempt = stage.hold(1);
    stage.machine.handle_release(stage.now, None, attempt, true);
    assert_eq!([0, 1, 2].map(|node| stage.machine.owed(node)), [1, 0, 0]);
}
