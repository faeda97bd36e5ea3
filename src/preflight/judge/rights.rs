//! The rights that our user lacks there, and calls that fail although it may make them.

use super::Answers;
use crate::preflight::question::Question;
use crate::preflight::{FindingKind, NodePreflight, Right, Role};
use quorumlock_core::coordinator::wire::{self, Reply};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Answers<'_> {
    pub(super) fn rights(&self, judged: &mut NodePreflight) {
        let time = self.0.time.iter().map(|sample| (Right::Time, &sample.reply));
        // Most servers have no such command, and do not need it.
        let is_none = |question: Question, reply: &Reply| {
            let unknown = reply.error().is_some_and(|error| wire::is_unknown(error));
            question == Question::DeleteIfEqual && unknown
        };
        let others = self.0.answers.iter().filter(|(question, reply)| !is_none(**question, reply));
        let others = others.map(|(question, reply)| (question.right(), reply));
        let surveyed = self.surveyed();
        // The first error of each.
        let mut refused: BTreeMap<Right, (Arc<str>, bool)> = BTreeMap::new();
        for (right, reply) in others.chain(time) {
            let Some(error) = reply.error().cloned() else { continue };
            // The survey names what a script lacks.
            if surveyed.is_empty() || !wire::is_denied_within_a_script(&error) {
                let withheld = reply.is_denied();
                refused.entry(right).or_insert((error, withheld));
            }
        }
        for (right, error) in surveyed {
            refused.entry(right).or_insert((error, true));
        }
        let mut told = BTreeSet::new();
        for (&right, (error, is_withheld)) in &refused {
            let error = error.clone();
            if *is_withheld {
                judged.find(FindingKind::Withheld { right, error });
                continue;
            }
            let expected = match code(&error) {
                "READONLY" => judged.role == Some(Role::Replica),
                "NOSCRIPT" => refused.contains_key(&Right::ScriptLoad),
                _ => false,
            };
            // A problem of the whole master (LOADING, MISCONF, BUSY) is reported once, where it is
            // worst.
            if !expected && told.insert(code(&error).to_owned()) {
                judged.find(FindingKind::Fails { right, error });
            }
        }
    }

    /// Returns what is withheld from our scripts, call by call.
    fn surveyed(&self) -> Vec<(Right, Arc<str>)> {
        let Some(Reply::Array(failed)) = self.0.answers.get(&Question::Survey) else {
            return Vec::new();
        };
        let withheld = |failed: &Reply| {
            let Reply::Array(parts) = failed else { return None };
            let [command, error] = &parts[..] else { return None };
            let (command, error) = (command.text()?, error.text()?);
            let right = Right::named(command)?;
            wire::is_denied_within_a_script(error).then(|| (right, error.into()))
        };
        failed.iter().filter_map(withheld).collect()
    }
}

/// Returns the server's problem, in one word. For a command within a script, 6.2 reports it after
/// the position in the script.
fn code(error: &str) -> &str {
    let within = error.rsplit_once("@user_script: ").and_then(|(_, error)| error.split_once(": -"));
    match within.map(|(_line, error)| error).unwrap_or(error).split(' ').next() {
        Some("ERR") | None => error,
        Some(code) => code,
    }
}
