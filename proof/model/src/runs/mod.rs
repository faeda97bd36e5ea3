//! The runs that are explored, and their expected results.

mod holds;
mod limits;
mod mutants;

use crate::config::Config;
use crate::properties::Property;

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

#[derive(Clone, Debug)]
pub struct Run {
    pub kind: Kind,
    pub config: Config,
    /// The property that is violated; `None` if all hold.
    pub violates: Option<Property>,
    /// Part of the quick form.
    pub quick: bool,
}

impl Run {
    fn holds(config: Config) -> Self {
        Self { kind: Kind::Holds, config, violates: None, quick: false }
    }

    /// Creates a run that checks only the property that it violates, so that the trace ends there.
    fn violates(kind: Kind, property: &'static [Property; 1], config: Config) -> Self {
        let config = config.properties(property);
        Self { kind, config, violates: Some(property[0]), quick: true }
    }

    fn quick(mut self) -> Self {
        self.quick = true;
        self
    }
}

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    let mut all = holds::runs();
    all.extend(mutants::runs());
    all.extend(limits::runs());
    all
}
