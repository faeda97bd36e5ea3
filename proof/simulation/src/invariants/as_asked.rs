//! Each command of readers, and of waiters in turn, makes of a resource what it says: lives are
//! never shortened, places are taken and left, a key is kept for a waiter.

use super::{Stood, Verdict};
use crate::commands::Script;
use quorumlock_core::coordinator::wire::NEXT;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a master has beside a resource, expired or not.
#[derive(Default)]
pub(crate) struct Beside {
    /// The waiters in the queue, with their tickets or stamps.
    pub(crate) places: BTreeMap<String, u64>,
    /// How many ms each of them has to live: below zero if it is dead.
    pub(crate) lives: BTreeMap<String, i64>,
    /// The number of readers' entries.
    pub(crate) readers: usize,
}

/// A command that a master has executed without an error.
pub(crate) struct Executed<'a> {
    pub(crate) key: &'a str,
    pub(crate) script: Script,
    /// The words behind its keys.
    pub(crate) words: &'a [String],
    /// The answer, if it is a number.
    pub(crate) answer: Option<i64>,
    pub(crate) before: (&'a Stood, &'a Beside),
    pub(crate) after: (&'a Stood, &'a Beside),
}

/// A place with more ms to live was stored before the clock was set back.
const MOST: i64 = 30_000;

const GRAIN: Duration = Duration::from_millis(1);

impl Executed<'_> {
    pub(crate) fn judge(&self) -> Verdict {
        let verdict = match self.script {
            Script::AcquireRead => self.judge_reader(),
            Script::ExtendRead => self.judge_extension(),
            Script::ReleaseRead => self.judge_end(),
            Script::Ask => self.judge_ask(),
            Script::Leave => self.judge_leave(),
        };
        verdict.and_then(|()| self.judge_kept())
    }

    fn word(&self, place: usize) -> &str {
        self.words.get(place).map_or("", String::as_str)
    }

    /// Returns what stands there: before, and now.
    fn values(&self) -> (Option<&str>, Option<&str>) {
        (self.before.0.value.as_deref(), self.after.0.value.as_deref())
    }

    fn life(&self) -> Duration {
        Duration::from_millis(self.word(1).parse().unwrap_or_default())
    }

    fn judge_reader(&self) -> Verdict {
        let (token, key) = (self.word(0), self.key);
        let (before, after) = (self.before.0, self.after.0);
        let is_in_already = self.word(2) == "1";
        let is_vacant = before.value.as_deref().is_none_or(|value| value.starts_with(NEXT));
        if is_in_already && (before.is_marked() || is_vacant) {
            let left = after.left(token);
            if left.is_none_or(|left| left + GRAIN < self.life()) {
                let asked = self.life();
                return Err(format!("{token} reads {key} for {left:?}, and not for {asked:?}"));
            }
        }
        if before.value.is_none() && after.left(token).is_some() && self.after.1.readers > 1 {
            return Err(format!("{key} was vacant, and {token} is not the only reader"));
        }
        Ok(())
    }

    fn judge_extension(&self) -> Verdict {
        let (token, key) = (self.word(0), self.key);
        let (before, after) = (self.before.0, self.after.0);
        let value = before.value.as_deref();
        let is_taken = value.is_some_and(|value| value != token && !value.starts_with(NEXT));
        if self.answer == Some(-1) && (!is_taken || before.is_marked()) {
            return Err(format!("{key} is not another's, but {value:?}, and {token} is refused"));
        }
        if value != Some(token) || self.answer != Some(1) {
            return Ok(());
        }
        let (left, had) = (after.left(token), before.remaining.unwrap_or_default());
        if self.after.1.readers != 1 {
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
        let is_its_own = self.before.0.is_marked() || before == Some(token);
        if is_its_own && before != after && self.after.1.readers > 0 {
            return Err(format!("{token} has left {key}, and readers' entries are left there"));
        }
        match self.after.0.left(token) {
            Some(_) => Err(format!("{token} has left {key}, and reads it")),
            None => Ok(()),
        }
    }

    fn judge_ask(&self) -> Verdict {
        let (key, token, waiter, ticket) = (self.key, self.word(0), self.word(2), self.word(3));
        let (before, after) = (self.before.1, self.after.1);
        if let Some((dead, left)) = after.lives.iter().find(|(_, left)| !(0..=MOST).contains(*left))
        {
            return Err(format!("{dead} has a place at {key} for {left} ms"));
        }
        if let Some(at) = after.places.get(waiter) {
            let others = || before.places.iter().filter(|(name, _)| *name != waiter);
            let stamped = before.places.get(waiter);
            let is_right = match ticket.parse::<u64>() {
                Ok(ticket) => ticket == *at,
                Err(_)
                    if stamped.is_some()
                        && before.lives.get(waiter).is_some_and(|left| *left >= 0) =>
                {
                    stamped == Some(at)
                }
                Err(_) => others()
                    .filter(|(name, _)| after.places.contains_key(*name))
                    .all(|(_, stamp)| stamp < at),
            };
            if !is_right {
                return Err(format!("{waiter} asks at {key} with '{ticket}', and stands at {at}"));
            }
        }
        let (_, value) = self.values();
        match !token.is_empty() && value.is_none() && !after.places.is_empty() {
            true => Err(format!("{token} is refused, and {key} is open to all")),
            false => Ok(()),
        }
    }

    fn judge_leave(&self) -> Verdict {
        let (key, waiter) = (self.key, self.word(1));
        if waiter.is_empty() || self.word(2) == "try" {
            return Ok(());
        }
        if self.after.1.places.contains_key(waiter) || self.after.1.lives.contains_key(waiter) {
            return Err(format!("{waiter} has left {key}, and its place is there"));
        }
        match self.values().1.and_then(|value| value.strip_prefix(NEXT)) == Some(waiter) {
            true => Err(format!("{waiter} has left {key}, which is kept for it")),
            false => Ok(()),
        }
    }

    /// Checks that a key is kept for a waiter.
    fn judge_kept(&self) -> Verdict {
        let (before, after) = self.values();
        let kept = after.filter(|_| before != after).and_then(|value| value.strip_prefix(NEXT));
        let Some(waiter) = kept else { return Ok(()) };
        let lives = self.after.1.lives.get(waiter).is_some_and(|left| *left >= 0);
        match lives && self.after.1.places.contains_key(waiter) {
            true => Ok(()),
            false => Err(format!("{} is kept for {waiter}, which waits no more", self.key)),
        }
    }
}
