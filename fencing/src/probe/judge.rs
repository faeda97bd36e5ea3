//! Which rule a history breaks. It looks at nothing but what was answered, and in which order.

use super::{Rule, StoreError, StoreResult};
use crate::FencingToken;
use std::fmt;

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Written,
    Refused,
    /// It failed or was dropped: it may have been written, or be written later.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) token: Option<FencingToken>,
    pub(super) value: u64,
    outcome: Outcome,
    /// The line of the log at which it began.
    begun: usize,
    /// The line at which it ended, or was first read if its outcome is unknown.
    known: usize,
}

impl Write {
    pub(super) const fn new(token: Option<FencingToken>, value: u64) -> Self {
        Self { token, value, outcome: Outcome::Unknown, begun: usize::MAX, known: usize::MAX }
    }
}

/// The rule that is broken, and in which way.
pub(super) type Breach = (Rule, String);

/// What has happened in one play so far.
#[derive(Default)]
pub(super) struct History {
    /// Whether each value is appended to those before it, or replaces them.
    pub(super) updates: bool,
    /// In the order of their values, from 1 on.
    pub(super) writes: Vec<Write>,
    /// When the store last restarted, cleaned up or failed a write, and the words for it.
    pub(super) upset: (usize, &'static str),
    won: Option<FencingToken>,
    pub(super) log: Vec<String>,
    /// The first breach.
    pub(super) breach: Option<Breach>,
}

impl History {
    pub(super) fn of(updates: bool) -> Self {
        Self { updates, ..Self::default() }
    }

    pub(super) fn begin(&mut self, value: u64) {
        let write = &mut self.writes[value as usize - 1];
        write.begun = self.log.len();
        self.log.push(format!("{write} begins with {value}"));
    }

    /// Adds a line about a write to the log.
    pub(super) fn tell(&mut self, value: u64, words: &str) {
        self.log.push(format!("{} {words}", name(value)));
    }

    /// Notes the store's answer to a write, and checks it.
    pub(super) fn end(&mut self, value: u64, outcome: Outcome, words: &str) {
        let now = self.log.len();
        self.tell(value, words);
        let write = &mut self.writes[value as usize - 1];
        write.outcome = outcome;
        if outcome != Outcome::Unknown {
            write.known = now;
        }
        let write = *write;
        let mut newer = self.writes.iter().filter(|newer| newer.token > write.token);
        let breach = match outcome {
            _ if write.token.is_none() => None,
            Outcome::Written => newer
                .find(|newer| newer.known < write.begun && newer.outcome != Outcome::Refused)
                .map(|newer| self.stale(&write, newer)),
            Outcome::Refused if newer.all(|newer| newer.begun > now) => {
                let what = "was refused, though no greater token had been presented";
                Some((Rule::RefuseSmaller, format!("{write} {what}")))
            }
            _ => None,
        };
        self.breach = self.breach.take().or(breach);
    }

    /// Reports a write that was accepted, though it began when `newer` was known to be written.
    fn stale(&self, write: &Write, newer: &Write) -> Breach {
        let what = format!("{write} was accepted after {newer} had");
        match newer.outcome {
            Outcome::Unknown => (Rule::OneStep, format!("{what} failed, yet been read")),
            _ => self.unless_upset(Rule::RefuseSmaller, what + " been written", newer.known),
        }
    }

    /// Notes a value that was read while no write was on its way, and checks it.
    pub(super) fn read(&mut self, value: u64) -> StoreResult {
        self.log.push(format!("the store has {value:x}"));
        let Some(shown) = self.shown(value) else {
            let error = format!("the store has {value:x}, which no write of the play makes");
            return Err(StoreError::Failed(error));
        };
        self.breach = self.breach.take().or(self.content(&shown));
        for write in shown {
            let known = &mut self.writes[write.value as usize - 1].known;
            *known = self.log.len().min(*known);
        }
        Ok(())
    }

    fn content(&self, shown: &[Write]) -> Option<Breach> {
        let over =
            |by: &Write, lost: &Write| (Rule::OneStep, format!("{by} was written over {lost}"));
        for write in shown {
            if write.token.is_none() {
                return Some((Rule::EveryWriter, format!("{write} was written")));
            } else if write.outcome == Outcome::Refused {
                return Some((Rule::OneStep, format!("{write} was refused, and yet written")));
            }
        }
        if let Some(pair) = shown.windows(2).find(|pair| pair[0].token > pair[1].token) {
            return Some(over(&pair[1], &pair[0]));
        }
        let last = shown.last().map(|last| (last.token, last.known));
        let lost = self.writes.iter().find(|write| {
            write.outcome == Outcome::Written
                && !shown.contains(write)
                && (self.updates || last < Some((write.token, write.begun)))
        })?;
        let at_once = |by: &&Write| by.begun < lost.known && lost.begun < by.known;
        Some(match shown.iter().find(|by| !self.updates || at_once(by)) {
            Some(by) if by.token > lost.token => {
                (Rule::RaiseFirst, format!("{by} read before it raised, so {lost} is lost"))
            }
            Some(by) => over(by, lost),
            None => {
                let what = format!("{lost} was acknowledged, and the store does not have it");
                self.unless_upset(Rule::OneStep, what, lost.known)
            }
        })
    }

    /// Returns the writes that a stored value shows, in their order: all of them if they are
    /// updates, else the last one. `None` if no writes of this play make that value.
    fn shown(&self, value: u64) -> Option<Vec<Write>> {
        let digits = format!("{value:x}");
        let index = |digit: char| Some((digit.to_digit(16)? as usize).wrapping_sub(1));
        let writes = digits.trim_start_matches('0').chars();
        let shown: Option<Vec<_>> =
            writes.map(|digit| self.writes.get(index(digit)?).copied()).collect();
        shown.filter(|shown| self.updates || shown.len() <= 1)
    }

    /// Notes the token of a win, and checks it.
    pub(super) fn win(&mut self, token: FencingToken) {
        self.log.push(format!("a win has token {token}"));
        if let Some(won) = self.won.replace(token).filter(|won| *won >= token) {
            let what = format!("a win had token {won}, and the next one {token}");
            self.breach.get_or_insert((Rule::RefuseSmaller, what));
        }
    }

    /// Notes that something has happened to the store.
    pub(super) fn upset(&mut self, words: &'static str) {
        self.upset = (self.log.len(), words);
        self.log.push(words.to_owned());
    }

    /// Returns the rule, or the first one if something has happened to the store since then.
    fn unless_upset(&self, rule: Rule, what: String, since: usize) -> Breach {
        match self.upset {
            (at, words) if at > since => (Rule::Remember, format!("{what}, and {words}")),
            _ => (rule, what),
        }
    }
}

/// Returns A for the first write of a play, and so on.
fn name(value: u64) -> char {
    char::from(b'@' + value as u8)
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.token {
            Some(token) => write!(f, "{} (token {token})", name(self.value)),
            None => write!(f, "{} (no token)", name(self.value)),
        }
    }
}
