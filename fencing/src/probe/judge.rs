//! Which rule a history breaks. It looks at nothing but what was answered, and in which order.

use super::Rule;
use crate::FencingToken;

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

#[derive(Debug)]
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
#[derive(Debug, Default)]
pub(super) struct History {
    /// Whether each value is appended to those before it, or replaces them.
    pub(super) updates: bool,
    pub(super) writes: Vec<Write>,
    /// Values read while no write was on its way, and when.
    pub(super) reads: Vec<(usize, u64)>,
    /// When the store restarted or cleaned up, and the words for it.
    pub(super) upsets: Vec<(usize, &'static str)>,
    pub(super) wins: Vec<FencingToken>,
    pub(super) log: Vec<String>,
}

/// The rule that is broken, and in which way.
pub(super) type Breach = Option<(Rule, String)>;

impl History {
    /// Returns the rule that the play has broken.
    pub(super) fn breach(&self) -> Breach {
        self.tokens_that_fall()
            .or_else(|| self.writes.iter().find_map(|write| self.answer(write)))
            .or_else(|| self.reads.last().and_then(|read| self.content(*read)))
    }

    fn tokens_that_fall(&self) -> Breach {
        let fall = self.wins.windows(2).find(|pair| pair[0] >= pair[1])?;
        let (earlier, later) = (fall[0], fall[1]);
        let what = format!(
            "a win had token {earlier}, and the next one {later}: no store can tell which is stale"
        );
        Some((Rule::RefuseSmaller, what))
    }

    /// Checks the store's answer to a write.
    fn answer(&self, write: &Write) -> Breach {
        let token = write.token?;
        let greater = || self.writes.iter().filter(move |other| other.token > Some(token));
        match write.outcome {
            Outcome::Written => greater().find_map(|newer| self.stale(write, newer)),
            Outcome::Refused if !greater().any(|newer| newer.begun < write.ended) => {
                let what =
                    format!("{write} was refused, though no greater token had been presented");
                Some((Rule::RefuseSmaller, what))
            }
            _ => None,
        }
    }

    /// Reports a write that began after `newer` was written.
    fn stale(&self, write: &Write, newer: &Write) -> Breach {
        let shows = |value| {
            self.shown(value).is_some_and(|shown| shown.iter().any(|by| by.name == newer.name))
        };
        let seen = self.reads.iter().find(|(at, value)| *at < write.begun && shows(*value));
        if newer.outcome == Outcome::Written && newer.ended < write.begun {
            let upset = self.upset(newer.ended, write.begun);
            let rule = if upset.is_empty() { Rule::RefuseSmaller } else { Rule::Remember };
            Some((rule, format!("{write} was accepted after {newer} had been written{upset}")))
        } else if newer.outcome == Outcome::Unknown && seen.is_some() {
            let what = format!(
                "{write} was accepted after {newer} had failed, yet been read: its raise was undone, its write was not"
            );
            Some((Rule::OneStep, what))
        } else {
            None
        }
    }

    /// Checks a value that was read while no write was on its way.
    fn content(&self, (at, value): (usize, u64)) -> Breach {
        let shown = self.shown(value)?;
        if let Some(write) = shown.iter().find(|write| write.token.is_none()) {
            return Some((Rule::EveryWriter, format!("{write} was written, without a token")));
        }
        if let Some(write) = shown.iter().find(|write| write.outcome == Outcome::Refused) {
            return Some((Rule::OneStep, format!("{write} was refused, and yet written")));
        }
        if let Some(pair) = shown.windows(2).find(|pair| pair[0].token > pair[1].token) {
            return Some((Rule::OneStep, format!("{} was written over {}", pair[1], pair[0])));
        }
        let acknowledged = self.writes.iter().filter(|write| write.outcome == Outcome::Written);
        let mut acknowledged = acknowledged.filter(|write| write.begun < at);
        if self.updates {
            let lost = acknowledged.find(|write| !shown.iter().any(|by| by.name == write.name))?;
            let beside = shown.iter().find(|by| by.begun < lost.ended && lost.begun < by.ended);
            return Some(self.lost(lost, beside.copied()));
        }
        let last = shown.first().copied();
        let lost = acknowledged.find(|write| match last {
            None => true,
            Some(last) if last.token == write.token => {
                last.outcome == Outcome::Written && last.ended < write.begun
            }
            Some(last) => last.token < write.token,
        })?;
        Some(self.lost(lost, last))
    }

    fn lost(&self, lost: &Write, by: Option<&Write>) -> (Rule, String) {
        match by {
            Some(by) if by.token > lost.token => (
                Rule::RaiseFirst,
                format!("{by} read before it raised: {lost} was acknowledged, and is lost"),
            ),
            Some(by) => (Rule::OneStep, format!("{by} was written over {lost}")),
            None => {
                let upset = self.upset(lost.ended, usize::MAX);
                let rule = if upset.is_empty() { Rule::OneStep } else { Rule::Remember };
                (rule, format!("{lost} was acknowledged, and the store does not have it{upset}"))
            }
        }
    }

    /// Returns the writes that a stored value shows, in their order: all of them if they are
    /// updates, else the last one. `None` if no writes of this play make that value.
    pub(super) fn shown(&self, mut value: u64) -> Option<Vec<&Write>> {
        let mut shown = Vec::new();
        while value > 0 {
            let last = if self.updates { value % DIGIT } else { value };
            shown.insert(0, self.writes.iter().find(|write| write.value == last)?);
            value = if self.updates { value / DIGIT } else { 0 };
        }
        Some(shown)
    }

    /// Returns the words for what happened to the store between two lines of the log.
    fn upset(&self, from: usize, to: usize) -> String {
        let upset = self.upsets.iter().find(|(at, _)| (from..to).contains(at));
        upset.map_or_else(String::new, |(_, words)| format!(", once {words}"))
    }
}

impl std::fmt::Display for Write {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.token {
            Some(token) => write!(f, "{} (token {token})", self.name),
            None => write!(f, "{} (no token)", self.name),
        }
    }
}
