//! The runs of a model, their expected results, and their traces in words.

use crate::checker::{Bounds, Model, Outcome, explore};
use crate::named::Named;
use crate::report::Explored;
use crate::settings::Settings;

/// The names of clients and attempts.
pub(crate) const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// The purpose of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Every property holds.
    Holds,
    /// A rule is broken, and a property finds it.
    Mutant,
    /// A rule is broken, and no property finds it: the rule is margin, or another rule is enough.
    Margin,
    /// An assumption is broken, or more is required than is promised: a property finds that, too.
    Limit,
}

/// One of the models, with its settings and its words.
pub trait Part: Model + Sized {
    type Config: Settings;
    /// The way in which states are visited, if there are several.
    type Search: Clone + Default;

    const NAME: &'static str;
    /// What stands in `results.md` before its tables.
    const HEADING: &'static str;

    fn new(config: Self::Config) -> Self;

    /// Returns the bounds of a run in a few words.
    fn bounds(config: &Self::Config) -> String;

    /// Returns a step in words, with names that stay the same throughout a trace.
    fn sentence(&self, action: Self::Action, before: &Self::State, after: &Self::State) -> String;

    /// Visits the states.
    fn searched(
        &self,
        _: &Self::Search,
        states: usize,
        progress: &mut dyn FnMut(usize),
    ) -> Searched<Self::Action> {
        let outcome = explore(self, Bounds { states }, progress);
        Searched { extent: outcome.extent(), written: false, states: outcome.states, outcome }
    }

    /// Returns the words that end the trace to such a violation.
    fn ending(_property: &str) -> Option<String> {
        None
    }

    /// Returns each step in words.
    fn in_words(&self, trace: &[Self::Action]) -> Vec<String> {
        let mut state = self.initial();
        let sentence = |action: &Self::Action| {
            let after = self.step(&state, *action).expect("a trace leads from step to step");
            let sentence = self.sentence(*action, &state, &after);
            state = after;
            sentence
        };
        trace.iter().map(sentence).collect()
    }
}

/// The result of a search.
pub struct Searched<A> {
    pub outcome: Outcome<A>,
    /// How far it went.
    pub extent: String,
    /// The trace was not found but written down.
    pub written: bool,
    /// The number of states, if they were counted.
    pub states: usize,
}

pub struct Run<P: Part> {
    pub kind: Kind,
    pub config: P::Config,
    pub search: P::Search,
    /// The property that is violated; `None` if all hold.
    pub violates: Option<&'static str>,
    /// Part of the quick form.
    pub quick: bool,
}

impl<P: Part> Run<P> {
    pub(crate) fn holds(config: P::Config) -> Self {
        let search = P::Search::default();
        Self { kind: Kind::Holds, config, search, violates: None, quick: false }
    }

    pub(crate) fn violates(kind: Kind, property: &'static str, config: P::Config) -> Self {
        Self { kind, violates: Some(property), ..Self::holds(config) }.quick()
    }

    /// Creates a run whose mutant no property finds.
    pub(crate) fn margin(config: P::Config) -> Self {
        Self { kind: Kind::Margin, ..Self::holds(config) }.quick()
    }

    pub(crate) fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    pub fn name(&self) -> String {
        match self.config.broken() {
            Some(mutant) => format!("{} ({})", mutant.words(), self.config.name()),
            None => self.config.name().to_owned(),
        }
    }

    /// Explores the run. `progress` is called now and then with the number of states.
    pub fn explored(&self, mut progress: impl FnMut(usize)) -> Explored {
        let model = P::new(self.config.clone());
        let found = model.searched(&self.search, self.config.states(), &mut progress);
        let violation = found.outcome.violation;
        let trace = violation.as_ref().map(|violation| {
            let ending = P::ending(violation.property);
            model.in_words(&violation.trace).into_iter().chain(ending).collect()
        });
        let trace: Vec<String> = trace.unwrap_or_default();
        let again = violation.as_ref().and_then(|violation| violation.again);
        Explored {
            heading: P::HEADING,
            kind: self.kind,
            name: self.name(),
            bounds: P::bounds(&self.config),
            expected: self.violates,
            found: violation.map(|violation| (violation.property, trace.len())),
            again,
            written: found.written,
            states: found.states,
            extent: found.extent,
            took: found.outcome.took,
            trace,
        }
    }
}

/// A run of any model.
pub trait AnyRun: Send + Sync {
    fn is_quick(&self) -> bool;

    /// Returns the name with that of the model before it.
    fn full_name(&self) -> String;

    /// Returns the beginning of its row in `results.md`.
    fn row(&self) -> String;

    fn explored(&self, progress: &mut dyn FnMut(usize)) -> Explored;
}

impl<P: Part> AnyRun for Run<P>
where
    P::Config: Send + Sync,
    P::Search: Send + Sync,
{
    fn is_quick(&self) -> bool {
        self.quick
    }

    fn full_name(&self) -> String {
        format!("{}: {}", P::NAME, self.name())
    }

    fn row(&self) -> String {
        format!("| {} | {} |", self.name(), P::bounds(&self.config))
    }

    fn explored(&self, progress: &mut dyn FnMut(usize)) -> Explored {
        self.explored(progress)
    }
}

/// Returns all runs of all models, in the order of the report.
pub fn all() -> Vec<Box<dyn AnyRun>> {
    fn boxed<P: Part>(runs: Vec<Run<P>>) -> impl Iterator<Item = Box<dyn AnyRun>>
    where
        Run<P>: AnyRun + 'static,
    {
        runs.into_iter().map(|run| Box::new(run) as Box<dyn AnyRun>)
    }
    let plain = boxed(crate::plain::runs::all()).chain(boxed(crate::agreement::runs::all()));
    let shared = boxed(crate::sharing::runs::all()).chain(boxed(crate::waiting::runs::all()));
    let lines = boxed(crate::listed::runs::all()).chain(boxed(crate::line::runs::all()));
    let promised = boxed(crate::plain::promises::runs())
        .chain(boxed(crate::waiting::promises::runs()))
        .chain(boxed(crate::listed::promises::runs()))
        .chain(boxed(crate::line::promises::runs()));
    let all = plain.chain(shared).chain(lines).chain(boxed(crate::bursts::runs::all()));
    all.chain(promised).collect()
}
