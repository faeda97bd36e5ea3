//! The runs that are explored, and their expected results.

mod holds;
mod mutants;

use super::Waiting;

pub type Run = crate::run::Run<Waiting>;

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    holds::runs().into_iter().chain(mutants::runs()).collect()
}
