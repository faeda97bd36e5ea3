//! Completions and manual pages, made from the definition of the command line.

use crate::args::{
    Args, ELECT_ENVIRONMENT, ELECT_EXAMPLES, EXAMPLES, RUN_ENVIRONMENT, RUN_EXAMPLES,
};
use crate::exit::codes;
use crate::failure::{Failure, Result};
use crate::output::Output;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;

const NAME: &str = "quorumlock";

/// Prints the completions for one shell on stdout.
pub(crate) fn completions(shell: Shell) -> Result {
    let mut page = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), NAME, &mut page);
    Output::plain(&String::from_utf8_lossy(&page))
}

/// Prints the manual of all commands, or of one.
pub(crate) fn man(command: Option<&str>) -> Result {
    let mut whole = Args::command();
    whole.build();
    let named = match command {
        None => &whole,
        Some(name) => whole.find_subcommand(name).ok_or_else(|| {
            let names: Vec<_> = whole.get_subcommands().map(Command::get_name).collect();
            let names = names.join(", ");
            Failure::usage(format!("unknown command \"{name}\": the commands are {names}"))
        })?,
    };
    let page = page(named, command.is_none()).map_err(|error| Failure::system("man", &error))?;
    Output::plain(&page)
}

/// The heading of the options that every command has, as the page would have it.
const EVERYWHERE: &str = ".SH EVERYWHERE";

/// The sections of all commands that have settings.
const ENVIRONMENT: &str = include_str!("pages/environment.roff");
const FILES: &str = include_str!("pages/files.roff");

/// Returns the page of `command`, which is the program itself if it `is_whole`.
fn page(command: &Command, is_whole: bool) -> io::Result<String> {
    let name = command.get_name();
    let usage = command.clone().render_usage().to_string();
    // The exit codes and examples of the help have sections of their own, and the title has the version.
    let own = command.clone().after_help(None::<&str>).version(None::<&str>);
    let own = own.override_usage(usage.replace("Usage: ", "")).subcommand_help_heading("COMMANDS");
    let man = Man::new(own).source(format!("quorumlock {}", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.manual("quorumlock").render(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).replace(EVERYWHERE, ".SS Everywhere");
    let (examples, variables) = match name {
        "run" => (RUN_EXAMPLES, RUN_ENVIRONMENT),
        "elect" => (ELECT_EXAMPLES, ELECT_ENVIRONMENT),
        _ if is_whole => (EXAMPLES, ""),
        _ => ("", ""),
    };
    if !matches!(name, "completions" | "man" | "help") {
        page = page + &exit_status((!is_whole).then_some(name)) + ENVIRONMENT;
        if !variables.is_empty() {
            page += &Roff::new().control("PP", []).text([roman(variables)]).to_roff();
        }
        page += FILES;
    }
    if !examples.is_empty() {
        let lines = examples.lines().skip(1).map(|line| roman(line.trim_start()));
        page = page + ".SH EXAMPLES\n.nf\n" + &Roff::from_iter(lines).to_roff() + ".fi\n";
    }
    let of_all = if is_whole { "" } else { "quorumlock(1), " };
    Ok(page + ".SH \"SEE ALSO\"\n" + of_all + "flock(1), redis\\-server(1), timeout(1)\n")
}

/// Shows the exit codes of a command, or all.
fn exit_status(command: Option<&str>) -> String {
    let own = match command {
        None => "success; of run and elect: what COMMAND exits with",
        Some("run" | "elect") => "what COMMAND exits with",
        Some(_) => "success",
    };
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (code, text) in std::iter::once(("0", own.to_owned())).chain(codes(command)) {
        roff.control("TP", []).text([bold(code)]).text([roman(text)]);
    }
    roff.to_roff()
}
