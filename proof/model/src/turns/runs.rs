//! The runs that are explored, and their expected results.

mod holds;
mod mutants;
mod scenes;

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

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    let mut all = holds::runs();
    all.extend(mutants::runs());
    all
}
