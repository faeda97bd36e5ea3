//! The last line on a terminal, which is drawn over while only the times in it change.

use crate::output::Output;
use crate::style::{Screen, is_dumb};
use nix::unistd::{getpgrp, tcgetpgrp};
use quorumlock::report::OneLine;
use serde_json::Value;
use std::io::{self, Write};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// How long the end of the line may take: a terminal can be stopped.
const PATIENCE: Duration = Duration::from_millis(100);

/// What is shown to a person who follows.
pub(super) struct Line {
    output: Output,
    /// The terminal has a line without an end.
    is_open: bool,
}

impl Line {
    pub(super) const fn new(output: Output) -> Self {
        Self { output, is_open: false }
    }

    /// Shows that there is a new obstacle, in a line of its own, with `fields` for programs.
    pub(super) async fn show(&mut self, message: String, fields: Value) {
        let ends = if self.is_open { "\n" } else { "" };
        let (line, output) = (self.fitting(&message), self.output);
        self.is_open = line.is_some();
        write(format!("{ends}{}", line.unwrap_or_default())).await;
        if !self.is_open {
            let _ = spawn_blocking(move || output.progress(&message, fields)).await;
        }
    }

    /// Draws over the line, if that is possible.
    pub(super) async fn update(&self, message: String) {
        if let Some(line) = self.fitting(&message).filter(|_| self.is_open) {
            write(format!("\r\x1b[K{line}")).await;
        }
    }

    /// Ends the line, so that what follows has one of its own.
    pub(super) async fn end(self) {
        if self.is_open {
            let _ = timeout(PATIENCE, write("\n".to_owned())).await;
        }
    }

    /// Returns the message if it can be drawn over, which needs a terminal with room for all of it; one
    /// on which a shell does not prompt meanwhile.
    fn fitting(&self, message: &str) -> Option<String> {
        let is_ours = tcgetpgrp(io::stderr()).is_ok_and(|group| group == getpgrp());
        let can_draw = is_ours && !self.output.json && !is_dumb();
        let screen = Screen::of_stderr().filter(|_| can_draw)?;
        let line = format!("quorumlock: {}", OneLine(message));
        (line.chars().count() < screen.columns).then_some(line)
    }
}

/// Writes on another thread, since a terminal can be stopped. A failure cannot be reported.
async fn write(text: String) {
    let _ = spawn_blocking(move || io::stderr().write_all(text.as_bytes())).await;
}
