//! Output: results on stdout, everything else on stderr, as text or as JSON.

use crate::exit::Exit;
use crate::failure::Failure;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::time::Duration;

/// The format of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) verbose: bool,
}

impl Output {
    /// Reads the format before the arguments are checked: whatever follows `--` is the command's.
    pub(crate) fn asked_for(arguments: &[OsString]) -> Self {
        let ours = arguments.iter().take_while(|argument| *argument != "--");
        let json = ours.into_iter().any(|argument| argument == "--json");
        Self { json, verbose: false }
    }

    /// Prints one result, and returns the exit of the command.
    pub(crate) fn result(self, value: &Value, text: &str, exit: Exit) -> Result<Exit, Failure> {
        let shown = if self.json { value.to_string() } else { text.to_owned() };
        Self::plain(&format!("{}\n", shown.trim_end()))?;
        Ok(exit)
    }

    /// Prints a text as it is. A reader that closes the pipe early has read enough.
    pub(crate) fn plain(text: &str) -> Result<Exit, Failure> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::system("stdout", &error))
            }
            _ => Ok(Exit::Success),
        }
    }

    /// Prints a failure. One that the user has declared not to be an error is printed only with
    /// `--json` or `--verbose`: cron mails every line.
    pub(crate) fn fail(self, failure: &Failure) {
        if self.json {
            self.stderr(&failure.to_json().to_string());
        } else if self.verbose || failure.exit.code() != 0 {
            self.stderr(&format!("quorumlock: {failure}"));
        }
    }

    /// Prints a problem that does not change the exit.
    pub(crate) fn warn(self, message: &str) {
        if self.json {
            self.stderr(&json!({ "warning": message }).to_string());
        } else {
            self.stderr(&format!("quorumlock: warning: {message}"));
        }
    }

    /// Prints a detail, only with `--verbose`.
    pub(crate) fn note(self, message: &str) {
        if !self.verbose {
        } else if self.json {
            self.stderr(&json!({ "note": message }).to_string());
        } else {
            self.stderr(&format!("quorumlock: {message}"));
        }
    }

    /// Writes in one go, so that lines of several processes do not mix. A failure cannot be
    /// reported.
    fn stderr(self, line: &str) {
        let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
    }
}

pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
