//! A setting that two clients of a master do not share.

use super::Span;
use crate::escape::OneLine;
use crate::master::SharedSettings;
use humantime::format_duration;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A setting in which another client of a master differs from this one. Its text shows both values.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The option of the builder that sets it.
    pub option: &'static str,
    /// This client's value.
    pub ours: Arc<str>,
    /// The other client's value.
    pub theirs: Arc<str>,
    /// The remaining time of the other value, unless a client confirms it again.
    pub lapses_in: Duration,
    /// The key under which clients agree.
    key: Arc<str>,
}

/// A longer wait than this has another remedy.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

impl Difference {
    /// Builds the difference from `field` and `theirs`, as they are noted at the master.
    pub(crate) fn new(
        field: &str,
        theirs: &str,
        lapses_in: Duration,
        shared: &SharedSettings,
    ) -> Self {
        let SharedSettings { max_ttl, window, key, .. } = shared;
        let key = key.as_str().into();
        let (option, ours) = match field {
            "max_ttl" => ("max_ttl", max_ttl),
            "window back" => ("fencing_window", &window.back),
            "window ahead" => ("fencing_window", &window.ahead),
            _ => {
                let shown: String = theirs.chars().take(LONGEST_SHOWN).collect();
                let theirs: Vec<String> = shown.split('\n').map(printable).collect();
                let [ours, theirs] = [shared.lists(), theirs].map(|lists| named(&lists).into());
                return Self { option: "nodes", ours, theirs, lapses_in, key };
            }
        };
        let ours = format_duration(*ours).to_string().into();
        let span = theirs.parse().map(Duration::from_millis);
        let theirs = span.map_or_else(
            |_| printable(theirs).into(),
            |span| format_duration(span).to_string().into(),
        );
        Self { option, ours, theirs, lapses_in, key }
    }

    /// Returns what to do about it. Where a note stands for long, an operator may delete it while no
    /// client runs.
    pub fn remedy(&self) -> String {
        let left = Span(self.lapses_in);
        let mut remedy = if self.option == "nodes" {
            format!(
                "two such clients could both win; name both lists while masters change, with \
                 joint_with, or wait {left} after the other has stopped"
            )
        } else {
            format!("make them equal, or stop all clients and wait {left}")
        };
        if self.lapses_in > LONGEST_WAIT {
            remedy += ", or stop all clients and delete the key ";
            remedy += &self.key;
            remedy += " on each master";
        }
        remedy
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, ours, theirs, .. } = self;
        let [ours, theirs] = [ours, theirs].map(OneLine);
        if *option == "nodes" {
            write!(f, "this client's masters are {ours}, another client's {theirs}")
        } else {
            write!(f, "{option} is {ours} here and {theirs} with another client")
        }
    }
}

/// The longest text from another client's note that an error shows.
const LONGEST_SHOWN: usize = 1000;

fn printable(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(LONGEST_SHOWN).collect()
}

fn named(lists: &[String]) -> String {
    let lists = lists.iter().map(|list| format!("[{}]", list.replace(' ', ", ")));
    lists.collect::<Vec<_>>().join(" and ")
}
