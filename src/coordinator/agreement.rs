//! What all clients of the same masters must have in common, agreed through the masters.
//!
//! A client that allows a ttl of ten minutes beside one that waits thirty seconds for a restarted
//! master breaks the restart guard; two clients whose lists of masters have no list in common can
//! win side by side. So each handshake, and each heartbeat after it, notes at the master what this
//! client goes by, unless another client that lives goes by something else: then the two disagree,
//! and this one does not use the master.

use super::fault::Fault;
use super::wire;
use crate::quorum::Window;
use bytes::Bytes;
use redis::Value;
use std::fmt;
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
    pub(super) command: Bytes,
}

impl Agreement {
    pub(crate) fn new(terms: Terms) -> Self {
        let command = wire::agree(&terms.key, &terms.numbers(), &terms.lists());
        Self { terms, command }
    }

    /// Takes back what was noted first by us, until `ends`, and is not to be.
    pub(super) fn withdrawal(&self, ends: u64) -> Bytes {
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
        let left = humantime::format_duration(crate::report::round(left));
        let Terms { max_ttl, window, .. } = &self.terms;
        let ours = match field {
            "max_ttl" => Ok(max_ttl),
            "window back" => Ok(&window.back),
            "window ahead" => Ok(&window.ahead),
            _ => Err(Lists(&self.terms.lists())),
        };
        let field = if field == "max_ttl" { "max_ttl" } else { "fencing_window" };
        Fault::disagreement(match ours {
            Ok(ours) => {
                let (ours, theirs) = (humantime::format_duration(*ours), millis(theirs));
                format!(
                    "{field} is {ours} here and {theirs} with another client: make them equal, or \
                     stop all clients and wait {left}"
                )
            }
            Err(ours) => {
                let theirs = theirs.chars().take(LONGEST_SHOWN).collect::<String>();
                let theirs: Vec<String> = theirs.split('\n').map(printable).collect();
                let theirs = Lists(&theirs);
                format!(
                    "this client's masters are {ours}, another client's {theirs}: two such clients \
                     could both win; name both lists while masters change, with \
                     RedlockBuilder::also, or wait {left} after the other has stopped"
                )
            }
        })
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
}

struct Lists<'a>(&'a [String]);

impl fmt::Display for Lists<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, list) in self.0.iter().enumerate() {
            write!(f, "{}[{}]", if place == 0 { "" } else { " and " }, list.replace(' ', ", "))?;
        }
        Ok(())
    }
}

/// Of what another client has noted, an error shows no more than this.
const LONGEST_SHOWN: usize = 1000;

fn printable(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(LONGEST_SHOWN).collect()
}

fn millis(text: &str) -> String {
    let span = text.parse().map(Duration::from_millis);
    span.map_or_else(|_| printable(text), |span| humantime::format_duration(span).to_string())
}
