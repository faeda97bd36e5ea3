//! Output: results on stdout, everything else on stderr, as text or as JSON.

use crate::exit::Exit;
use crate::failure::{Failure, Result};
use clap::ColorChoice;
use quorumlock::report::{OneLine, is_hidden};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::time::{Duration, SystemTime};

/// The format of the output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) verbose: bool,
    pub(crate) color: ColorChoice,
}

impl Output {
    /// Reads the format before the arguments are checked: whatever follows `--` is the command's.
    pub(crate) fn asked_for(arguments: &[OsString]) -> Self {
        let ours = arguments.iter().take_while(|argument| *argument != "--");
        let json = ours.into_iter().any(|argument| argument == "--json");
        Self { json, ..Self::default() }
    }

    /// Prints the results, as a text or with a line of JSON for each, and returns the exit of the command.
    pub(crate) fn results(
        self,
        values: impl IntoIterator<Item = Value>,
        text: &str,
        exit: Exit,
    ) -> Result {
        Self::plain(&match self.json {
            true => values.into_iter().map(|value| json_line(&value) + "\n").collect(),
            false => format!("{}\n", text.trim_end()),
        })?;
        Ok(exit)
    }

    /// Prints a text as it is. A reader that closes the pipe early has read enough.
    pub(crate) fn plain(text: &str) -> Result {
        Self::is_read(text).map(|_| Exit::SUCCESS)
    }

    /// Prints a text as it is; returns whether a program reads it.
    pub(crate) fn is_read(text: &str) -> Result<bool> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(Failure::system("stdout", &error)),
        }
    }

    /// Returns whether stdout may have a reader: that of a pipe has gone once it is closed, which no write has to show
    /// first.
    pub(crate) fn has_reader() -> bool {
        #[cfg(unix)]
        {
            use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
            use std::os::fd::AsFd;
            // A caller that asks for no events hears of errors and hang-ups alone.
            let stdout = io::stdout();
            let mut asked = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
            !poll(&mut asked, PollTimeout::ZERO).is_ok_and(|gone| gone > 0)
        }
        #[cfg(not(unix))]
        true
    }

    /// Prints a failure. One that the user has declared not to be an error is printed only with
    /// `--json` or `--verbose`: cron mails every line.
    pub(crate) fn fail(self, failure: &Failure) {
        if self.json || self.verbose || failure.exit.code != 0 {
            self.say(&failure.to_json(), failure);
        }
    }

    /// Prints a problem that does not change the exit.
    pub(crate) fn warn(self, message: &str) {
        let text = format!("warning: {}", OneLine(message));
        self.say(&json!({ "warning": message }), text);
    }

    /// Prints a detail, only with `--verbose`.
    pub(crate) fn note(self, message: &str) {
        if self.verbose {
            self.say(&json!({ "note": message }), OneLine(message));
        }
    }

    /// Returns whether a person may be following: on a terminal, or with `--verbose`.
    pub(crate) fn is_followed(self) -> bool {
        self.verbose || !self.json && io::stderr().is_terminal()
    }

    /// Prints what is waited for. With `--json`, `fields` are added to the note.
    pub(crate) fn progress(self, message: &str, mut fields: Value) {
        fields["note"] = message.into();
        self.say(&fields, OneLine(message));
    }

    /// Ends the line of a terminal on which a user has typed Ctrl-C, so that the shell's prompt has one
    /// of its own.
    pub(crate) fn end_line() {
        if io::stderr().is_terminal() {
            let _ = io::stderr().write_all(b"\n");
        }
    }

    /// Writes to stderr in one go, so that lines of several processes do not mix. A failure cannot be
    /// reported.
    fn say(self, value: &Value, text: impl Display) {
        let line = if self.json { json_line(value) } else { format!("quorumlock: {text}") };
        let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
    }
}

/// Returns the value as one line of JSON, in which all is escaped that a terminal would act on: the
/// format itself asks for that with a part of it only.
pub(crate) fn json_line(value: &Value) -> String {
    let mut line = String::new();
    // What is not seen is in a string, the only place of JSON that may have it.
    for letter in value.to_string().chars() {
        if is_hidden(letter) {
            let mut units = [0; 2];
            let units = letter.encode_utf16(&mut units).iter();
            line.extend(units.map(|unit| format!("\\u{unit:04x}")));
        } else {
            line.push(letter);
        }
    }
    line
}

/// Returns the time on the wall clock.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_nothing_hidden_and_reads_back_as_it_was() {
        let name = "a\n\u{1b}[31m\u{7f}\u{9b}\u{2028}\u{202e}\u{e0041}\\ \"é\"";
        let line = json_line(&json!({ "resource": name }));
        let shown = r#"{"resource":"a\n\u001b[31m\u007f\u009b\u2028\u202e\udb40\udc41\\ \"é\""}"#;
        assert_eq!(line, shown);
        let value: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(value["resource"], name);
    }
}
