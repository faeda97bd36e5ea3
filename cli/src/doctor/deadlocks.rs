//! Whether clients may wait for each other.

use super::preflight_to_json;
use crate::exit::Exit;
use crate::list;
use crate::style::{Paint, Style};
use quorumlock::{ListError, PossibleDeadlock, Preflight, Redlock};
use serde_json::{Value, json};
use std::time::Duration;

/// A hand-over that the first look has seen in parts is over by then.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// What both looks have found, in the same words.
pub(super) struct Deadlocks {
    found: Vec<PossibleDeadlock>,
    /// The reason why locks may be missing.
    error: Option<ListError>,
}

impl Deadlocks {
    pub(super) async fn find(redlock: &Redlock) -> Self {
        let first = list::find(redlock, "", false).await;
        tokio::time::sleep(BETWEEN_LOOKS).await;
        let second = list::find(redlock, "", false).await;
        let lasts = |deadlock: &PossibleDeadlock| first.deadlocks.contains(deadlock);
        let found = second.deadlocks.into_iter().filter(lasts).collect();
        Self { found, error: first.error.or(second.error) }
    }

    pub(super) fn exit(&self) -> Exit {
        match (&self.error, self.found.is_empty()) {
            (_, false) => Exit::FAILED,
            (Some(_), true) => Exit::NOT_KNOWN,
            (None, true) => Exit::SUCCESS,
        }
    }

    /// Returns a line for each, and what is known of the rest.
    pub(super) fn to_text(&self, style: Style) -> String {
        let last = match &self.error {
            Some(error) => &format!("deadlocks: not known: {error}"),
            None if self.found.is_empty() => "no clients are known to wait for each other",
            None => "each goes on once one of its waiters gives up: nothing else ends it",
        };
        let line = |found: &PossibleDeadlock| style.paint(&found.to_string(), Paint::Bad) + "\n";
        self.found.iter().map(line).collect::<String>() + last
    }

    pub(super) fn to_json(&self, preflight: &Preflight) -> Value {
        let mut value = preflight_to_json(preflight, self.exit());
        value["possible_deadlocks"] = self.found.iter().map(list::resources).collect();
        value["deadlocks_known"] = json!(self.error.is_none());
        value
    }
}
