//! A manual page: what the definition of the command line has, and the sections that readers of
//! manuals look for.

use crate::args::{ELECT_EXAMPLES, EXAMPLES, RUN_EXAMPLES};
use crate::exit::codes;
use crate::settings::OF_THE_MACHINE;
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

const ENVIRONMENT_OF_THE_COMMAND: [(&str, &str); 4] = [
    ("QUORUMLOCK_RESOURCE", "Set for COMMAND: the locked resource; with several, one per line."),
    (
        "QUORUMLOCK_DEADLINE",
        "Set for COMMAND: the deadline when it began, in milliseconds since 1970. It moves on as \
         long as the lock is kept alive.",
    ),
    (
        "QUORUMLOCK_FENCING_TOKEN",
        "Set for COMMAND with --fenced, and by elect, where it is the term: the number to send with every write.",
    ),
    (
        "QUORUMLOCK_SLOT",
        "Set for COMMAND with --permits N: the slot of its permit, 0 to N-1. No two commands at work have the same.",
    ),
];

const FILES: &str = "The first of these that exists is read if no option and no variable names \
                     masters or another file. Its keys are those of the library's configuration.";

/// Writes the page of `command`, which is the program itself or one of the commands of `whole`.
pub(super) fn page(whole: &Command, command: &Command) -> io::Result<Vec<u8>> {
    let name = command.get_name();
    let is_whole = name == whole.get_name();
    let man = Man::new(command.clone().subcommand_help_heading("COMMANDS")).manual("quorumlock");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    let preamble = String::from_utf8_lossy(&page).into_owned();
    let preamble = preamble.split(".TH").next().unwrap_or_default();
    man.render_name_section(&mut page)?;
    synopsis(command, is_whole).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if is_whole {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    let connects = !matches!(name, "completions" | "man" | "help");
    if connects {
        let of_the_command =
            if matches!(name, "run" | "elect") { &ENVIRONMENT_OF_THE_COMMAND[..] } else { &[] };
        exit_status(&mut rest, (!is_whole).then_some(name));
        rest.control("SH", ["ENVIRONMENT"]);
        terms(&mut rest, ENVIRONMENT.iter().chain(of_the_command).copied());
        files(&mut rest);
    }
    match name {
        "run" => examples(&mut rest, RUN_EXAMPLES),
        "elect" => examples(&mut rest, ELECT_EXAMPLES),
        _ if is_whole => examples(&mut rest, EXAMPLES),
        _ => {}
    }
    see_also(&mut rest, whole, is_whole);
    rest.to_writer(&mut page)?;
    // Each part begins with it; the page needs it once.
    let text = String::from_utf8_lossy(&page).replace(preamble, "");
    let text = text.replace(EVERYWHERE, ".SS Everywhere");
    Ok(format!("{preamble}{text}").into_bytes())
}

/// Shows the command as it is typed, or each command.
fn synopsis(command: &Command, is_whole: bool) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    let mut commands: Vec<Command> = vec![command.clone()];
    if is_whole {
        commands = named(command).cloned().collect();
    }
    for (place, mut command) in commands.into_iter().enumerate() {
        if place > 0 {
            roff.control("br", []);
        }
        let name = command.get_bin_name().unwrap_or_default().to_owned();
        let usage = command.render_usage().to_string();
        let usage = usage.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = usage.strip_prefix("Usage: ").unwrap_or(&usage);
        let words = words.strip_prefix(&*name).unwrap_or(words).to_owned();
        roff.text([bold(name), roman(words)]);
    }
    roff
}

/// Returns the commands that have a page of their own.
fn named(whole: &Command) -> impl Iterator<Item = &Command> {
    whole.get_subcommands().filter(|command| command.get_name() != "help")
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

/// Shows the examples of the help, line by line.
fn examples(roff: &mut Roff, text: &str) {
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for line in text.lines().skip(1) {
        roff.text([roman(line.trim_start())]);
    }
    roff.control("fi", []);
}

fn see_also(roff: &mut Roff, whole: &Command, is_whole: bool) {
    roff.control("SH", ["SEE ALSO"]);
    let own: Vec<String> = if is_whole {
        named(whole).map(|command| format!("{}-{}", whole.get_name(), command.get_name())).collect()
    } else {
        vec![whole.get_name().to_owned()]
    };
    let others = ["flock", "redis-server", "timeout"].map(str::to_owned);
    let mut text = Vec::new();
    for name in own.into_iter().chain(others) {
        text.push(roman(if text.is_empty() { "" } else { ", " }));
        text.extend([bold(name), roman("(1)")]);
    }
    roff.text(text);
}
