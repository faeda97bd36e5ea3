//! A rule that one client breaks, for tests only: it shows that the simulation, or a test, notices. There is
//! a switch only where nothing around the machine has the same effect.

use super::Agreement;
use crate::quorum::Instant;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// A confirmation counts from when it was asked for.
    FromTheQuestion,
    /// No round begins before every open master has answered.
    Barrier,
    /// What is for a hold does not wait for acquires.
    HoldsFirst,
    /// The window of rounds gets narrower where answers are late.
    Narrows,
    /// It gets wider where they are early.
    Widens,
}

impl Agreement {
    pub fn without(mut self, rule: Option<Rule>) -> Self {
        self.taken_back = rule;
        self
    }

    pub(crate) fn keeps(&self, rule: Rule) -> bool {
        self.taken_back != Some(rule)
    }

    /// Returns the instant from which a confirmation counts.
    pub(crate) fn counts_from(&self, asked: Instant, answered: Instant) -> Instant {
        if self.keeps(Rule::FromTheQuestion) { asked } else { answered }
    }
}
