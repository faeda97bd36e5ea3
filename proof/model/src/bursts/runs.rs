//! The runs that are explored, and their expected results.

use super::Bursts;
use super::config::Config;
use super::mutants::Mutant;
use super::properties::{FIRST, HELD, OLDEST, SERVED, TOLD};
use crate::run::Kind;

pub type Run = crate::run::Run<Bursts>;

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    let of = Config::new;
    let holds = [
        of("a burst at a fast master", 1),
        of("a burst at a slow master", 1).slow(),
        of("two bursts, the master becomes slow", 2).changes(1),
        of("a burst, the master is slow for a while", 1).changes(2),
        of("a burst whose acquires wait for a second", 1).slow().changes(1).wait(20),
    ];
    let broken = [
        (Mutant::InLine, FIRST, of("a burst at a slow master", 1).slow()),
        (Mutant::NeverNarrows, HELD, of("a burst at a slow master", 1).slow()),
        (
            Mutant::NeverWidens,
            SERVED,
            of("two bursts, slow at first", 2).slow().slowly(20).changes(1),
        ),
        (Mutant::NewestFirst, OLDEST, of("two bursts at a slow master", 2).slow()),
        (Mutant::NotTold, TOLD, of("acquires that wait for a second", 1).slow().wait(20)),
    ];
    let holds = holds.into_iter().map(|config| match config.changes {
        2 => Run::holds(config),
        _ => Run::holds(config).quick(),
    });
    let broken = broken.into_iter().map(|(mutant, property, config)| {
        Run::violates(Kind::Mutant, property, config.mutant(mutant))
    });
    let slower =
        of("a master that becomes ten times slower under a burst", 1).changes(1).slowly(20);
    let limits = [Run::violates(Kind::Limit, HELD, slower)];
    holds.chain(broken).chain(limits).collect()
}
