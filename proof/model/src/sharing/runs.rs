//! The runs that are explored, and their expected results.

mod holds;
mod mutants;

use super::config::Config;
use super::property::Property;
use crate::runs::Kind;

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
    fn violates(property: &'static [Property; 1], config: Config) -> Self {
        let config = config.properties(property);
        Self { kind: Kind::Mutant, config, violates: Some(property[0]), quick: true }
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
    all
}
