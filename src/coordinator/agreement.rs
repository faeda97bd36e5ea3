//! What all clients of the same masters must have in common, agreed through the masters.
//!
//! A client that allows a ttl of ten minutes beside one that waits thirty seconds for a restarted
//! master breaks the restart guard; two clients whose lists of masters have no list in common can
//! win side by side. So each handshake, and each heartbeat after it, notes at the master what this
//! client goes by, unless another client that lives goes by something else: then the two disagree,
//! and this one does not use the master.

mod difference;

pub use difference::Difference;

use super::fault::Fault;
use super::wire;
use crate::quorum::Window;
use redis::Value;
use std::sync::Arc;
use std::time::Duration;

/// What a client goes by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Terms {
    /// The key under which clients agree.
    pub(crate) key: String,
    pub(crate) max_ttl: Duration,
    pub(crate) window: Window,
    /// The names of the masters of each list.
    pub(crate) lists: Vec<Vec<Arc<str>>>,
    /// How long what a client has noted stands after it was last confirmed.
    pub(crate) life: Duration,
}

/// The terms, and the command that confirms them.
#[derive(Clone, Debug)]
pub(crate) struct Agreement {
    terms: Terms,
    pub(crate) command: Vec<u8>,
}

impl Agreement {
    pub(crate) fn new(terms: Terms) -> Self {
        let command = wire::agree(&terms.key, &terms.numbers(), &terms.lists());
        Self { terms, command }
    }

    /// Takes back what was noted first by us, until `ends`, and is not to be.
    pub(super) fn withdrawal(&self, ends: u64) -> Vec<u8> {
        wire::withdraw(&self.terms.key, ends, &self.terms.lists())
    }

    /// How long what was noted stands.
    pub(super) const fn life(&self) -> Duration {
        self.terms.life
    }

    /// What the master says to it; `None` if another client of it goes by the same.
    ///
    /// An error leaves the question open. While a connection is `open` it was answered before, and
    /// will be asked again; before that there is no vote without an answer.
    pub(super) fn fault(&self, reply: &Value, open: bool) -> Option<Fault> {
        match reply {
            Value::Int(1..) => None,
            Value::Array(parts) => Some(self.disagreement(parts)),
            _ if open => None,
            denied if wire::is_denied(denied) => {
                let (error, key) = (wire::unexpected(denied), &self.terms.key);
                let needed = format!("{error}: EVAL on the key {key} is needed");
                Some(Fault::rejected(needed))
            }
            other => Some(Fault::down(wire::unexpected(other))),
        }
    }

    fn disagreement(&self, parts: &[Value]) -> Fault {
        let told = match parts {
            [field, theirs, Value::Int(left)] => {
                Some((wire::text(field), wire::text(theirs), left))
            }
            _ => None,
        };
        let Some((Some(field), Some(theirs), left)) = told else {
            return Fault::down("an answer to the agreement that it cannot have");
        };
        let left = Duration::from_millis(left.unsigned_abs());
        let difference = Difference::new(field, theirs, left, &self.terms);
        Fault::disagreement(format!("{difference}: {}", difference.remedy()))
    }
}

impl Terms {
    /// Its life first, then what is compared.
    fn numbers(&self) -> [u64; 4] {
        let Self { life, max_ttl, window, .. } = self;
        [*life, *max_ttl, window.back, window.ahead].map(wire::millis)
    }

    /// Each list as one word, whatever the order of its masters and of the lists.
    fn lists(&self) -> Vec<String> {
        let word = |list: &Vec<Arc<str>>| {
            let mut names: Vec<&str> = list.iter().map(|name| &**name).collect();
            names.sort_unstable();
            names.join(" ")
        };
        let mut lists: Vec<String> = self.lists.iter().map(word).collect();
        lists.sort_unstable();
        lists
    }

    /// What the script would object to in what is `noted` at a master (as `HGETALL` tells it), all
    /// of it, without noting anything. What is noted lapses in `left`; the master's clock shows
    /// `now`.
    pub(crate) fn differences(
        &self,
        noted: &Value,
        left: Duration,
        now: Duration,
    ) -> Vec<Difference> {
        let Value::Map(fields) = noted else { return Vec::new() };
        let texts = fields.iter().filter_map(|(f, v)| Some((wire::text(f)?, wire::text(v)?)));
        texts.filter_map(|(field, value)| self.difference(field, value, left, now)).collect()
    }

    fn difference(
        &self,
        field: &str,
        value: &str,
        left: Duration,
        now: Duration,
    ) -> Option<Difference> {
        if let Some(theirs) = field.strip_prefix("lists\n") {
            let theirs = theirs.trim_end_matches('\n');
            let ours = self.lists();
            let common = theirs.split('\n').any(|list| ours.iter().any(|other| other == list));
            let until = Duration::from_millis(value.parse().unwrap_or(0));
            let lives = !common && until > now;
            let left = until.saturating_sub(now);
            return lives.then(|| Difference::new("lists", theirs, left, self));
        }
        let [_, max_ttl, back, ahead] = self.numbers().map(|number| number.to_string());
        let ours = match field {
            "max_ttl" => max_ttl,
            "window back" => back,
            "window ahead" => ahead,
            _ => return None,
        };
        (ours != value).then(|| Difference::new(field, value, left, self))
    }
}
