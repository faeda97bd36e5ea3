//! The deciding layer, checked against tables, laws and enumerations.
//!
//! A table is the specification, written out by hand and not computed. An enumeration compares the
//! code with the specification for every input up to a bound. A law holds for random input of any
//! size. A failure prints a picture of the votes, one letter per master.

mod admission;
mod adoption;
mod agreement;
mod ballots;
mod clocks;
mod drift;
mod extension;
mod extension_orders;
mod extension_rounds;
mod instant;
mod joint;
mod joint_rounds;
mod keeper;
pub(crate) mod membership;
mod permutations;
mod standing;
mod tally;
mod tally_orders;
mod validity;

use super::{Instant, Membership};
use proptest::test_runner::{Config, RngSeed};
use std::fmt::Debug;
use std::time::Duration;

/// Configures random tests. Nothing is written next to the sources, and the inputs are the same in
/// every run unless `PROPTEST_RNG_SEED` has another seed. A failure prints its smallest input.
pub(crate) fn cases(count: u32) -> Config {
    let ordinary = Config::default();
    let rng_seed = match ordinary.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0x5eed),
        seed @ RngSeed::Fixed(_) => seed,
    };
    Config { cases: count, failure_persistence: None, rng_seed, ..ordinary }
}

/// Returns a membership of `count` masters.
pub(crate) fn masters(count: usize) -> Membership {
    Membership::of(count).unwrap_or_else(|| panic!("{count} masters are no membership"))
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Returns the instant `millis` after the origin of the clock.
pub(crate) const fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Returns everything that a value holds, to compare values that have no equality of their own.
fn all_of(value: &impl Debug) -> String {
    format!("{value:?}")
}

/// Letters in the masters' places: each master's report, `_` for none yet.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Picture(Vec<char>);

impl Picture {
    fn blank(masters: usize) -> Self {
        Self(vec!['_'; masters])
    }

    /// Returns the picture with `glyph` in the place of `node`.
    fn with(&self, node: usize, glyph: char) -> Self {
        let mut next = self.clone();
        next.0[node] = glyph;
        next
    }

    fn count(&self, glyphs: &str) -> usize {
        self.0.iter().filter(|&&glyph| glyphs.contains(glyph)).count()
    }

    /// Returns the masters that have said nothing yet.
    fn silent(&self) -> Vec<usize> {
        self.places('_')
    }

    /// Returns the masters that have said `glyph`.
    fn places(&self, glyph: char) -> Vec<usize> {
        (0..self.0.len()).filter(|&node| self.0[node] == glyph).collect()
    }
}

impl std::fmt::Display for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|glyph| write!(f, "{glyph}"))
    }
}
