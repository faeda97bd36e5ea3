//! The results of all rounds of all workloads, for later reading: `results.md` with all figures,
//! `results.svg` with most of them as bars, and `speed.svg` with those that help to choose a lock.

mod captions;
mod chart;
mod markdown;
mod panel;
mod ratios;
mod reading;
mod speed;
mod svg;
mod sweeps;

use crate::statistics::{highest, lowest, median, short};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// One scene or trial.
pub(crate) struct Summary {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) metrics: Vec<String>,
    /// The baselines for the others; the first is on the first line.
    pub(crate) yardsticks: Vec<String>,
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
    pub(crate) ratios: Vec<Option<Ratio>>,
}

impl Summary {
    fn column(&self, metric: &str) -> Option<usize> {
        self.metrics.iter().position(|name| name == metric)
    }
}

impl Line {
    /// Checks whether other processes disturbed some of its rounds.
    fn is_disturbed(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| notes.contains(DISTURBED))
    }

    /// Returns why one of its cells is empty.
    fn without_figure(&self) -> String {
        self.notes.clone().unwrap_or_else(|| "not measured".to_owned())
    }
}

/// Returns every scene and trial, with its metrics.
#[cfg(test)]
fn measured() -> impl Iterator<Item = (String, &'static [&'static str])> {
    let scenes = crate::scene::Scene::all()
        .into_iter()
        .map(|scene| (scene.name(), scene.workload.metrics()));
    scenes.chain(crate::trial::Trial::ALL.into_iter().map(|trial| (trial.name(), trial.metrics())))
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
    /// Returns the statistics of the ratios that are numbers.
    pub(crate) fn of(rounds: &[f64]) -> Option<Self> {
        let rounds: Vec<f64> = rounds.iter().copied().filter(|ratio| ratio.is_finite()).collect();
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
    if ratio < 0.0995 { format!("{ratio:.3}") } else { short(ratio) }
}

const DISTURBED: &str = "disturbed";

/// Notes on a line in how many rounds it was disturbed.
pub(crate) fn disturbed(rounds: usize, all: usize) -> Option<String> {
    (rounds > 0).then(|| format!("{DISTURBED} in {rounds} of {all}"))
}

const HANGS: &str = "hangs";

pub(crate) fn formatted(figure: f64) -> String {
    if figure.is_infinite() { HANGS.to_owned() } else { short(figure) }
}

const RESULTS: &str = "results.md";

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Writes the results over those of an earlier run. `how` is a paragraph about this one.
pub(crate) fn write(summaries: &[Summary], how: &str) {
    let files = [
        (RESULTS, markdown::text(summaries, how)),
        ("results.svg", chart::drawing(summaries)),
        ("speed.svg", speed::drawing(summaries)),
    ];
    for (name, text) in files {
        let path = path(name);
        fs::write(&path, text).expect("a file in the bench's own folder");
        println!("{} written", path.display());
    }
}

/// Writes the results of the last run again: its figures, in the words and pictures of this
/// program.
pub(crate) fn draw() -> Result<(), String> {
    let text = fs::read_to_string(path(RESULTS)).map_err(|why| format!("{RESULTS}: {why}"))?;
    let (how, summaries) = reading::read(&text)?;
    write(&summaries, &how);
    Ok(())
}
