//! The runs that are explored, and their expected results.

mod holds;
mod mutants;

use super::config::Config;
use crate::runs::Kind;

#[derive(Clone, Debug)]
pub struct Run {
    pub kind: Kind,
    pub config: Config,
    /// The property that is violated; `None` if all hold.
    pub violates: Option<&'static str>,
    /// Part of the quick form.
    pub quick: bool,
}

impl Run {
    fn holds(config: Config) -> Self {
        Self { kind: Kind::Holds, config, violates: None, quick: false }
    }

    fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    fn violates(kind: Kind, property: &'static str, config: Config) -> Self {
        Self { kind, config, violates: Some(property), quick: true }
    }
}

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    let mut all = holds::runs();
    all.extend(mutants::runs());
    all
}
