//! What a probe reports.

use super::cases::ROWS;
use super::judge::History;
use super::{Case, StoreResult};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What the plays have shown. [`Display`](fmt::Display) prints it as a table, or, if a rule is broken,
/// as that rule, the play as a line for each thing that happened, and the seed that repeats it. So
/// does `Debug`, which `unwrap` uses.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Plays of each case. Others were not played: a call that they need is not given, or no seed has
    /// come to them.
    pub cases: BTreeMap<Case, Plays>,
    /// How often the store kept a write from taking a step, so that the other one went on.
    pub blocked: u64,
    /// The rule that the store broke.
    pub rule: Option<Rule>,
    /// The case in which it was broken, or which was not played even once without an error of the
    /// store, so that it shows nothing.
    pub case: Option<Case>,
    /// A seed that repeats the play, with the same store.
    pub seed: Option<u64>,
    /// The problem in words.
    text: String,
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

impl Report {
    /// Adds a play.
    pub(super) fn add(&mut self, case: Case, seed: u64, played: StoreResult<History>) {
        let error = match played {
            Ok(History { breach: Some((rule, what)), log, .. }) => {
                (self.rule, self.case, self.seed) = (Some(rule), Some(case), Some(seed));
                self.text = format!(
                    "{rule} is broken: {what}\nthe play of {case:?}:\n  {}\nrepeat it with the seed {seed}",
                    log.join("\n  ")
                );
                return;
            }
            Ok(history) => {
                self.blocked += history.blocked;
                history.error
            }
            Err(error) => Some(format!("{error:?}")),
        };
        let plays = self.cases.entry(case).or_default();
        plays.all += 1;
        plays.whole += u64::from(error.is_none());
        plays.error = plays.error.take().or(error.map(|error| format!("seed {seed}: {error}")));
    }

    /// Returns the report as an error if it shows nothing of a case that was played.
    pub(super) fn or_nothing_shown(mut self) -> Result<Self, Self> {
        let nothing_shown = self.cases.iter().find(|(_, plays)| plays.whole == 0);
        self.case = nothing_shown.map(|(case, _)| *case);
        self.text = match self.case {
            Some(case) => format!("each play of {case:?} failed, and not by StoreError::Stale\n"),
            None if self.cases.is_empty() => "nothing was played: give seeds\n".to_owned(),
            None => return Ok(self),
        };
        Err(self)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if self.rule.is_some() {
            return Ok(());
        }
        for (case, Plays { all, whole, error }) in &self.cases {
            let error = error.as_ref().map_or(String::new(), |error| format!("; {error}"));
            writeln!(f, "{all:6} plays of {case:?}, {whole} without an error of the store{error}")?;
        }
        let all = ROWS.iter().map(|(case, _)| case);
        let others: BTreeSet<_> = all.filter(|case| !self.cases.contains_key(case)).collect();
        writeln!(f, "not played, as a call or a seed was not given: {others:?}")?;
        write!(f, "{:6} times, the store blocked a write", self.blocked)
    }
}

error_by_message!(Report);

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
