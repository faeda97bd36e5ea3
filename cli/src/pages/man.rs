//! A manual page: what the definition of the command line has, and the sections that readers of
//! manuals look for.

use crate::args::{ELECT_ENVIRONMENT, ELECT_EXAMPLES, EXAMPLES, RUN_ENVIRONMENT, RUN_EXAMPLES};
use crate::exit::codes;
use crate::settings::file::OF_THE_MACHINE;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;

/// The heading of the options that every command has, as the page would have it.
const EVERYWHERE: &str = ".SH EVERYWHERE";

const ENVIRONMENT: [(&str, &str); 4] = [
    ("QUORUMLOCK_NODES", "The masters, separated by commas or spaces, unless --node names them."),
    ("QUORUMLOCK_CONFIG", "The settings file, unless --config names one."),
    (
        "QUORUMLOCK_...",
        "Any other setting: its key in the file, in capitals, such as QUORUMLOCK_KEY_PREFIX for \
         key_prefix. Options override variables, and variables override the file.",
    ),
    ("XDG_CONFIG_HOME, HOME", "Where your own settings file is looked for; see FILES."),
];

const FILES: &str = "The first of these that exists is read if no option and no variable names \
                     masters or another file. Its keys are those of the library's configuration.";

/// Returns the page of `command`, which is the program itself or one of the commands of `whole`.
pub(super) fn page(whole: &Command, command: &Command) -> io::Result<String> {
    let name = command.get_name();
    let is_whole = name == whole.get_name();
    // The exit codes and examples of the help have sections of their own, and the title has the version.
    let own = command.clone().after_help(None::<&str>).version(None::<&str>);
    let own = own.override_usage(usage(command, is_whole)).subcommand_help_heading("COMMANDS");
    let man = Man::new(own).source(format!("quorumlock {}", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.manual("quorumlock").render(&mut page)?;
    let mut rest = Roff::new();
    let (examples, variables) = match name {
        "run" => (RUN_EXAMPLES, RUN_ENVIRONMENT),
        "elect" => (ELECT_EXAMPLES, ELECT_ENVIRONMENT),
        _ if is_whole => (EXAMPLES, ""),
        _ => ("", ""),
    };
    if !matches!(name, "completions" | "man" | "help") {
        exit_status(&mut rest, (!is_whole).then_some(name));
        rest.control("SH", ["ENVIRONMENT"]);
        terms(&mut rest, ENVIRONMENT.into_iter());
        if !variables.is_empty() {
            rest.control("PP", []);
            rest.text([roman(variables)]);
        }
        files(&mut rest);
    }
    if !examples.is_empty() {
        rest.control("SH", ["EXAMPLES"]);
        rest.control("nf", []);
        for line in examples.lines().skip(1) {
            rest.text([roman(line.trim_start())]);
        }
        rest.control("fi", []);
    }
    rest.control("SH", ["SEE ALSO"]);
    let of_all = if is_whole { "" } else { "quorumlock(1), " };
    rest.text([roman(format!("{of_all}flock(1), redis-server(1), timeout(1)"))]);
    let text = String::from_utf8_lossy(&page).replace(EVERYWHERE, ".SS Everywhere");
    Ok(text + &rest.to_roff())
}

/// Returns the command as it is typed; of the program, a line for each of its commands.
fn usage(command: &Command, is_whole: bool) -> String {
    let commands = match is_whole {
        true => command.get_subcommands().filter(|named| named.get_name() != "help").collect(),
        false => vec![command],
    };
    let line = |command: &Command| {
        let usage = command.clone().render_usage().to_string();
        usage.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    commands.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Shows the exit codes of a command, or all.
fn exit_status(roff: &mut Roff, command: Option<&str>) {
    roff.control("SH", ["EXIT STATUS"]);
    let own = match command {
        None => "success; of run and elect: what COMMAND exits with",
        Some("run" | "elect") => "what COMMAND exits with",
        Some(_) => "success",
    };
    let rows = codes(command);
    let rows = rows.iter().map(|(code, what)| (*code, &**what));
    terms(roff, std::iter::once(("0", own)).chain(rows));
}

fn files(roff: &mut Roff) {
    roff.control("SH", ["FILES"]);
    roff.text([roman(FILES)]);
    let own = "Your own; below ~/.config if that variable is not set.";
    let rows = [
        ("$XDG_CONFIG_HOME/quorumlock/config.toml", own),
        (OF_THE_MACHINE, "That of the machine."),
    ];
    terms(roff, rows.into_iter());
}

fn terms<'a>(roff: &mut Roff, rows: impl Iterator<Item = (&'a str, &'a str)>) {
    for (term, text) in rows {
        roff.control("TP", []);
        roff.text([bold(term)]);
        roff.text([roman(text)]);
    }
}
