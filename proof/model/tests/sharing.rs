//! The models of readers and writers: what they take for the same, that every rule broken on purpose
//! is found, and that nothing is found without one.

use model::checker::{Bounds, Model, Outcome, explore};
use model::runs::Kind;
use model::sharing::{self, Action, Sharing};
use model::waiting::{self, Waiting};
use std::collections::BTreeSet;

/// A model with every node told from every other.
struct Named<M>(M);

impl<M: Model> Model for Named<M> {
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

/// Checks that names of nodes change neither the verdict nor its length. Returns whether there were
/// few enough states to tell.
fn is_same_with_names<M: Model>(name: &str, model: M) -> bool {
    let found = |one: &Outcome<M::Action>| {
        one.violation.as_ref().map(|found| (found.property, found.trace.len()))
    };
    let few = explore(&model, Bounds { states: 20_000 }, |_| ());
    if !few.complete && few.violation.is_none() {
        return false;
    }
    let many = explore(&Named(model), Bounds { states: 20_000 * 120 }, |_| ());
    assert_eq!(found(&few), found(&many), "{name}");
    assert_eq!((few.complete, few.depth), (many.complete, many.depth), "{name}");
    assert!(few.states <= many.states, "{name}");
    true
}

fn sharing_runs() -> impl Iterator<Item = sharing::runs::Run> {
    sharing::runs::all().into_iter().filter(|run| run.quick)
}

fn waiting_runs() -> impl Iterator<Item = waiting::runs::Run> {
    waiting::runs::all().into_iter().filter(|run| run.quick)
}

#[test]
fn to_take_nodes_for_the_same_changes_no_verdict_and_no_length() {
    let sharing = sharing_runs()
        .filter(|run| is_same_with_names(&run.name(), Sharing::new(run.config.clone())));
    assert!(sharing.count() > 20, "too few runs of readers and writers are compared");
    let waiting = waiting_runs()
        .filter(|run| is_same_with_names(&run.name(), Waiting::new(run.config.clone())));
    assert!(waiting.count() > 5, "too few runs of who waits are compared");
}

#[test]
fn every_mutant_is_run_and_every_run_is_named_once() {
    let (sharing, waiting) = (sharing::runs::all(), waiting::runs::all());
    let names = sharing.iter().map(|run| run.name()).chain(waiting.iter().map(|run| run.name()));
    let names: Vec<String> = names.collect();
    let distinct: BTreeSet<&String> = names.iter().collect();
    assert_eq!(names.len(), distinct.len(), "two runs of one name");
    for mutant in sharing::mutant::Mutant::ALL {
        let here = |run: &&sharing::runs::Run| run.config.is(mutant) && run.kind != Kind::Holds;
        assert!(sharing.iter().any(|run| here(&run)), "{mutant:?} is in no run");
    }
    for mutant in waiting::mutant::Mutant::ALL {
        let here = |run: &&waiting::runs::Run| run.config.is(mutant) && run.kind != Kind::Holds;
        assert!(waiting.iter().any(|run| here(&run)), "{mutant:?} is in no run");
    }
}

/// As many as are worth it: the same configuration without the mutant has no violation of what
/// catches it, within these states.
#[test]
fn what_catches_a_mutant_holds_without_it() {
    for run in sharing_runs().filter(|run| run.config.mutant.is_some()) {
        let name = run.name();
        let mut config = run.config;
        config.mutant = None;
        let sharing = Sharing::new(config);
        let outcome = explore(&sharing, Bounds { states: 50_000 }, |_| ());
        let told = outcome.violation.map(|found| sharing.told(&found.trace));
        assert_eq!(told, None, "{name}, without the mutant");
    }
    for run in waiting_runs().filter(|run| run.config.mutant.is_some()) {
        let name = run.name();
        let mut config = run.config;
        config.mutant = None;
        let waiting = Waiting::new(config);
        let outcome = explore(&waiting, Bounds { states: 50_000 }, |_| ());
        let told = outcome.violation.map(|found| waiting.told(&found.trace));
        assert_eq!(told, None, "{name}, without the mutant");
    }
}

/// What the runs are for is reached: readers beside each other, a writer that became a reader beside
/// another, a write guard that was given back.
#[test]
fn the_runs_reach_what_they_are_about() {
    use model::sharing::config::Config;
    use model::sharing::state::{DOWNGRADE, Phase, RoundPhase, State};
    let reaches = |config: Config, wanted: fn(&State) -> bool| {
        let sharing = Sharing::new(config);
        let mut seen = BTreeSet::new();
        let mut queue = vec![sharing.initial()];
        while let Some(state) = queue.pop() {
            if wanted(&state) {
                return true;
            }
            sharing.successors(&state, |_, next| {
                let next = sharing.canonical(next);
                if seen.insert(sharing.digest(&next)) {
                    queue.push(next);
                }
            });
        }
        false
    };
    let two_read = |state: &State| {
        let reads = |one: &&sharing::state::Actor| one.phase == Phase::Held && one.reads;
        state.actors.iter().filter(reads).count() == 2
    };
    assert!(reaches(Config::new("two readers", 3, "RR"), two_read));
    let downgraded = |state: &State| {
        let [one, other, ..] = &state.actors;
        one.rounds[DOWNGRADE].phase == RoundPhase::Won
            && one.phase == Phase::Held
            && other.phase == Phase::Held
    };
    assert!(reaches(Config::new("a downgrade, a reader", 3, "DR"), downgraded));
    let given_back = |state: &State| {
        let [one, ..] = &state.actors;
        one.phase == Phase::Held && !one.reads && state.errors == 0
    };
    assert!(reaches(Config::new("a downgrade, errors", 3, "D").errors(3), given_back));
    let two_write = |state: &State| {
        let writes = |one: &&sharing::state::Actor| one.phase == Phase::Held && !one.reads;
        state.actors.iter().filter(writes).count() == 2
    };
    assert!(!reaches(Config::new("two writers", 3, "WW"), two_write));
}

#[test]
fn a_trace_names_readers_and_writers() {
    use model::sharing::config::Config;
    use model::sharing::mutant::Mutant;
    let config = Config::new("a reader", 1, "WR").mutant(Mutant::ReaderBlind);
    let sharing = Sharing::new(config);
    let found = explore(&sharing, Bounds { states: 1000 }, |_| ()).violation.expect("two holders");
    assert!(matches!(found.trace.last(), Some(Action::Deliver { .. } | Action::Win { .. })));
    let told = sharing.told(&found.trace);
    let has = |words: &str| told.iter().any(|step| step == words);
    assert!(has("writer A begins") && has("1 grants writer A"), "{told:?}");
    assert!(has("reader B begins") && has("1 grants reader B"), "{told:?}");
}
