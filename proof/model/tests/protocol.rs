//! The model of the protocol: what it takes for the same, and how it tells a trace.

use model::checker::{Bounds, Model, explore};
use model::plain::config::Config;
use model::plain::mutants::Mutant;
use model::plain::properties::Property;
use model::plain::state::State;
use model::plain::{Action, Protocol};
use model::run::Part;

fn is_same(protocol: &Protocol, state: State, other: State) -> bool {
    let digest = |state| protocol.digest(&protocol.canonical(state));
    digest(state) == digest(other)
}

/// The state after the actions that `wanted` picks, each among those that are possible then.
fn after(protocol: &Protocol, wanted: &[fn(&Action) -> bool]) -> State {
    wanted.iter().fold(protocol.initial(), |state, wanted| {
        let mut found = None;
        protocol.successors(&state, |action, next| {
            if found.is_none() && wanted(&action) {
                found = Some(next);
            }
        });
        found.expect("a step that is possible")
    })
}

const BEGIN: fn(&Action) -> bool = |action| matches!(action, Action::Begin { .. });
const FIRST_GRANTS: fn(&Action) -> bool =
    |action| matches!(action, Action::Deliver { node: 0, .. });
const LAST_GRANTS: fn(&Action) -> bool = |action| matches!(action, Action::Deliver { node: 2, .. });

#[test]
fn nodes_that_can_change_places_are_the_same_and_others_are_not() {
    let alike = Protocol::new(Config::new("alike", 3, 2));
    let first = after(&alike, &[BEGIN, FIRST_GRANTS]);
    let last = after(&alike, &[BEGIN, LAST_GRANTS]);
    assert!(first != last && is_same(&alike, first, last));

    let mut config = Config::new("one of them has another clock", 3, 2);
    config.ahead[2] = 1;
    let apart = Protocol::new(config);
    assert!(!is_same(&apart, first, last));
}

#[test]
fn an_unread_grant_and_no_grant_are_different_states() {
    let protocol = Protocol::new(Config::new("a grant", 3, 2));
    let none = after(&protocol, &[BEGIN]);
    let unread = after(&protocol, &[BEGIN, FIRST_GRANTS]);
    let both = after(&protocol, &[BEGIN, FIRST_GRANTS, LAST_GRANTS]);
    assert!(!is_same(&protocol, none, unread) && !is_same(&protocol, unread, both));
}

#[test]
fn a_trace_names_nodes_and_attempts_the_same_throughout() {
    let config = Config::new("half", 3, 2).mutant(Mutant::HalfIsAQuorum);
    let protocol = Protocol::new(config.properties(&[Property::Exclusion]));
    let found = explore(&protocol, Bounds { states: 1000 }, |_| ()).violation.expect("two holders");
    let trace = protocol.in_words(&found.trace);
    let [begins, grants, wins, begins_too, grants_too, wins_too] =
        trace.as_slice().try_into().map(|trace: &[String; 6]| trace).expect("six steps");
    assert_eq!((begins.as_str(), begins_too.as_str()), ("A begins", "B begins"));
    assert!(wins.starts_with("A wins") && wins_too.starts_with("B wins"), "{trace:?}");
    let place = |grants: &str| grants.split(' ').next().map(str::to_owned);
    assert!(grants.ends_with("grants A") && grants_too.ends_with("grants B"), "{trace:?}");
    assert_ne!(place(grants), place(grants_too), "one node grants one of them");
}
