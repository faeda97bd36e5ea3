//! The runs that are explored, and their expected results.

mod holds;
mod mutants;
pub(super) mod scenes;

use super::Turns;

pub type Run = crate::run::Run<Turns>;

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    holds::runs().into_iter().chain(mutants::runs()).collect()
}
