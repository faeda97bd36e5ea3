//! The commands that the only user may not run; there are none unless a test denies some.

use super::command::COMMANDS;
use std::collections::BTreeSet;

/// Returns the commands that are meant by these names, in the spelling of an ACL: `client|kill` is
/// one command, `client` all that begin with it.
///
/// # Errors
///
/// If there is no such command, or it can't be denied.
pub(super) fn denied(names: &[&str]) -> Result<BTreeSet<&'static str>, String> {
    let mut denied = BTreeSet::new();
    for name in names {
        let lower = name.to_ascii_lowercase();
        if matches!(&*lower, "hello" | "auth") {
            return Err(format!("{name:?} can't be denied: a server allows it to everybody"));
        }
        let is_meant = |command: &&str| {
            *command == lower || command.split_once('|').is_some_and(|(whole, _)| whole == lower)
        };
        let mut meant = COMMANDS.iter().map(|command| command.name).filter(is_meant).peekable();
        if meant.peek().is_none() {
            return Err(format!(
                "an embedded master knows no command {name:?} that it could deny; a \
                 subcommand is spelled as in an ACL, such as \"client|kill\""
            ));
        }
        denied.extend(meant);
    }
    Ok(denied)
}
