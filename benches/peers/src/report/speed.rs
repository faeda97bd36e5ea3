//! `speed.svg`, for the README: four questions of a reader who chooses a lock.

use super::panel::{Bar, Kind, Layout, Panel, arranged, rows};
use super::svg::{sheet, text, wrapped};
use super::{HANGS, Summary, captions};

struct Question {
    scene: &'static str,
    metric: &'static str,
    title: &'static str,
    hint: &'static str,
    /// Formats a figure with its unit.
    format: fn(f64) -> String,
}

const QUESTIONS: [Question; 4] = [
    Question {
        scene: "W2",
        metric: "cycles/s",
        title: "64 tasks lock and unlock 64 resources: locks per second",
        hint: "more is better",
        format: grouped,
    },
    Question {
        scene: "W1",
        metric: "acquire p50 us",
        title: "One task locks a free resource: how long it waits",
        hint: "less is better",
        format: span,
    },
    Question {
        scene: "W3",
        metric: "stopped p50 us",
        title: "One of five masters hangs: how long one task waits for a free resource",
        hint: "less is better",
        format: span,
    },
    Question {
        scene: "W5t-4x8",
        metric: "of ideal %",
        title: "32 tasks in four processes compete for one lock: share of the best possible rate",
        hint: "2 ms under the lock, then 10 ms of pause; more is better",
        format: percentage,
    },
];

/// The names of contenders in the tables, and in this picture.
const NAMES: [(&str, &str); 6] = [
    ("quorumlock", "quorumlock (this crate)"),
    // As many threads as the others have.
    ("quorumlock, two workers", "quorumlock (this crate)"),
    ("rslock", "rslock"),
    ("redlock", "redlock"),
    ("redsync", "redsync"),
    ("bare sockets", "bare sockets (no lock)"),
];

const COLUMNS: usize = 2;

const LAYOUT: Layout =
    Layout { width: 440.0, names: 166.0, longest: 190.0, bar: 24.0, letters: 55 };

const CUT: &str = " A bar with a gap is cut, because it would be far longer than the picture is wide. \
                   \"hangs\": the attempt does not return within five seconds.";

/// Most letters in a line below the panels.
const FOOT: usize = 138;

const TITLE: &str = "Speed of quorumlock, rslock, redlock and redsync";

pub(super) fn drawing(summaries: &[Summary]) -> String {
    let panels: Vec<_> =
        QUESTIONS.iter().filter_map(|question| question.panel(summaries)).collect();
    let about: Vec<_> = panels.iter().map(Panel::in_words).collect();
    let mut foot = foot(summaries);
    if panels.iter().any(Panel::is_cut) {
        foot += CUT;
    }
    let lines = wrapped(&foot, FOOT);
    let (mut body, end) = rows(&arranged(vec![panels], COLUMNS), &LAYOUT, 4.0);
    for (line, words) in lines.iter().enumerate() {
        body += &text("hint", (14.0, end + 10.0 + 16.0 * line as f64), words);
    }
    let size = (COLUMNS as f64 * LAYOUT.width, end + 6.0 + 16.0 * lines.len() as f64);
    sheet(TITLE, &about.join(" "), size, &body)
}

fn foot(summaries: &[Summary]) -> String {
    let server = server(summaries).map(|server| format!(" ({server})")).unwrap_or_default();
    format!(
        "Medians. Five masters{server} share one machine with the clients: compare lengths, not absolute \
         times. rslock, redlock and redsync are Rust crates. Bare sockets send the same commands and do \
         nothing else: roughly what the kernel and the masters allow."
    )
}

/// Returns the server's name and version, from the description of the first scene.
fn server(summaries: &[Summary]) -> Option<&str> {
    let scene = summaries.iter().find(|summary| summary.name == QUESTIONS[0].scene)?;
    scene.about.split_once(" masters, ").map(|(_, server)| server)
}

impl Question {
    /// Returns `None` if that was not measured.
    fn panel(&self, summaries: &[Summary]) -> Option<Panel> {
        let summary = summaries.iter().find(|summary| summary.name == self.scene)?;
        let at = summary.column(self.metric)?;
        let bars = NAMES.iter().filter_map(|(name, shown)| {
            let line = summary.lines.iter().find(|line| line.name == *name)?;
            let figure = line.cells[at].as_ref().map(|cell| cell.median);
            let label = match figure {
                Some(figure) if figure.is_infinite() => HANGS.to_owned(),
                Some(figure) => (self.format)(figure),
                None => line.without_figure(),
            };
            let name = (*shown).to_owned();
            Some(Bar { name, kind: Kind::of(&line.name), figure, range: None, label })
        });
        let bars: Vec<_> = bars.collect();
        let whole = captions::whole(self.metric);
        let hint = format!("{} ({})", self.hint, self.scene);
        Some(Panel { title: self.title.to_owned(), hint, bars, whole })
    }
}

impl Panel {
    /// Describes the same to readers that cannot see it.
    fn in_words(&self) -> String {
        let bars = self.bars.iter().map(|bar| format!("{} {}", bar.name, bar.label));
        format!("{}: {}.", self.title, bars.collect::<Vec<_>>().join(", "))
    }
}

/// Formats a whole number with a comma before every three digits: `62,243`.
fn grouped(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats microseconds in the unit that suits them.
fn span(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{us:.0} µs"),
        us if us < 9_950.0 => format!("{:.1} ms", us / 1e3),
        us if us < 999_500.0 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.1} s", us / 1e6),
    }
}

fn percentage(share: f64) -> String {
    format!("{share:.0} %")
}

#[cfg(test)]
mod tests {
    use super::super::measured;
    use super::*;
    use crate::contenders;

    #[test]
    fn figures_are_written_as_people_read_them() {
        let grouped_ones = [(7.0, "7"), (403.4, "403"), (1330.0, "1,330"), (105_063.0, "105,063")];
        for (figure, text) in grouped_ones {
            assert_eq!(grouped(figure), text);
        }
        let spans = [(84.1, "84 µs"), (1_800.0, "1.8 ms"), (501_011.0, "501 ms"), (5e6, "5.0 s")];
        for (us, text) in spans {
            assert_eq!(span(us), text);
        }
    }

    #[test]
    fn every_question_is_about_something_that_is_measured() {
        let measured: Vec<_> = measured().collect();
        for Question { scene, metric, .. } in &QUESTIONS {
            let is_measured =
                measured.iter().any(|(name, of)| name == scene && of.contains(metric));
            assert!(is_measured, "{scene}: {metric}");
        }
        for (name, _) in NAMES {
            assert!(contenders::names().contains(&name), "{name}");
        }
    }
}
