//! The runs that are explored, and their expected results.

mod holds;
mod limits;
mod mutants;

use super::Protocol;
use super::config::Config;
use super::properties::Property;
use crate::named::Named;
use crate::run::Kind;

pub type Run = crate::run::Run<Protocol>;

/// Creates a run that checks only the property that it violates, so that the trace ends there.
fn violates(kind: Kind, property: &'static [Property; 1], config: Config) -> Run {
    Run::violates(kind, property[0].words(), config.properties(property))
}

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    holds::runs().into_iter().chain(mutants::runs()).chain(limits::runs()).collect()
}
