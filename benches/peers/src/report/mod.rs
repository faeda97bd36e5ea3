//! What all rounds of all workloads have come to, for those who did not watch: `results.md` and
//! `results.svg`.

mod chart;
mod markdown;

use crate::table::short;
use std::fs;
use std::path::Path;

/// One workload.
pub(crate) struct Summary {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) metrics: &'static [&'static str],
    pub(crate) lines: Vec<Line>,
}

/// One contender in it.
pub(crate) struct Line {
    pub(crate) name: &'static str,
    /// One for each metric; none where it has never come to a figure.
    pub(crate) cells: Vec<Option<Cell>>,
    /// How often it has failed, and in what way.
    pub(crate) failures: Option<String>,
}

/// Over the rounds. What never came to an end took infinitely long.
pub(crate) struct Cell {
    pub(crate) median: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    /// To the first contender, round by round, of that the median.
    pub(crate) ratio: Option<f64>,
}

pub(crate) fn tell(figure: f64) -> String {
    if figure.is_infinite() { "hangs".to_owned() } else { short(figure) }
}

/// Over those of an earlier run. `how` is a sentence about this one.
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
