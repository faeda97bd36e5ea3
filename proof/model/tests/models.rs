//! What is true of every model: nodes can change places, each rule broken on purpose is found, and
//! nothing is found without one.

use model::agreement::{self, Agreement};
use model::checker::{Bounds, Model, Outcome, explore};
use model::line::{self, Line};
use model::listed::{self, Listed};
use model::named::Named;
use model::plain::{self, Protocol};
use model::run::{Part, Run};
use model::settings::Settings;
use model::sharing::{self, Sharing};
use model::waiting::{self, Waiting};
use std::collections::BTreeSet;

/// A model with every node and client distinguished from every other.
struct Apart<M>(M);

impl<M: Model> Model for Apart<M> {
    type State = M::State;
    type Action = M::Action;

    fn initial(&self) -> M::State {
        self.0.initial()
    }

    fn successors(&self, state: &M::State, emit: impl FnMut(M::Action, M::State)) {
        self.0.successors(state, emit);
    }

    fn canonical(&self, state: M::State) -> M::State {
        state
    }

    fn digest(&self, state: &M::State) -> u64 {
        self.0.digest(state)
    }

    fn violated(&self, state: &M::State) -> Option<&'static str> {
        self.0.violated(state)
    }
}

/// Checks that names change neither a verdict nor its length, in all quick runs of few states, of which
/// there have to be some.
fn is_same_with_names<P: Part>(runs: Vec<Run<P>>, (factor, some): (usize, usize)) {
    let found = |outcome: &Outcome<P::Action>| {
        outcome.violation.as_ref().map(|found| (found.property, found.trace.len()))
    };
    let mut compared = 0;
    for run in runs.into_iter().filter(|run| run.quick) {
        let (name, model) = (run.name(), P::new(run.config));
        let few = explore(&model, Bounds { states: 20_000 }, |_| ());
        if few.complete || few.violation.is_some() {
            let many = explore(&Apart(model), Bounds { states: 20_000 * factor }, |_| ());
            assert_eq!(found(&few), found(&many), "{name}");
            assert_eq!((few.complete, few.depth), (many.complete, many.depth), "{name}");
            assert!(few.states <= many.states, "{name}");
            compared += 1;
        }
    }
    assert!(compared > some, "only {compared} runs of {} are small enough", P::NAME);
}

#[test]
fn to_take_nodes_for_the_same_changes_no_verdict_and_no_length() {
    is_same_with_names(plain::runs::all(), (120, 20));
    is_same_with_names(sharing::runs::all(), (120, 20));
    is_same_with_names(waiting::runs::all(), (120, 5));
}

#[test]
fn symmetry_of_nodes_and_clients_changes_no_verdict_or_length() {
    let is_searched = |run: &Run<Agreement>| matches!(run.search, agreement::search::Search::All);
    let searched = agreement::runs::all().into_iter().filter(is_searched);
    is_same_with_names(searched.collect(), (24, 5));
}

/// Checks that a run catches each mutant but those that are `margin` or break what is `promised` alone, and that names
/// are used once.
fn is_run<P: Part>(
    runs: &[Run<P>],
    margin: &[<P::Config as Settings>::Mutant],
    promised: &[<P::Config as Settings>::Mutant],
) {
    let names: BTreeSet<String> = runs.iter().map(Run::name).collect();
    assert_eq!(names.len(), runs.len(), "two runs of {} with one name", P::NAME);
    for mutant in Named::ALL.iter().filter(|mutant| !promised.contains(mutant)) {
        let breaks = |run: &&Run<P>| run.config.broken() == Some(*mutant);
        let caught = |run: &Run<P>| run.violates.is_some() || margin.contains(mutant);
        assert!(runs.iter().filter(breaks).any(caught), "no run catches {mutant:?}");
    }
}

#[test]
fn every_mutant_is_run_and_every_run_is_named_once() {
    use agreement::mutants::Mutant::TopUpUngated;
    use line::mutants::Mutant::{
        CallForGood, ForgetsCall, GoneAreHeard, LateStay, LineDecides, NotAskedAgain, NotPassedOn,
        NotTold,
    };
    use listed::mutants::Mutant::{
        GoneIsCalled, LateAsksAreLost, NoneAsks, NoneIsPublished, NoneListens, OwnCallCounts,
        RefusedStands, StampsAreNew,
    };
    use plain::mutants::Mutant::DebtsWait;
    use sharing::mutants::Mutant::{GrantKeepsLife, RoundsStayOpen, VacantConverts};
    use waiting::mutants::Mutant::{HintDeletedUncompared, NeverWakes};
    let margin = [
        GoneIsCalled,
        LateAsksAreLost,
        NoneAsks,
        NoneIsPublished,
        NoneListens,
        OwnCallCounts,
        RefusedStands,
    ];
    is_run::<Protocol>(&plain::runs::all(), &[], &[DebtsWait]);
    is_run::<Agreement>(&agreement::runs::all(), &[TopUpUngated], &[]);
    is_run::<Sharing>(
        &sharing::runs::all(),
        &[GrantKeepsLife, RoundsStayOpen, VacantConverts],
        &[],
    );
    is_run::<Waiting>(&waiting::runs::all(), &[HintDeletedUncompared], &[NeverWakes]);
    is_run::<Listed>(&listed::runs::all(), &margin, &[StampsAreNew]);
    is_run::<Line>(
        &line::runs::all(),
        &[GoneAreHeard, ForgetsCall, NotPassedOn, NotTold],
        &[LineDecides, CallForGood, LateStay, NotAskedAgain],
    );
}

/// Checks as many states as are worth it of each quick run: without the mutant, what catches it holds.
fn holds_without<P: Part>(runs: Vec<Run<P>>, states: usize) {
    for run in runs.into_iter().filter(|run| run.quick && run.config.broken().is_some()) {
        let name = run.name();
        let model = P::new(run.config.unbroken());
        let outcome = model.searched(&run.search, states, &mut |_| ()).outcome;
        let trace = outcome.violation.map(|found| model.in_words(&found.trace));
        assert_eq!(trace, None, "{name}, without the mutant");
    }
}

#[test]
fn what_catches_a_mutant_holds_without_it() {
    holds_without::<Protocol>(plain::runs::all(), 50_000);
    holds_without::<Agreement>(agreement::runs::all(), 40_000);
    holds_without::<Sharing>(sharing::runs::all(), 50_000);
    holds_without::<Waiting>(waiting::runs::all(), 50_000);
}
