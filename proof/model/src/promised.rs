//! What a model promises: whenever it is asked for, it happens in the end, although nothing is known of how soon.

use crate::checker::{Began, Model, Outcome, Violation};
use crate::fair::{Graph, Owed, Step};
use crate::run::{Kind, Part, Run, Searched};

/// What is not explored whole promises nothing.
const UNEXPLORED: &str = "all states are explored";

/// A model of which something is promised.
pub trait Promises: Part {
    /// The name of these runs.
    const PROMISED: &'static str;

    /// Returns the bounds without one on how long anything takes.
    fn endless(config: Self::Config) -> Self::Config;

    /// Forgets for how long anything has taken, and what only other properties need.
    fn forgets(&self, state: Self::State) -> Self::State;

    /// Returns to how many a promise is made: to each client, say.
    fn count(&self, promise: &str) -> usize;

    fn owed(&self, promise: &str, to: usize, state: &Self::State) -> Owed;

    fn class(
        &self,
        promise: &str,
        action: Self::Action,
        before: &Self::State,
        after: &Self::State,
    ) -> Step;
}

/// The same model without a bound on how long anything takes.
#[derive(Debug)]
pub struct Promised<P>(P);

impl<P: Promises> Model for Promised<P> {
    type State = P::State;
    type Action = P::Action;

    fn initial(&self) -> P::State {
        self.0.forgets(self.0.initial())
    }

    fn successors(&self, state: &P::State, mut emit: impl FnMut(P::Action, P::State)) {
        self.0.successors(state, |action, next| emit(action, self.0.forgets(next)));
    }

    fn canonical(&self, state: P::State) -> P::State {
        self.0.canonical(state)
    }

    fn digest(&self, state: &P::State) -> u64 {
        self.0.digest(state)
    }

    /// All that is promised is about ways, and not about states.
    fn violated(&self, _: &P::State) -> Option<&'static str> {
        None
    }
}

impl<P: Promises> Part for Promised<P> {
    type Config = P::Config;
    /// What is promised.
    type Search = &'static [&'static str];

    const NAME: &'static str = P::PROMISED;
    const HEADING: &'static str = "
# What must happen

Whenever it is asked for, it happens in the end, in the models above without any bound on how soon. A master answers what
it has, a timer that is due fires, a waiter asks when it is due, and time passes; faults need not happen, nor end. A rule
that is broken costs a way without an end: *7 + 3* steps are seven, and three that are taken again and again from then on;
after *+ 0* nothing has to happen any more. Those that wait in a list are promised L1 and L2, but L1 alone where first
nodes differ; those that stand in a line L1, and L2 where all come again and nothing fails.
";

    fn new(config: P::Config) -> Self {
        Self(P::new(config))
    }

    fn bounds(config: &P::Config) -> String {
        P::bounds(config)
    }

    fn sentence(&self, action: P::Action, before: &P::State, after: &P::State) -> String {
        self.0.sentence(action, before, after)
    }

    fn searched(
        &self,
        promises: &Self::Search,
        states: usize,
        progress: &mut dyn FnMut(usize),
    ) -> Searched<P::Action> {
        let began = Began::now();
        let graph = Graph::of(self, states, progress);
        let explored = graph.as_ref().map(|graph| (graph.len(), graph.depth()));
        let violation = match graph {
            Some(graph) => self.broken(graph, promises),
            None => Some(Violation { property: UNEXPLORED, trace: Vec::new(), again: None }),
        };
        let (complete, (states, depth)) = (explored.is_some(), explored.unwrap_or((states, 0)));
        let outcome = Outcome { states, depth, complete, violation, took: began.took() };
        Searched { extent: outcome.extent(), written: false, states, outcome }
    }
}

impl<P: Promises> Promised<P> {
    fn broken(
        &self,
        mut graph: Graph<Self>,
        promises: &[&'static str],
    ) -> Option<Violation<P::Action>> {
        promises.iter().find_map(|promise| {
            let class = |action, before: &P::State, after: &P::State| {
                self.0.class(promise, action, before, after)
            };
            graph.classify(self, class);
            (0..self.0.count(promise)).find_map(|to| {
                let found = graph.broken(self, class, |state| self.0.owed(promise, to, state))?;
                Some(Violation { property: promise, trace: found.trace, again: Some(found.again) })
            })
        })
    }
}

/// Returns a run in which this is promised.
pub(crate) fn holds<P: Promises>(
    promises: &'static [&'static str],
    config: P::Config,
) -> Run<Promised<P>> {
    Run { search: promises, ..Run::holds(P::endless(config)) }
}

/// Returns a run in which a promise is broken, by a broken rule or otherwise.
pub(crate) fn breaks<P: Promises>(
    kind: Kind,
    promise: &'static [&'static str; 1],
    config: P::Config,
) -> Run<Promised<P>> {
    Run { search: promise, ..Run::violates(kind, promise[0], P::endless(config)) }
}
