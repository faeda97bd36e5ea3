//! The commands that the only user may not run.

use super::command::{COMMANDS, Command};
use std::collections::BTreeSet;

/// Denied commands; there are none unless a test denies some.
#[derive(Default)]
pub(super) struct Rights {
    denied: BTreeSet<&'static str>,
}

impl Rights {
    /// Denies these commands and nothing else, in the spelling of an ACL: `client|kill` is one
    /// command, `client` all that begin with it.
    ///
    /// # Errors
    ///
    /// If there is no such command, or it can't be denied.
    pub(super) fn deny(&mut self, names: &[&str]) -> Result<(), String> {
        let mut denied = BTreeSet::new();
        for name in names {
            let lower = name.to_ascii_lowercase();
            if always_allowed(&lower) {
                return Err(format!("{name:?} can't be denied: a server allows it to everybody"));
            }
            let is_meant = |command: &&Command| {
                command.name == lower
                    || command.name.split_once('|').is_some_and(|(whole, _)| whole == lower)
            };
            let mut meant = COMMANDS.iter().filter(is_meant).map(|command| command.name).peekable();
            if meant.peek().is_none() {
                return Err(format!(
                    "an embedded master knows no command {name:?} that it could deny; a \
                     subcommand is spelled as in an ACL, such as \"client|kill\""
                ));
            }
            denied.extend(meant);
        }
        self.denied = denied;
        Ok(())
    }

    pub(super) fn allow(&self, command: &Command) -> bool {
        !self.denied.contains(command.name)
    }
}

fn always_allowed(name: &str) -> bool {
    matches!(name, "hello" | "auth")
}
