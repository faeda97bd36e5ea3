//! What is promised: each broken rule breaks it where the rule keeps it, by a way without an end that is shown as one.

use model::checker::Model;
use model::fair::Owed;
use model::line::{self, Line};
use model::listed::{self, Listed};
use model::plain::{self, Protocol};
use model::promised::{Promised, Promises};
use model::run::{Kind, Part, Run};
use model::settings::Settings;
use model::waiting::{self, Waiting};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// So many states are explored twice.
const FEW: usize = 10_000;

fn shown<C: Settings + Debug>(config: &C) -> String {
    format!("{:?}", config.clone().unbroken())
}

/// Returns how many rules break each promise.
fn counts<P: Promises>(runs: &[Run<Promised<P>>]) -> BTreeMap<&'static str, usize>
where
    P::Config: Debug,
{
    let names: BTreeSet<String> = runs.iter().map(Run::name).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut broken = 0;
    for run in runs.iter().filter(|run| run.kind != Kind::Holds) {
        let promise = run.violates.expect("a promise");
        assert_eq!(run.search, [promise], "{}", run.name());
        broken += usize::from(runs.iter().filter(|other| other.name() == run.name()).count() > 1);
        if run.kind == Kind::Limit {
            continue;
        }
        let keeps = |other: &&Run<Promised<P>>| {
            other.kind == Kind::Holds && other.search.contains(&promise)
        };
        let mut kept = runs.iter().filter(keeps).map(|other| shown(&other.config));
        assert!(kept.any(|kept| kept == shown(&run.config)), "{}, unbroken", run.name());
        *counts.entry(promise).or_default() += 1;
    }
    assert!(names.len() + broken >= runs.len(), "two runs with one name");
    counts
}

#[test]
fn each_promise_is_broken_by_two_rules_where_it_is_kept_with_them() {
    let plain = counts::<Protocol>(&plain::promises::runs());
    let waiting = counts::<Waiting>(&waiting::promises::runs());
    let listed = counts::<Listed>(&listed::promises::runs());
    let line = counts::<Line>(&line::promises::runs());
    for (promise, count) in [plain, waiting, listed, line].into_iter().flatten() {
        assert!(count > 1, "{promise}: {count}");
    }
}

/// Checks the way that each broken rule costs, step by step.
fn is_shown<P: Promises>(runs: Vec<Run<Promised<P>>>) {
    for run in runs.into_iter().filter(|run| run.kind != Kind::Holds) {
        let (name, promise) = (run.name(), run.violates.expect("a promise"));
        let model = Promised::<P>::new(run.config.clone());
        let outcome = model.searched(&run.search, 500_000, &mut |_| ()).outcome;
        let found = outcome.violation.unwrap_or_else(|| panic!("{name}: kept"));
        assert_eq!(found.property, promise, "{name}");
        let again = found.again.expect("a way without an end");
        let begins = found.trace.len() - again;
        let mut state = model.initial();
        let mut cycle = vec![state];
        for (place, action) in found.trace.iter().enumerate() {
            state = model.step(&state, *action).expect("a way");
            if place < begins {
                cycle.clear();
            }
            cycle.push(state);
        }
        let digest = |state: &P::State| model.digest(&model.canonical(*state));
        assert_eq!(digest(&cycle[0]), digest(&state), "{name}: it does not come back");
        let of = P::new(run.config.clone());
        let is_owed =
            |to: usize| cycle.iter().all(|state| of.owed(promise, to, state) != Owed::Kept);
        assert!((0..Promises::count(&of, promise)).any(is_owed), "{name}: it is kept on the way");
        if outcome.states > FEW {
            continue;
        }
        let printed = run.explored(|_| ()).printed();
        assert!(printed.contains(&format!("in {begins} + {again} steps")), "{printed}");
        let mark = if again > 0 { "again and again:" } else { "nothing has to happen" };
        assert!(printed.contains(mark), "{printed}");
    }
}

#[test]
fn a_rule_on_unwanted_keys_that_is_broken_costs_a_way_without_an_end() {
    is_shown(plain::promises::runs());
}

#[test]
fn a_rule_on_readers_and_writers_that_is_broken_costs_a_way_without_an_end() {
    is_shown(waiting::promises::runs());
}

#[test]
fn a_rule_of_lists_that_is_broken_costs_a_way_without_an_end() {
    is_shown(listed::promises::runs());
}

#[test]
fn a_rule_of_the_line_that_is_broken_costs_a_way_without_an_end() {
    is_shown(line::promises::runs());
}
