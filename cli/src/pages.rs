//! Completions and manual pages, made from the definition of the command line.

mod man;

use crate::args::definition;
use crate::failure::{Failure, Result};
use crate::output::Output;
use clap_complete::Shell;

const NAME: &str = "quorumlock";

/// Prints the completions for one shell on stdout.
pub(crate) fn completions(shell: Shell) -> Result {
    let mut page = Vec::new();
    clap_complete::generate(shell, &mut definition(), NAME, &mut page);
    Output::plain(&String::from_utf8_lossy(&page))
}

/// Prints the manual of all commands, or of one.
pub(crate) fn man(command: Option<&str>) -> Result {
    let mut whole = definition();
    whole.build();
    let named = match command {
        None => &whole,
        Some(name) => whole.find_subcommand(name).ok_or_else(|| {
            let names: Vec<_> = whole.get_subcommands().map(clap::Command::get_name).collect();
            let names = names.join(", ");
            Failure::usage(format!("unknown command \"{name}\": the commands are {names}"))
        })?,
    };
    let page =
        man::page(named, command.is_none()).map_err(|error| Failure::system("man", &error))?;
    Output::plain(&page)
}
