//! What the scripts of readers promise, as a small model, and walks that compare a master with it.
//! They name nothing of the crate, so that unit tests may include them, too, by their path.

// Each includer uses a part of it.
#![allow(dead_code, unused_imports)]

mod model;
mod walk;

pub(crate) use model::{Act, Model};
pub(crate) use walk::{EXACT, REAL, Unclear, Walk};

pub(crate) const ACQUIRE: &str = include_str!("../../../core/src/wire/scripts/acquire_read.lua");
pub(crate) const EXTEND: &str = include_str!("../../../core/src/wire/scripts/extend_read.lua");
pub(crate) const RELEASE: &str = include_str!("../../../core/src/wire/scripts/release_read.lua");

pub(crate) const LOCK: &str = "r";
pub(crate) const READERS: &str = "quorumlock:readers:r";
pub(crate) const HINT: &str = "quorumlock:wants:r";
pub(crate) const MARK: &str = "quorumlock:shared";

/// A master's answer, in either protocol.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Answer {
    Okay,
    Nil,
    Int(i64),
    /// A string, and a double as it was sent.
    Text(String),
    List(Vec<Answer>),
    Error(String),
}

impl Answer {
    /// Returns the parts of a list, and those of the lists within.
    pub(crate) fn flat(self) -> Vec<Self> {
        match self {
            Self::List(parts) => parts.into_iter().flat_map(Self::flat).collect(),
            other => vec![other],
        }
    }

    pub(crate) fn number(&self) -> i64 {
        match self {
            Self::Int(number) => *number,
            Self::Text(text) => text.parse().unwrap_or_else(|_| panic!("{text:?} is no number")),
            other => panic!("{other:?} is no number"),
        }
    }
}

/// One master.
pub(crate) trait Master {
    fn ask(&mut self, words: &[&str]) -> Answer;

    /// Lets time pass on its clock.
    fn pass(&mut self, millis: i64);

    /// Returns its clock, in ms since 1970.
    fn now(&mut self) -> i64 {
        let [seconds, micros] = &self.ask(&["TIME"]).flat()[..] else { panic!("no time") };
        seconds.number() * 1_000 + micros.number() / 1_000
    }

    /// Returns the readers that are written there, with their ends; some may not count.
    fn readers(&mut self) -> Vec<(String, i64)> {
        let parts = self.ask(&["ZRANGE", READERS, "0", "-1", "WITHSCORES"]).flat();
        let pair = |pair: &[Answer]| match pair {
            [Answer::Text(name), end] => (name.clone(), end.number()),
            other => panic!("{other:?} is no reader"),
        };
        parts.chunks(2).map(pair).collect()
    }

    /// Returns the value under the key, and the ms for which it stays.
    fn stands(&mut self, key: &str) -> Option<(String, i64)> {
        let left = self.ask(&["PTTL", key]).number();
        match self.ask(&["GET", key]) {
            Answer::Nil => None,
            Answer::Text(value) => Some((value, left)),
            other => panic!("{key}: {other:?}"),
        }
    }
}
