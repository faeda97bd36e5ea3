//! Which rule a history breaks. It looks at nothing but what was answered, and in which order.

use super::Rule;
use crate::FencingToken;
use std::fmt;

/// An update appends its value as a digit.
pub(super) const DIGIT: u64 = 16;

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Written,
    Refused,
    /// It failed or was dropped: it may have been written, or be written later.
    Unknown,
}

pub(super) struct Write {
    pub(super) name: char,
    pub(super) token: Option<FencingToken>,
    pub(super) value: u64,
    pub(super) outcome: Outcome,
    /// The lines of the log at which it began and ended.
    pub(super) begun: usize,
    pub(super) ended: usize,
}

/// What has happened in one play so far.
#[derive(Default)]
pub(super) struct History {
    /// Whether each value is appended to those before it, or replaces them.
    pub(super) updates: bool,
    pub(super) writes: Vec<Write>,
    /// Values read while no write was on its way, and when.
    pub(super) reads: Vec<(usize, u64)>,
    /// When the store restarted, cleaned up or failed a write, and the words for it.
    pub(super) upsets: Vec<(usize, &'static str)>,
    pub(super) wins: Vec<FencingToken>,
    pub(super) log: Vec<String>,
}

/// The rule that is broken, and in which way.
type Breach = Option<(Rule, String)>;

impl History {
    /// Returns the rule that the play has broken.
    pub(super) fn breach(&self) -> Breach {
        if let Some(pair) = self.wins.windows(2).find(|pair| pair[0] >= pair[1]) {
            let what = format!("a win had token {}, and the next one {}", pair[0], pair[1]);
            return Some((Rule::RefuseSmaller, what));
        }
        let answer = self.writes.iter().find_map(|write| self.answer(write));
        answer.or_else(|| self.content(*self.reads.last()?))
    }

    /// Checks the store's answer to a write.
    fn answer(&self, write: &Write) -> Breach {
        write.token?;
        let mut newer = self.writes.iter().filter(|newer| newer.token > write.token);
        match write.outcome {
            Outcome::Written => newer.find_map(|newer| self.stale(write, newer)),
            Outcome::Refused if newer.all(|newer| newer.begun > write.ended) => {
                let what =
                    format!("{write} was refused, though no greater token had been presented");
                Some((Rule::RefuseSmaller, what))
            }
            _ => None,
        }
    }

    /// Reports a write that was accepted, if it began after `newer` was written.
    fn stale(&self, write: &Write, newer: &Write) -> Breach {
        let mut reads = self.reads.iter().filter(|(at, _)| *at < write.begun);
        if newer.outcome == Outcome::Written && newer.ended < write.begun {
            let what = format!("{write} was accepted after {newer} had been written");
            Some(self.unless_upset(Rule::RefuseSmaller, what, newer.ended..write.begun))
        } else if newer.outcome == Outcome::Unknown
            && reads.any(|(_, value)| self.has(*value, newer))
        {
            let what = format!("{write} was accepted after {newer} had failed, yet been read");
            Some((Rule::OneStep, what))
        } else {
            None
        }
    }

    /// Checks a value that was read while no write was on its way.
    fn content(&self, (at, value): (usize, u64)) -> Breach {
        let shown = self.shown(value)?;
        let over =
            |by: &Write, lost: &Write| (Rule::OneStep, format!("{by} was written over {lost}"));
        for write in &shown {
            if write.token.is_none() {
                return Some((Rule::EveryWriter, format!("{write} was written")));
            } else if write.outcome == Outcome::Refused {
                return Some((Rule::OneStep, format!("{write} was refused, and yet written")));
            }
        }
        if let Some(pair) = shown.windows(2).find(|pair| pair[0].token > pair[1].token) {
            return Some(over(pair[1], pair[0]));
        }
        let mut acknowledged = self
            .writes
            .iter()
            .filter(|write| write.outcome == Outcome::Written && write.begun < at);
        let is_lost = |write: &&Write| match shown.last() {
            Some(_) if self.updates => !self.has(value, write),
            Some(last) if last.token == write.token => {
                last.outcome == Outcome::Written && last.ended < write.begun
            }
            Some(last) => last.token < write.token,
            None => true,
        };
        let lost = acknowledged.find(is_lost)?;
        match shown
            .iter()
            .find(|by| !self.updates || by.begun < lost.ended && lost.begun < by.ended)
        {
            Some(by) if by.token > lost.token => {
                Some((Rule::RaiseFirst, format!("{by} read before it raised, so {lost} is lost")))
            }
            Some(by) => Some(over(by, lost)),
            None => {
                let what = format!("{lost} was acknowledged, and the store does not have it");
                Some(self.unless_upset(Rule::OneStep, what, lost.ended..usize::MAX))
            }
        }
    }

    /// Returns the writes that a stored value shows, in their order: all of them if they are
    /// updates, else the last one. `None` if no writes of this play make that value.
    pub(super) fn shown(&self, value: u64) -> Option<Vec<&Write>> {
        let (earlier, last) =
            if self.updates { (value / DIGIT, value % DIGIT) } else { (0, value) };
        if value == 0 {
            return Some(Vec::new());
        }
        let mut shown = self.shown(earlier)?;
        shown.push(self.writes.iter().find(|write| write.value == last)?);
        Some(shown)
    }

    fn has(&self, value: u64, write: &Write) -> bool {
        self.shown(value).is_some_and(|shown| shown.iter().any(|by| by.value == write.value))
    }

    /// Returns the rule, or the first one if something happened to the store at that time.
    fn unless_upset(
        &self,
        rule: Rule,
        what: String,
        time: std::ops::Range<usize>,
    ) -> (Rule, String) {
        match self.upsets.iter().find(|(at, _)| time.contains(at)) {
            Some((_, words)) => (Rule::Remember, format!("{what}, and {words}")),
            None => (rule, what),
        }
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.token {
            Some(token) => write!(f, "{} (token {token})", self.name),
            None => write!(f, "{} (no token)", self.name),
        }
    }
}
