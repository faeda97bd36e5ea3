//! The model of the protocol: what it takes for the same, what it never leaves out, and how it
//! tells a trace.

use model::checker::{Bounds, Model, Outcome, explore};
use model::config::Config;
use model::mutant::Mutant;
use model::properties::Property;
use model::state::State;
use model::{Action, Protocol, runs};

fn is_same(protocol: &Protocol, one: State, other: State) -> bool {
    let digest = |state| protocol.digest(&protocol.canonical(state));
    digest(one) == digest(other)
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
    let one = after(&alike, &[BEGIN, FIRST_GRANTS]);
    let other = after(&alike, &[BEGIN, LAST_GRANTS]);
    assert!(one != other && is_same(&alike, one, other));

    let mut config = Config::new("one of them has another clock", 3, 2);
    config.ahead[2] = 1;
    let apart = Protocol::new(config);
    assert!(!is_same(&apart, one, other));
}

#[test]
fn an_unread_grant_and_no_grant_are_different_states() {
    let protocol = Protocol::new(Config::new("a grant", 3, 2));
    let none = after(&protocol, &[BEGIN]);
    let one = after(&protocol, &[BEGIN, FIRST_GRANTS]);
    let two = after(&protocol, &[BEGIN, FIRST_GRANTS, LAST_GRANTS]);
    assert!(!is_same(&protocol, none, one) && !is_same(&protocol, one, two));
}

/// The protocol with every node told from every other.
struct Named(Protocol);

impl Model for Named {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        self.0.initial()
    }

    fn successors(&self, state: &State, emit: impl FnMut(Action, State)) {
        self.0.successors(state, emit);
    }

    fn canonical(&self, state: State) -> State {
        state
    }

    fn digest(&self, state: &State) -> u64 {
        self.0.digest(state)
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        self.0.violated(state)
    }
}

#[test]
fn to_take_nodes_for_the_same_changes_no_verdict_and_no_length() {
    for run in runs::all().into_iter().filter(|run| run.quick) {
        let (name, bounds) = (run.name(), Bounds { states: 20_000 });
        let protocol = Protocol::new(run.config);
        let few = explore(&protocol, bounds, |_| ());
        if few.complete || few.violation.is_some() {
            let many = explore(&Named(protocol), Bounds { states: 20_000 * 120 }, |_| ());
            let found = |one: &Outcome<Action>| {
                one.violation.as_ref().map(|found| (found.property, found.trace.len()))
            };
            assert_eq!(found(&few), found(&many), "{name}");
            assert_eq!((few.complete, few.depth), (many.complete, many.depth), "{name}");
            assert!(few.states <= many.states, "{name}");
        }
    }
}

#[test]
fn a_trace_names_nodes_and_attempts_the_same_throughout() {
    let config = Config::new("half", 3, 2).mutant(Mutant::HalfIsAQuorum);
    let protocol = Protocol::new(config.properties(&[Property::Exclusion]));
    let found = explore(&protocol, Bounds { states: 1000 }, |_| ()).violation.expect("two holders");
    let told = protocol.told(&found.trace);
    let [begins, grants, wins, begins_too, grants_too, wins_too] =
        told.as_slice().try_into().map(|told: &[String; 6]| told).expect("six steps");
    assert_eq!((begins.as_str(), begins_too.as_str()), ("A begins", "B begins"));
    assert!(wins.starts_with("A wins") && wins_too.starts_with("B wins"), "{told:?}");
    let place = |grants: &str| grants.split(' ').next().map(str::to_owned);
    assert!(grants.ends_with("grants A") && grants_too.ends_with("grants B"), "{told:?}");
    assert_ne!(place(grants), place(grants_too), "one node grants one of them");
}

#[test]
fn every_mutant_is_run_and_every_run_is_named_once() {
    let runs = runs::all();
    let mut names: Vec<String> = runs.iter().map(runs::Run::name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two runs of one name");
    for mutant in Mutant::ALL {
        let caught = |run: &&runs::Run| run.config.is(mutant) && run.violates.is_some();
        assert!(runs.iter().any(|run| caught(&run)), "{mutant:?} is in no run that catches it");
    }
}

/// As many as are worth it: the same configuration without the mutant has no violation of what
/// catches it, within the states of the quick form.
#[test]
fn what_catches_a_mutant_holds_without_it() {
    for run in runs::all().into_iter().filter(|run| run.quick && run.config.mutant.is_some()) {
        let name = run.name();
        let mut config = run.config;
        config.mutant = None;
        let protocol = Protocol::new(config);
        let outcome = explore(&protocol, Bounds { states: 50_000 }, |_| ());
        let told = outcome.violation.map(|found| protocol.told(&found.trace));
        assert_eq!(told, None, "{name}, without the mutant");
    }
}
