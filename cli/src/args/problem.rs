//! The problem with a command line, in one line and without passwords.

use std::ffi::OsString;

/// Shortens the parser's own text, which has several lines and begins with `error: `.
pub(super) fn in_one_line(text: &str, arguments: &[OsString]) -> String {
    let text = text.replace("\n  tip: ", "\n\n  tip: ");
    let parts =
        text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let is_kept = |part: &String| !part.is_empty() && !part.starts_with("Usage:");
    let parts: Vec<String> = parts.filter(is_kept).filter(|part| !is_hint(part)).collect();
    let line = parts.join("; ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    let similar = similar(line).map(|name| format!("; tip: a similar subcommand exists: '{name}'"));
    let line = without_addresses(line, arguments) + &similar.unwrap_or_default();
    let behind = if line.ends_with("<COMMAND>...") { ", behind --" } else { "" };
    let command = command(arguments).map(|name| format!(" {name}")).unwrap_or_default();
    format!("{line}{behind} (see quorumlock{command} --help)")
}

/// Returns the subcommand whose help has more about it, if one is named.
fn command(arguments: &[OsString]) -> Option<String> {
    let ours = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    let definition = super::definition();
    ours.filter_map(|argument| definition.find_subcommand(argument))
        .map(|command| command.get_name().to_owned())
        .next()
}

/// Returns the subcommand that has the letters of an unknown one in another order, which the parser
/// finds in long words only.
fn similar(line: &str) -> Option<String> {
    let typed = line.strip_prefix("unrecognized subcommand '")?.strip_suffix('\'')?;
    let letters = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let definition = super::definition();
    let mut names = definition.get_subcommands().map(clap::Command::get_name);
    names.find(|name| letters(name) == letters(typed)).map(str::to_owned)
}

/// What is passed as a value behind `--` would be the command to run.
fn is_hint(part: &str) -> bool {
    part.starts_with("For more information") || part.starts_with("tip: to pass '")
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
