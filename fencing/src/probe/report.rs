//! What a probe reports.

use super::Case;
use super::judge::Breach;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

/// The rules of fencing, in the order of [the document](https://docs.rs/quorumlock/latest/quorumlock/fencing/).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Remember the greatest token that was presented, as durably as the data.
    Remember = 1,
    /// Refuse a smaller token, and accept an equal or a greater one.
    RefuseSmaller,
    /// Check and write in one step.
    OneStep,
    /// Raise before you read.
    RaiseFirst,
    /// Demand a token of every writer.
    EveryWriter,
}

/// What the plays have shown. [`Display`](fmt::Display) prints it as a table.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// Plays of each case.
    pub cases: BTreeMap<Case, Plays>,
    /// Cases that were not played, since a call that they need was not given.
    pub left_out: BTreeSet<Case>,
    /// How often the store kept a write from taking a step, so that the other one went on.
    pub blocked: u64,
}

/// Plays of one case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plays {
    /// All plays.
    pub all: u64,
    /// Plays without an error of the store.
    pub whole: u64,
    /// The first error of the store, and its seed. It is no refusal, and breaks no rule.
    pub error: Option<String>,
}

/// Why a probe did not end well: the store broke a rule, or nothing was shown.
///
/// Its text is a whole report: the rule, the play as a line for each thing that happened, and the seed
/// that repeats it. So is its `Debug`, which `unwrap` prints.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProbeError {
    /// The rule that the store broke. `None` if a case was not played even once without an error of
    /// the store, so that it shows nothing; or if there was nothing to play.
    pub rule: Option<Rule>,
    /// The case.
    pub case: Option<Case>,
    /// A seed that repeats the play, with the same closures.
    pub seed: Option<u64>,
    pub(super) text: String,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Remember => "remember the greatest token",
            Self::RefuseSmaller => "refuse a smaller token, and only that",
            Self::OneStep => "check and write in one step",
            Self::RaiseFirst => "raise before you read",
            Self::EveryWriter => "demand a token of every writer",
        };
        write!(f, "rule {} ({words})", *self as u8)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (case, Plays { all, whole, error }) in &self.cases {
            let error = error.as_ref().map_or(String::new(), |error| format!("; {error}"));
            writeln!(f, "{all:6} plays of {case:?}, {whole} without an error of the store{error}")?;
        }
        writeln!(f, "not played, as a call was not given: {:?}", self.left_out)?;
        write!(f, "{:6} times, the store blocked a write", self.blocked)
    }
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for ProbeError {}

impl ProbeError {
    pub(super) fn broken((rule, breach): Breach, case: Case, seed: u64, log: &[String]) -> Self {
        let lines: String = (1..).zip(log).map(|(at, line)| format!("{at:4}. {line}\n")).collect();
        let text = format!(
            "{rule} is broken: {breach}\nthe play of {case:?}:\n{lines}repeat it with the seed {seed}"
        );
        Self { rule: Some(rule), case: Some(case), seed: Some(seed), text }
    }
}

impl Report {
    /// Counts a play, with the first error of the store in it.
    pub(super) fn count(&mut self, case: Case, seed: u64, error: Option<String>) {
        let plays = self.cases.entry(case).or_default();
        plays.all += 1;
        plays.whole += u64::from(error.is_none());
        plays.error = plays.error.take().or(error.map(|error| format!("seed {seed}: {error}")));
    }

    /// Returns the report, if it shows something of each case that was played.
    pub(super) fn or_nothing_shown(self) -> Result<Self, ProbeError> {
        let (case, text) = match self.cases.iter().find(|(_, plays)| plays.whole == 0) {
            Some((case, Plays { error, .. })) => {
                let error = error.as_deref().unwrap_or_default();
                let text = format!(
                    "each play of {case:?} had an error of the store, which is no StoreError::Stale: {error}"
                );
                (Some(*case), text)
            }
            None if self.cases.is_empty() => (None, "nothing was played: give seeds".to_owned()),
            None => return Ok(self),
        };
        Err(ProbeError { rule: None, case, seed: None, text })
    }
}
