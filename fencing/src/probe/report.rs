//! What a probe reports.

use super::Case;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

/// The rules of fencing, in the order of [the document](https://docs.rs/quorumlock/latest/quorumlock/guide/fencing/).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// 1: remember the greatest token that was presented, as durably as the data.
    Remember = 1,
    /// 2: refuse a smaller token, and accept an equal or a greater one.
    RefuseSmaller,
    /// 3: check and write in one step.
    OneStep,
    /// 4: raise before you read.
    RaiseFirst,
    /// 5: demand a token of every writer.
    EveryWriter,
}

/// What the plays have shown. [`Display`](fmt::Display) prints it as a table.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// Plays of each case, and how many of them had no error of the store.
    pub cases: BTreeMap<Case, Plays>,
    /// Cases that were not played, since a closure that they need was not given.
    pub left_out: Vec<Case>,
    /// The first error of each case: none of these is a refusal.
    pub errors: Vec<String>,
    /// How often the store kept a write from taking a step, so that the other one went on.
    pub blocked: u64,
}

/// Plays of one case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plays {
    /// All of them.
    pub all: u64,
    /// Those without an error of the store.
    pub whole: u64,
}

/// A rule that the store broke, and the play that shows it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The case that was played.
    pub case: Case,
    /// The seed that repeats the play, with the same closures.
    pub seed: u64,
    /// How the rule was broken.
    pub breach: String,
    /// The play, a line for each thing that happened.
    pub schedule: Vec<String>,
}

/// Why a probe did not end well. Its text is a whole report, also as `Debug`, which `unwrap` prints.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeError {
    /// The store broke a rule.
    Broken(Violation),
    /// No play of this case was without an error of the store, so the case shows nothing.
    #[non_exhaustive]
    Untested {
        /// The case.
        case: Case,
        /// Its first error.
        error: String,
    },
    /// Nothing was played: neither a write nor an update was given, or no seed.
    Unplayed,
}

/// Counts plays.
pub(super) struct Tally {
    report: Report,
    whole: BTreeMap<(Case, bool), Result<(), String>>,
}

impl Tally {
    pub(super) const fn new(left_out: Vec<Case>) -> Self {
        let report = Report { cases: BTreeMap::new(), left_out, errors: Vec::new(), blocked: 0 };
        Self { report, whole: BTreeMap::new() }
    }

    /// Counts a play, of writes or of updates, and its errors.
    pub(super) fn count(
        &mut self,
        (case, updates): (Case, bool),
        seed: u64,
        blocked: u64,
        errors: &[String],
    ) {
        self.report.blocked += blocked;
        let plays = self.report.cases.entry(case).or_default();
        plays.all += 1;
        let Some(error) = errors.first().map(|error| format!("{case}, seed {seed}: {error}"))
        else {
            plays.whole += 1;
            self.whole.insert((case, updates), Ok(()));
            return;
        };
        if plays.all - plays.whole == 1 {
            self.report.errors.push(error.clone());
        }
        self.whole.entry((case, updates)).or_insert(Err(error));
    }

    pub(super) fn conclude(self) -> Result<Report, ProbeError> {
        for ((case, _), whole) in &self.whole {
            whole.clone().map_err(|error| ProbeError::Untested { case: *case, error })?;
        }
        if self.whole.is_empty() { Err(ProbeError::Unplayed) } else { Ok(self.report) }
    }
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
        writeln!(f, "{:24} {:>8} {:>14}", "case", "plays", "without error")?;
        for (case, Plays { all, whole }) in &self.cases {
            writeln!(f, "{:24} {all:>8} {whole:>14}", case.to_string())?;
        }
        for case in &self.left_out {
            writeln!(f, "{:24} not played: its closure was not given", case.to_string())?;
        }
        for error in &self.errors {
            writeln!(f, "error: {error}")?;
        }
        write!(f, "blocked by the store: {} times", self.blocked)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, case, seed, breach, schedule } = self;
        writeln!(f, "{rule} is broken: {breach}")?;
        writeln!(f, "the play ({case}):")?;
        for (number, line) in (1..).zip(schedule) {
            writeln!(f, "{number:4}. {line}")?;
        }
        write!(f, "repeat it with play([{seed}])")
    }
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(violation) => violation.fmt(f),
            Self::Untested { case, error } => write!(
                f,
                "no play of \"{case}\" was without an error, so it shows nothing; a refusal is StoreError::Stale. {error}"
            ),
            Self::Unplayed => {
                f.write_str("nothing was played: give a write or an update, and seeds")
            }
        }
    }
}

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ProbeError {}
