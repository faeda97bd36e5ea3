//! One lock on one master: its holders, and until when they hold it.

use super::{ACQUIRE, Answer, EXTEND, HINT, LOCK, READERS, RELEASE};
use std::collections::BTreeMap;

/// What a client, the time or an operator does. Names are tokens; lives are in ms.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Read {
        name: String,
        life: i64,
        was_let_in: bool,
    },
    Extend {
        name: String,
        life: i64,
    },
    Release {
        name: String,
    },
    /// What a plain lock writes, with an end in place of a life.
    Write {
        name: String,
        life: i64,
    },
    /// A writer that waits.
    Want {
        life: i64,
    },
    GiveUp,
    ForceRelease,
    Pass {
        millis: i64,
    },
}

impl Act {
    /// Returns the command that does it at `now`; the passing of time has none.
    pub(crate) fn command(&self, now: i64) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let text = |number: &i64| number.to_string();
        match self {
            Self::Read { name, life, was_let_in } => {
                let was_let_in = text(&i64::from(*was_let_in));
                let life = text(life);
                words(&["EVAL", ACQUIRE, "3", LOCK, READERS, HINT, name, &life, &was_let_in])
            }
            Self::Extend { name, life } => {
                words(&["EVAL", EXTEND, "2", LOCK, READERS, name, &text(life)])
            }
            Self::Release { name } => words(&["EVAL", RELEASE, "2", LOCK, READERS, name]),
            Self::Write { name, life } => {
                words(&["SET", LOCK, name, "NX", "PXAT", &text(&(now + life))])
            }
            Self::Want { life } => words(&["SET", HINT, "id", "PXAT", &text(&(now + life))]),
            Self::GiveUp => words(&["DEL", HINT]),
            Self::ForceRelease => words(&["DEL", LOCK]),
            Self::Pass { .. } => Vec::new(),
        }
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) enum Holder {
    #[default]
    Vacant,
    Writer(String, i64),
    /// At least one, with the ms since 1970 until which each reads.
    Readers(BTreeMap<String, i64>),
}

#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Model {
    pub(crate) holder: Holder,
    /// The end of the hint that a writer waits.
    pub(crate) hint: Option<i64>,
}

impl Model {
    /// Forgets what is over at `now`: a key still is there in the very millisecond in which it ends,
    /// and gone in the next.
    pub(crate) fn lapse(&mut self, now: i64) {
        self.hint = self.hint.filter(|end| *end >= now);
        match &mut self.holder {
            Holder::Writer(_, end) if *end < now => self.holder = Holder::Vacant,
            Holder::Readers(readers) => {
                readers.retain(|_, end| *end >= now);
                self.or_vacant();
            }
            _ => {}
        }
    }

    /// Returns all moments at which something ends.
    pub(crate) fn ends(&self) -> Vec<i64> {
        let of_holder: Vec<i64> = match &self.holder {
            Holder::Vacant => Vec::new(),
            Holder::Writer(_, end) => vec![*end],
            Holder::Readers(readers) => readers.values().copied().collect(),
        };
        of_holder.into_iter().chain(self.hint).collect()
    }

    /// Does it at `now`, and returns the master's answer; `now` moves with the time that passes.
    pub(crate) fn act(&mut self, act: &Act, now: i64) -> Answer {
        match act {
            Act::Read { name, life, was_let_in } => self.read(name, now + life, *was_let_in, now),
            Act::Extend { name, life } => Answer::Int(self.extend(name, now + life)),
            Act::Release { name } => Answer::Int(self.release(name)),
            Act::Write { name, life } => match self.holder {
                Holder::Vacant => {
                    self.holder = Holder::Writer(name.clone(), now + life);
                    Answer::Okay
                }
                _ => Answer::Nil,
            },
            Act::Want { life } => {
                self.hint = Some(now + life);
                Answer::Okay
            }
            Act::GiveUp => Answer::Int(self.hint.take().is_some().into()),
            Act::ForceRelease => {
                let was = std::mem::take(&mut self.holder);
                Answer::Int((was != Holder::Vacant).into())
            }
            Act::Pass { .. } => Answer::Nil,
        }
    }

    fn read(&mut self, name: &str, end: i64, was_let_in: bool, now: i64) -> Answer {
        let refused = |why, until: i64| {
            let zero = || Answer::Text("0".to_owned());
            Answer::List(vec![Answer::Int(why), Answer::Int(until - now), zero(), zero()])
        };
        match (&mut self.holder, self.hint) {
            (Holder::Writer(_, until), _) => return refused(0, *until),
            (_, Some(until)) if !was_let_in => return refused(1, until),
            (Holder::Readers(readers), _) => prolong(readers, name, end),
            (Holder::Vacant, _) => self.holder = Holder::Readers([(name.into(), end)].into()),
        }
        Answer::Okay
    }

    fn extend(&mut self, name: &str, end: i64) -> i64 {
        match &mut self.holder {
            Holder::Writer(writer, its) if writer == name => {
                self.holder = Holder::Readers([(name.into(), end.max(*its))].into());
                1
            }
            Holder::Writer(..) => -1,
            Holder::Readers(readers) if readers.contains_key(name) => {
                prolong(readers, name, end);
                1
            }
            _ => 0,
        }
    }

    fn release(&mut self, name: &str) -> i64 {
        let was_there = match &mut self.holder {
            Holder::Writer(writer, _) if writer == name => {
                self.holder = Holder::Vacant;
                true
            }
            Holder::Readers(readers) => readers.remove(name).is_some(),
            _ => false,
        };
        self.or_vacant();
        was_there.into()
    }

    fn or_vacant(&mut self) {
        if matches!(&self.holder, Holder::Readers(readers) if readers.is_empty()) {
            self.holder = Holder::Vacant;
        }
    }
}

fn prolong(readers: &mut BTreeMap<String, i64>, name: &str, end: i64) {
    let its = readers.entry(name.to_owned()).or_insert(end);
    *its = end.max(*its);
}
