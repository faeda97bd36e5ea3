//! A line on the terminal while a command waits.

use crate::output::Output;
use crate::style::{Screen, is_dumb};
use quorumlock::report::Span;
use std::io::{self, Write};
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

/// What takes less time than this is not worth a line.
const PATIENCE: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(200);

/// Waits, and shows on stderr what for and for how long, if that is a terminal and the output is
/// for people. Nothing of that remains on the terminal.
pub(crate) async fn during<F: Future>(output: Output, what: &str, work: F) -> F::Output {
    if output.json || is_dumb() || Screen::of_stderr().is_none() {
        return work.await;
    }
    let mut work = pin!(work);
    let began = Instant::now();
    let mut next = began + PATIENCE;
    let ended = loop {
        tokio::select! {
            biased;
            ended = &mut work => break ended,
            () = tokio::time::sleep_until(next) => {
                let columns = Screen::of_stderr().map_or(0, |screen| screen.columns);
                draw(&line(what, began.elapsed(), columns));
                next = Instant::now() + PAUSE;
            }
        }
    };
    if next > began + PATIENCE {
        draw("");
    }
    ended
}

/// Returns a line that does not reach the last column, where some terminals would break it.
fn line(what: &str, since: Duration, columns: usize) -> String {
    let whole = format!("{what}: {}", Span(since));
    whole.chars().take(columns.saturating_sub(1)).collect()
}

/// Replaces the line. A failure cannot be reported.
fn draw(line: &str) {
    let _ = io::stderr().write_all(format!("\r\x1b[K{line}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_work_and_fits_the_terminal() {
        let span = Duration::from_millis(2_340);
        assert_eq!(line("asking the masters", span, 80), "asking the masters: 2.3 s");
        assert_eq!(line(&"a".repeat(200), span, 80).len(), 79);
    }
}
