//! Each command of readers makes of a resource what it says, and lives are never shortened.

use super::{Stood, Verdict};
use crate::commands::Script;
use std::time::Duration;

/// A command that a master has executed without an error.
pub(crate) struct Executed<'a> {
    pub(crate) key: &'a str,
    pub(crate) script: Script,
    /// The words behind its keys.
    pub(crate) words: &'a [String],
    /// The answer, if it is a number.
    pub(crate) answer: Option<i64>,
    pub(crate) before: &'a Stood,
    pub(crate) after: &'a Stood,
    /// The number of readers' entries then, expired or not.
    pub(crate) entries: usize,
}

const GRAIN: Duration = Duration::from_millis(1);

impl Executed<'_> {
    pub(crate) fn judge(&self) -> Verdict {
        match self.script {
            Script::Acquire => self.judge_reader(),
            Script::Extend => self.judge_extension(),
            Script::Release => self.judge_end(),
        }
    }

    fn word(&self, place: usize) -> &str {
        self.words.get(place).map_or("", String::as_str)
    }

    /// Returns what stands there: before, and now.
    fn values(&self) -> (Option<&str>, Option<&str>) {
        (self.before.value.as_deref(), self.after.value.as_deref())
    }

    fn life(&self) -> Duration {
        Duration::from_millis(self.word(1).parse().unwrap_or_default())
    }

    fn judge_reader(&self) -> Verdict {
        let (token, key) = (self.word(0), self.key);
        let (before, after) = (self.before, self.after);
        let is_in_already = self.word(2) == "1";
        if is_in_already && (before.is_marked() || before.value.is_none()) {
            let left = after.left(token);
            if left.is_none_or(|left| left + GRAIN < self.life()) {
                let asked = self.life();
                return Err(format!("{token} reads {key} for {left:?}, and not for {asked:?}"));
            }
        }
        if before.value.is_none() && after.left(token).is_some() && self.entries > 1 {
            return Err(format!("{key} was vacant, and {token} is not the only reader"));
        }
        Ok(())
    }

    fn judge_extension(&self) -> Verdict {
        let (token, key) = (self.word(0), self.key);
        let (before, after) = (self.before, self.after);
        let value = before.value.as_deref();
        let is_taken = value.is_some_and(|value| value != token);
        if self.answer == Some(-1) && (!is_taken || before.is_marked()) {
            return Err(format!("{key} is not another's, but {value:?}, and {token} is refused"));
        }
        if value != Some(token) || self.answer != Some(1) {
            return Ok(());
        }
        let (left, had) = (after.left(token), before.remaining.unwrap_or_default());
        if self.entries != 1 {
            return Err(format!("{token} is alone at {key}, and not the only reader then"));
        }
        if left.is_none_or(|left| left + GRAIN < had.max(self.life())) {
            return Err(format!("{token} has {had:?} at {key}, and {left:?} as a reader"));
        }
        Ok(())
    }

    fn judge_end(&self) -> Verdict {
        let (token, key) = (self.word(0), self.key);
        let (before, after) = self.values();
        let is_its_own = self.before.is_marked() || before == Some(token);
        if is_its_own && before != after && self.entries > 0 {
            return Err(format!("{token} has left {key}, and readers' entries are left there"));
        }
        match self.after.left(token) {
            Some(_) => Err(format!("{token} has left {key}, and reads it")),
            None => Ok(()),
        }
    }
}
