//! Completions and manual pages, made from the definition of the command line.

use crate::args::definition;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use clap_complete::Shell;

const NAME: &str = "quorumlock";

/// Prints the completions for one shell on stdout.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut page = Vec::new();
    clap_complete::generate(shell, &mut definition(), NAME, &mut page);
    Output::plain(&String::from_utf8_lossy(&page))
}

/// Prints the manual of all commands, or of one.
pub(crate) fn man(command: Option<&str>) -> Result<Exit, Failure> {
    let mut whole = definition();
    whole.build();
    let page = match command {
        None => whole,
        Some(name) => {
            let names = || whole.get_subcommands().map(|one| one.get_name().to_owned());
            whole.find_subcommand(name).cloned().ok_or_else(|| {
                let names = names().collect::<Vec<_>>().join(", ");
                Failure::usage(format!("unknown command \"{name}\": the commands are {names}"))
            })?
        }
    };
    let mut text = Vec::new();
    let written = clap_mangen::Man::new(page).render(&mut text);
    written.map_err(|error| Failure::system("man", &error))?;
    Output::plain(&String::from_utf8_lossy(&text))
}
