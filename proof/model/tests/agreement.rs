//! The model of the agreement: what its walks meet, what its written ways depend on, and how it tells a
//! trace.

use model::agreement::config::{Client, Config};
use model::agreement::mutants::Mutant;
use model::agreement::properties::{READERS, TWO_UNKNOWN};
use model::agreement::runs::{self, Run};
use model::agreement::search::Search;
use model::agreement::state::State;
use model::agreement::{Action, Agreement};
use model::checker::{Bounds, Model, Outcome, explore};
use model::run::Part;

const ONE_REPLACED: [Client; 2] = [Client::of(0b0111), Client::of(0b1110)];

fn quick() -> impl Iterator<Item = Run> {
    runs::all().into_iter().filter(|run| run.quick)
}

fn found(outcome: &Outcome<Action>) -> Option<(&'static str, usize)> {
    outcome.violation.as_ref().map(|found| (found.property, found.trace.len()))
}

#[test]
fn a_written_way_is_refused_where_the_rule_says_so() {
    for run in quick() {
        let Search::Written(way) = run.search else { continue };
        let mut config = run.config.clone();
        config.mutant = None;
        let agreement = Agreement::new(config);
        let mut state = agreement.initial();
        let refused = way.iter().find(|action| match agreement.step(&state, **action) {
            Some(next) => {
                state = next;
                false
            }
            None => true,
        });
        assert_eq!(refused, Some(&Action::Acquire { client: 0 }), "{}", run.name());
    }
}

#[test]
fn walks_find_what_a_search_finds() {
    for mutant in [
        Mutant::NoTimeLimit,
        Mutant::ProlongedOnce,
        Mutant::LifeWithoutSlack,
        Mutant::NoBarrier,
        Mutant::ListsCostOneVote,
        Mutant::OneMoreThanAMajority,
        Mutant::ForgottenAtAnyAnswer,
    ] {
        let clients = ONE_REPLACED.map(|client| client.ttl(2, 2));
        let config = Config::new("walked", 4, &clients).mutant(mutant);
        let walked = Agreement::new(config.clone()).walk(3_000_000, |_| ());
        let met = found(&walked).expect("a violation that is not rare");
        let searched = explore(&Agreement::new(config), Bounds { states: 1_000_000 }, |_| ());
        let shortest = found(&searched).expect("a violation that is near");
        assert_eq!((met.0, shortest.0), (TWO_UNKNOWN, TWO_UNKNOWN), "{mutant:?}");
        assert!(met.1 >= shortest.1 && met.1 <= 2 * shortest.1, "{mutant:?}: {met:?} {shortest:?}");
    }
}

#[test]
fn walks_are_repeatable_and_a_shortened_trace_still_fails() {
    let config = Config::new("walked", 4, &ONE_REPLACED).mutant(Mutant::NoBarrier);
    let agreement = Agreement::new(config);
    let [first, second] = [0, 1].map(|_| agreement.walk(3_000_000, |_| ()));
    assert_eq!((first.states, found(&first)), (second.states, found(&second)));
    let way = first.violation.expect("two holders").trace;
    assert_eq!(agreement.outcome_of(&way), Some(TWO_UNKNOWN));
    for left_out in 0..way.len() {
        let mut fewer = way.clone();
        fewer.remove(left_out);
        assert_eq!(agreement.outcome_of(&fewer), None, "step {left_out} can be left out");
    }
}

/// Explores for what is not forbidden.
struct Meets<F>(Agreement, F);

impl<F: Fn(&Agreement, &State) -> bool> Model for Meets<F> {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        self.0.initial()
    }

    fn successors(&self, state: &State, emit: impl FnMut(Action, State)) {
        self.0.successors(state, emit);
    }

    fn canonical(&self, state: State) -> State {
        self.0.canonical(state)
    }

    fn digest(&self, state: &State) -> u64 {
        self.0.digest(state)
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        (self.1)(&self.0, state).then_some("met")
    }
}

fn meets(config: Config, what: impl Fn(&Agreement, &State) -> bool) -> bool {
    let model = Meets(Agreement::new(config), what);
    explore(&model, Bounds { states: 400_000 }, |_| ()).violation.is_some()
}

fn two_hold(_: &Agreement, state: &State) -> bool {
    state.actors.iter().filter(|actor| actor.left > 0).count() > 1
}

#[test]
fn the_exception_is_reached_and_only_where_links_fail() {
    let lists = Config::new("two cut off from each other", 4, &ONE_REPLACED);
    assert!(meets(lists.clone(), two_hold), "two that could not know hold");
    assert!(!meets(lists.uncut(), two_hold), "with all links up no client holds beside another");
}

#[test]
fn a_client_that_learns_of_other_numbers_still_wins() {
    let numbers = [(2, 2), (1, 1)].map(|(ttl, max_ttl)| Client::of(0b111).ttl(ttl, max_ttl));
    let holds_and_knows = |_: &Agreement, state: &State| {
        (0..2).any(|client| {
            let reported =
                |node: &model::agreement::state::Node| node.links[client].reported[1 - client] > 0;
            state.actors[client].left > 0 && state.nodes.iter().any(reported)
        })
    };
    let config = Config::new("other numbers", 3, &numbers).tries(2, 0).restarts(1);
    assert!(meets(config, holds_and_knows));
}

#[test]
fn errors_change_nothing_where_all_else_is_well() {
    let config = Config::new("errors alone", 4, &ONE_REPLACED).uncut();
    let without = explore(&Agreement::new(config.clone()), Bounds { states: 150_000 }, |_| ());
    let with = explore(&Agreement::new(config.errors()), Bounds { states: 150_000 }, |_| ());
    assert!(without.complete && without.violation.is_none() && with.violation.is_none());
    assert!(with.states > without.states, "errors are answers");
}

#[test]
fn a_reader_receives_reports_and_causes_none() {
    let run = |mutant| {
        let runs = runs::all().into_iter();
        let mut reader_run =
            runs.into_iter().find(|run| run.config.is(Mutant::ReaderNotes)).expect("a run");
        reader_run.config.mutant = mutant;
        reader_run.explored(|_| ()).found.map(|(property, _)| property)
    };
    assert_eq!((run(None), run(Some(Mutant::ReaderNotes))), (None, Some(READERS)));
}

#[test]
fn a_trace_names_nodes_and_clients_the_same_throughout() {
    let config = Config::new("lists", 4, &ONE_REPLACED).mutant(Mutant::ListsCostOneVote);
    let agreement = Agreement::new(config);
    let found = explore(&agreement, Bounds { states: 50_000 }, |_| ()).violation.expect("two");
    assert_eq!(agreement.outcome_of(&found.trace), Some(TWO_UNKNOWN));
    let trace = agreement.in_words(&found.trace);
    assert_eq!(trace.len(), found.trace.len());
    let holds =
        |name: &str| trace.iter().any(|step| step.contains(&format!("grants {name}, which holds")));
    assert!(holds("A") && holds("B"), "{trace:#?}");
    assert!(trace.iter().any(|step| step.contains("which tells it of")), "{trace:#?}");
}
