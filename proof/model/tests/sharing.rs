//! The model of readers and writers: what its runs reach, and how it tells a trace.

use model::checker::{Bounds, Model, explore};
use model::run::Part;
use model::sharing::{self, Action, Sharing};
use std::collections::BTreeSet;

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
        let reads = |actor: &&sharing::state::Actor| actor.phase == Phase::Held && actor.reads;
        state.actors.iter().filter(reads).count() == 2
    };
    assert!(reaches(Config::new("two readers", 3, "RR"), two_read));
    let downgraded = |state: &State| {
        let [writer, reader, ..] = &state.actors;
        writer.rounds[DOWNGRADE].phase == RoundPhase::Won
            && writer.phase == Phase::Held
            && reader.phase == Phase::Held
    };
    assert!(reaches(Config::new("a downgrade, a reader", 3, "DR"), downgraded));
    let given_back = |state: &State| {
        let [writer, ..] = &state.actors;
        writer.phase == Phase::Held && !writer.reads && state.errors == 0
    };
    assert!(reaches(Config::new("a downgrade, errors", 3, "D").errors(3), given_back));
    let two_write = |state: &State| {
        let writes = |actor: &&sharing::state::Actor| actor.phase == Phase::Held && !actor.reads;
        state.actors.iter().filter(writes).count() == 2
    };
    assert!(!reaches(Config::new("two writers", 3, "WW"), two_write));
}

#[test]
fn a_trace_names_readers_and_writers() {
    use model::sharing::config::Config;
    use model::sharing::mutants::Mutant;
    let config = Config::new("a reader", 1, "WR").mutant(Mutant::ReaderBlind);
    let sharing = Sharing::new(config);
    let found = explore(&sharing, Bounds { states: 1000 }, |_| ()).violation.expect("two holders");
    assert!(matches!(found.trace.last(), Some(Action::Deliver { .. } | Action::Win { .. })));
    let trace = sharing.in_words(&found.trace);
    let has = |words: &str| trace.iter().any(|step| step == words);
    assert!(has("writer A begins") && has("1 grants writer A"), "{trace:?}");
    assert!(has("reader B begins") && has("1 grants reader B"), "{trace:?}");
}
