//! The results of all rounds of all workloads, for later reading: `results.md` and `results.svg`.

mod chart;
mod markdown;
mod panel;
mod ratios;
mod sweeps;

use crate::statistics::{highest, lowest, median, short};
use std::fmt;
use std::fs;
use std::path::Path;

/// One scene or trial.
pub(crate) struct Summary {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) metrics: &'static [&'static str],
    /// The baselines for the others; the first is on the first line.
    pub(crate) yardsticks: Vec<&'static str>,
    pub(crate) lines: Vec<Line>,
}

/// One contender in it.
pub(crate) struct Line {
    pub(crate) name: String,
    /// One for each metric; `None` if it has never produced a figure.
    pub(crate) cells: Vec<Option<Cell>>,
    /// Number and kind of its failures, and number of its disturbed rounds.
    pub(crate) notes: Option<String>,
}

/// Statistics over the rounds. An operation that never ended took infinitely long.
pub(crate) struct Cell {
    pub(crate) median: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    /// Ratio to each of the baselines.
    pub(crate) beside: Vec<Option<Ratio>>,
}

/// Median, lowest and highest of the ratios of one contender to another in each round. Rounds
/// differ by more than contenders do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
}

impl Ratio {
    /// Returns the statistics of those that are numbers.
    pub(crate) fn of(rounds: &[f64]) -> Option<Self> {
        let rounds: Vec<f64> = rounds.iter().copied().filter(|one| one.is_finite()).collect();
        let (lowest, highest) = (lowest(&rounds), highest(&rounds));
        (!rounds.is_empty()).then(|| Self { median: median(&rounds), lowest, highest })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, lowest, highest } = self;
        write!(f, "{} ({}..{})", share(*median), share(*lowest), share(*highest))
    }
}

/// Formats two decimal places, and one more where there would be one digit.
fn share(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.3}") } else { short(ratio) }
}

const DISTURBED: &str = "disturbed";

/// Notes on a line in how many rounds it was disturbed.
pub(crate) fn disturbed(rounds: usize, all: usize) -> Option<String> {
    (rounds > 0).then(|| format!("{DISTURBED} in {rounds} of {all}"))
}

pub(crate) fn tell(figure: f64) -> String {
    if figure.is_infinite() { "hangs".to_owned() } else { short(figure) }
}

/// Writes the results over those of an earlier run. `how` is a paragraph about this one.
pub(crate) fn write(summaries: &[Summary], how: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [
        ("results.md", markdown::text(summaries, how)),
        ("results.svg", chart::drawing(summaries)),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file in the bench's own folder");
        println!("{} written", path.display());
    }
}
