//! Missing permissions of our user, and calls that fail although it may make them.

use crate::operator::preflight::question::{Heard, Question};
use crate::operator::preflight::{FindingKind, Permission};
use quorumlock_core::coordinator::wire::{self, Reply};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Finds what our user may not do, and what fails for another reason.
pub(super) fn lacking(heard: &Heard, is_replica: bool) -> Vec<FindingKind> {
    let time = heard.time().into_iter().map(|sample| (Permission::Time, &sample.reply));
    let others = heard.answers.iter().map(|(question, reply)| (question.permission(), reply));
    let surveyed = surveyed(heard);
    // The first error of each, and whether it is withheld.
    let mut refused: BTreeMap<Permission, (Arc<str>, bool)> = BTreeMap::new();
    for (permission, reply) in others.chain(time) {
        let Some(error) = reply.error() else { continue };
        // Servers that have no such command do not need it.
        let is_optional =
            matches!(permission, Permission::DelIfEq | Permission::DelEx | Permission::AclDryRun);
        let is_needless = is_optional && wire::is_unknown(error);
        // The survey names what a script lacks.
        let is_named = !surveyed.is_empty() && wire::is_denied_within_a_script(error);
        if !is_needless && !is_named {
            refused.entry(permission).or_insert_with(|| (error.clone(), reply.is_denied()));
        }
    }
    for (permission, error) in surveyed {
        refused.entry(permission).or_insert((error, true));
    }
    let has_scripts = !refused.contains_key(&Permission::ScriptLoad);
    let mut reported = BTreeSet::new();
    let finding = |(permission, (error, is_withheld)): (Permission, (Arc<str>, bool))| {
        if is_withheld {
            return Some(FindingKind::Withheld { permission, error });
        }
        let is_new = match code(&error) {
            "READONLY" if is_replica => false,
            "NOSCRIPT" if !has_scripts => false,
            // A problem of the whole master (LOADING, MISCONF, BUSY) is reported once, where it is
            // worst.
            code => reported.insert(code.to_owned()),
        };
        is_new.then_some(FindingKind::Fails { permission, error })
    };
    refused.into_iter().filter_map(finding).collect()
}

/// Returns what is withheld from our scripts, call by call.
fn surveyed(heard: &Heard) -> Vec<(Permission, Arc<str>)> {
    let Some(Reply::Array(failed)) = heard.answers.get(&Question::Survey) else {
        return Vec::new();
    };
    let withheld = |failed: &Reply| {
        let Reply::Array(parts) = failed else { return None };
        let [command, error] = &parts[..] else { return None };
        let (command, error) = (command.text()?, error.text()?);
        let permission = Permission::named(command)?;
        wire::is_denied_within_a_script(error).then(|| (permission, error.into()))
    };
    failed.iter().filter_map(withheld).collect()
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
