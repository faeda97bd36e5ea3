//! Which rule a history breaks. It looks at nothing but what was answered, and in which order.

use super::{Rule, StoreError, StoreResult};
use crate::FencingToken;
use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Write {
    token: Option<FencingToken>,
    value: u64,
    /// A write that failed or was dropped may have been written, or be written later.
    answer: StoreResult,
    /// The line of the log at which it began.
    begun: usize,
    /// The line at which it was known to be written: by its answer, or by a read.
    written: usize,
}

/// What has happened in one play so far.
#[derive(Default)]
pub(super) struct History {
    /// Whether each value is appended to those before it, or replaces them.
    pub(super) updates: bool,
    /// In the order of their values, from 1 on.
    pub(super) writes: Vec<Write>,
    pub(super) tokens: Vec<FencingToken>,
    /// When the store last restarted, cleaned up or failed a write, and the words for it.
    pub(super) upset: (usize, &'static str),
    /// How often the store kept a write from taking a step.
    pub(super) blocked: u64,
    pub(super) log: Vec<String>,
    /// The first error of the store in a write, except those that the probe itself made.
    pub(super) error: Option<String>,
    /// The first breach: the rule that is broken, and in which way.
    pub(super) breach: Option<(Rule, String)>,
}

impl History {
    /// Begins a write, and returns its value.
    pub(super) fn begin(&mut self, token: Option<FencingToken>) -> u64 {
        let (value, begun) = (1 + self.writes.len() as u64, self.log.len());
        let write =
            Write { token, value, answer: Err(StoreError::NotGiven), begun, written: usize::MAX };
        self.log.push(format!("{write} begins with {value}"));
        self.writes.push(write);
        value
    }

    /// Adds a line about a write to the log.
    pub(super) fn tell(&mut self, value: u64, words: &str) {
        self.log.push(format!("{} {words}", self.writes[value as usize - 1]));
    }

    /// Notes the store's answer to a write, and checks it.
    pub(super) fn end(&mut self, value: u64, answer: StoreResult, may_fail: bool) -> StoreResult {
        let now = self.log.len();
        self.tell(value, &format!("returns {answer:?}"));
        let write = &mut self.writes[value as usize - 1];
        write.answer = answer.clone();
        match answer {
            Ok(()) => write.written = now,
            Err(StoreError::Stale) => {}
            Err(StoreError::NotGiven) => return answer,
            Err(StoreError::Failed(_)) if may_fail => self.upset = (now, "a write failed"),
            Err(StoreError::Failed(error)) => drop(self.error.get_or_insert(error)),
        }
        self.breach = self.breach.take().or_else(|| self.answer(&self.writes[value as usize - 1]));
        Ok(())
    }

    /// Checks the answer to a write that has just ended.
    fn answer(&self, write: &Write) -> Option<(Rule, String)> {
        let token = write.token?;
        let mut newer = self.writes.iter().filter(|newer| newer.token > Some(token));
        if write.answer.is_ok() {
            let newer = newer.find(|newer| newer.written < write.begun)?;
            let what = format!("{write} was accepted after {newer} had");
            if newer.answer.is_ok() {
                return Some(self.rule(Rule::RefuseSmaller, what + " been written", newer.written));
            }
            return Some((Rule::OneStep, what + " failed, yet been read"));
        }
        let is_refused = write.answer == Err(StoreError::Stale) && newer.next().is_none();
        let what = "was refused, though no greater token had been presented";
        is_refused.then(|| (Rule::RefuseSmaller, format!("{write} {what}")))
    }

    /// Notes a value that was read while no write was on its way, and checks it.
    pub(super) fn read(&mut self, value: u64) -> StoreResult {
        let what = format!("the store has {value:x}");
        self.log.push(what.clone());
        let strange = || StoreError::Failed(what + ", which no write of the play makes");
        let shown = self.shown(value).ok_or_else(strange)?;
        self.breach = self.breach.take().or_else(|| self.content(&shown));
        for write in shown {
            let written = &mut self.writes[write.value as usize - 1].written;
            *written = self.log.len().min(*written);
        }
        Ok(())
    }

    /// Returns the writes that a stored value shows, in their order: all of them if they are
    /// updates, else the last one. `None` if no writes of this play make that value.
    fn shown(&self, value: u64) -> Option<Vec<Write>> {
        let digits = format!("{value:x}");
        let index = |digit: char| Some((digit.to_digit(16)? as usize).wrapping_sub(1));
        let writes = digits.trim_start_matches('0').chars();
        let shown: Option<Vec<_>> =
            writes.map(|digit| self.writes.get(index(digit)?).cloned()).collect();
        shown.filter(|shown| self.updates || shown.len() <= 1)
    }

    /// Checks which writes are there.
    fn content(&self, shown: &[Write]) -> Option<(Rule, String)> {
        let over = |by: &Write, lost: &Write| {
            let rule = if by.token.is_none() { Rule::EveryWriter } else { Rule::OneStep };
            (rule, format!("{by} was written over {lost}"))
        };
        if let Some(write) = shown.iter().find(|write| write.answer == Err(StoreError::Stale)) {
            return Some((Rule::OneStep, format!("{write} was refused, and yet written")));
        }
        if let Some(pair) = shown.windows(2).find(|pair| pair[0].token > pair[1].token) {
            return Some(over(&pair[1], &pair[0]));
        }
        let last = shown.last().map(|last| (last.token, last.written));
        let lost = self.writes.iter().find(|write| {
            let is_last = last >= Some((write.token, write.begun));
            let is_there = if self.updates { shown.contains(write) } else { is_last };
            write.answer.is_ok() && !is_there
        })?;
        let at_once = |by: &Write| by.begun < lost.written && lost.begun < by.written;
        Some(match shown.iter().find(|by| !self.updates || at_once(by)) {
            Some(by) if by.token > lost.token => {
                (Rule::RaiseFirst, format!("{by} read before it raised, so {lost} is lost"))
            }
            Some(by) => over(by, lost),
            None => {
                let what = format!("{lost} was acknowledged, and the store does not have it");
                self.rule(Rule::OneStep, what, lost.written)
            }
        })
    }

    /// Notes the token of a win, and checks it.
    pub(super) fn win(&mut self, token: FencingToken) {
        self.log.push(format!("a win has token {token}"));
        if let Some(won) = self.tokens.last().filter(|won| **won >= token) {
            let what = format!("a win had token {won}, and the next one {token}");
            self.breach.get_or_insert((Rule::RefuseSmaller, what));
        }
        self.tokens.push(token);
    }

    /// Notes what has been done to the store. If that has failed, the play ends.
    pub(super) fn upset(&mut self, words: &'static str, done: StoreResult) -> StoreResult {
        self.upset = (self.log.len(), words);
        self.log.push(words.to_owned());
        done
    }

    /// Returns the rule, or the first one if something has happened to the store since then.
    fn rule(&self, rule: Rule, what: String, since: usize) -> (Rule, String) {
        match self.upset {
            (at, words) if at > since => (Rule::Remember, format!("{what}, and {words}")),
            _ => (rule, what),
        }
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = char::from(b'@' + self.value as u8);
        match self.token {
            Some(token) => write!(f, "{name} (token {token})"),
            None => write!(f, "{name} (no token)"),
        }
    }
}
