//! The problem with a command line, in one line and without passwords.

use super::Args;
use clap::{ArgMatches, CommandFactory};
use std::ffi::OsString;

/// Shortens the parser's own text, which has several lines and begins with `error: `.
pub(crate) fn in_one_line(text: &str, arguments: &[OsString]) -> String {
    let text = text.replace("\n  tip: ", "\n\n  tip: ");
    let parts =
        text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let is_left_out = |part: &str| LEFT_OUT.iter().any(|begin| part.starts_with(begin));
    let parts: Vec<String> = parts.filter(|part| !part.is_empty() && !is_left_out(part)).collect();
    let line = parts.join("; ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    let line = match foreign(line) {
        // The parser may know a word that looks alike, and means something else.
        Some(ours) => format!("{}; tip: use {ours}", line.split("; tip: ").next().unwrap_or(line)),
        None => line.to_owned(),
    };
    let behind = if line.ends_with("<COMMAND>...") { ", behind --" } else { "" };
    let given = Args::command().ignore_errors(true).try_get_matches_from(arguments);
    let given = given.unwrap_or_default();
    let meant = undivided(&given, arguments).map(|meant| format!("; did you mean: {meant}"));
    let line = format!("{line}{behind}{}", meant.unwrap_or_default());
    let command = given.subcommand_name().map(|name| format!(" {name}")).unwrap_or_default();
    format!("{} (see quorumlock{command} --help)", without_addresses(&line, arguments))
}

/// How the parser's parts begin that are not shown. What is passed as a value behind `--` would be the command to run.
const LEFT_OUT: [&str; 3] = ["Usage:", "For more information", "tip: to pass '"];

/// What it is here, and what other programs call it. For the shortest words, the parser finds no similar command.
const FOREIGN: [(&str, &[&str]); 13] = [
    ("run", &["rnu", "lock", "exec", "flock"]),
    ("ask", &["aks"]),
    ("man", &["mna"]),
    ("force-release", &["unlock", "release"]),
    ("doctor", &["status", "check", "health", "ping"]),
    ("inspect", &["show", "get"]),
    ("list", &["ls"]),
    ("watch", &["top"]),
    ("elect", &["leader"]),
    ("--version", &["version"]),
    ("--timeout", &["-w", "--wait"]),
    ("-- sh -c", &["-c"]),
    ("--shared", &["-s"]),
];

/// Returns what the word that is not known is called here, if it is one of other programs.
fn foreign(line: &str) -> Option<&'static str> {
    let option = line.strip_prefix("unexpected argument '").filter(|rest| rest.starts_with('-'));
    let rest = option.or_else(|| line.strip_prefix("unrecognized subcommand '"))?;
    let (word, _) = rest.split_once('\'')?;
    FOREIGN.iter().find(|(_, theirs)| theirs.contains(&word)).map(|(ours, _)| *ours)
}

/// Returns a command line of `run` or `elect` that lacks its `--`, with it. `given` is what the parser makes of it.
fn undivided(given: &ArgMatches, arguments: &[OsString]) -> Option<String> {
    let (command, own) = given.subcommand()?;
    let id = match command {
        "run" => "resources",
        "elect" => "name",
        _ => return None,
    };
    let resource = own.get_raw(id)?.next()?;
    let mut rest = arguments.iter().skip_while(|argument| *argument != resource).skip(1);
    let program = rest.next()?.to_str().filter(|program| !program.starts_with('-'))?;
    let more = if rest.next().is_some() { " ..." } else { "" };
    let meant = format!("{command} {} -- {program}{more}", resource.to_str()?);
    let is_divided = arguments.iter().any(|argument| argument == "--");
    (!is_divided && !meant.contains(char::is_control)).then_some(meant)
}

/// Removes whatever looks like an address, which may contain a password.
fn without_addresses(line: &str, arguments: &[OsString]) -> String {
    let arguments = arguments.iter().filter_map(|argument| argument.to_str());
    let mut addresses: Vec<&str> =
        arguments.filter(|argument| argument.contains("://") || argument.contains('@')).collect();
    // Of two that begin in the same way, the longer one first.
    addresses.sort_by_key(|address| std::cmp::Reverse(address.len()));
    addresses.into_iter().fold(line.to_owned(), |line, address| {
        let value = address.split_once('=').map_or(address, |(_, value)| value);
        let collapsed = address.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = line.replace(address, "<address>").replace(&collapsed, "<address>");
        if value.is_empty() { line } else { line.replace(value, "<address>") }
    })
}
