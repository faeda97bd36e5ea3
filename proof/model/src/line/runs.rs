//! The runs that are explored, and their expected results.

use super::Line;
use super::config::Config;
use super::mutants::Mutant;
use super::protocol::ORDER;
use super::state::Kind::{self as Client, Fair, Foreign, Plain};
use crate::run::Kind;

pub type Run = crate::run::Run<Line>;

const TWO: &[Client] = &[Fair, Fair];
const THREE: &[Client] = &[Fair, Fair, Fair];
const AMONG: &[Client] = &[Fair, Fair, Plain];

/// Where there are too many states, so many are explored.
const MANY: usize = 3_000_000;

/// Returns all runs, in the order of the report.
pub fn all() -> Vec<Run> {
    let of = Config::new;
    let some = |config: Config| Config { states: MANY, ..config };
    let holds = [
        of("two are fair", TWO),
        of("three are fair", THREE),
        of("two are fair, and a plain one comes", AMONG),
        of("two are fair, and a foreign one comes", &[Fair, Fair, Foreign]),
        of("two fair ones come again", TWO).again(),
        of("the line is full", THREE).room(0),
    ];
    let large = [
        some(of("two permits for three", THREE).slots(2)),
        some(of("the line's master is silent for a while", TWO).nodes(3).hangs(1)),
    ];
    let broken = [
        (Mutant::AnyGoes, of("three are fair", THREE)),
        (Mutant::AnyGoes, of("two permits for three", THREE).slots(2)),
        (Mutant::NotCalledAgain, of("two are fair, and a plain one comes", AMONG)),
        (Mutant::StampsAreNew, of("two are fair, and a plain one comes", AMONG)),
        (Mutant::ClockDecides, of("a clock is set back", AMONG).steps_back(1)),
        (Mutant::NoAge, of("the line's master ends", AMONG).nodes(3).fails(1)),
    ];
    // Nothing needs these rules where time does not count: a call lapses, a waiter asks.
    let margin = [
        (Mutant::GoneAreHeard, "one ends"),
        (Mutant::ForgetsCall, "a message gets lost"),
        (Mutant::NotPassedOn, "one gives up"),
        (Mutant::NotTold, "one cannot reach the line's master"),
    ];
    let holds = holds.into_iter().map(|config| Run::holds(config).quick());
    let holds = holds.chain(large.map(Run::holds));
    let pairs = Config::pairs(TWO).map(|config| Run::holds(config).quick());
    let broken = broken
        .into_iter()
        .map(|(mutant, config)| Run::violates(Kind::Mutant, ORDER, config.mutant(mutant)));
    let margin = margin
        .into_iter()
        .map(|(mutant, name)| Run::margin(Config::named(name, TWO).mutant(mutant)));
    holds.chain(pairs).chain(broken).chain(margin).collect()
}
