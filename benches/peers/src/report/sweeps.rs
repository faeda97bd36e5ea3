//! Results that only several scenes or several floors together show: ratios to bare sockets, as
//! lines of a separate summary.

use super::{Cell, Line, Ratio, Summary};
use crate::contenders;

/// Metric of the ratios.
const RATE: &str = "cycles/s";

/// The only metric of a sweep.
pub(super) const METRIC: &str = "of a floor's rate";

/// Scenes that differ in one thing.
struct Sweep {
    name: &'static str,
    /// The value of that thing in each of them.
    scenes: &'static [(&'static str, &'static str)],
    says: &'static str,
}

const SWEEPS: [Sweep; 3] = [
    Sweep {
        name: "W2 by tasks",
        scenes: &[
            ("1 task", "W2-1-task"),
            ("8 tasks", "W2-8-tasks"),
            ("64 tasks", "W2"),
            ("512 tasks", "W2-512-tasks"),
        ],
        says: "quorumlock's rate divided by that of bare sockets (EVAL), with 1 to 512 tasks at once",
    },
    Sweep {
        name: "W2 by masters",
        scenes: &[
            ("3 masters", "W2-3-masters"),
            ("5 masters", "W2"),
            ("7 masters", "W2-7-masters"),
        ],
        says: "quorumlock's rate divided by that of bare sockets (EVAL), with 3 to 7 masters",
    },
    Sweep {
        name: "W2 by round trip",
        scenes: &[("none added", "W2"), ("0.5 ms", "W2-0.5ms"), ("5 ms", "W2-5ms")],
        says: "quorumlock's rate divided by that of bare sockets (EVAL), with masters further away",
    },
];

/// Scenes in which there is a floor for each way to release.
const FLOORS: [(&str, &str); 2] = [
    ("W2", "64 tasks on Redis: quorumlock's rate divided by that of each kind of bare sockets"),
    (
        "W2-valkey",
        "64 tasks on Valkey 9: quorumlock's rate divided by that of each kind of bare sockets",
    ),
];

/// Returns all sweeps. Those of which nothing was played are left out.
pub(super) fn all(summaries: &[Summary]) -> Vec<Summary> {
    let scene = |name: &str| summaries.iter().find(|summary| summary.name == name);
    let by_floor = FLOORS.iter().filter_map(|(name, says)| {
        let lines = ours(scene(name)?).flat_map(|(variant, ratios)| {
            ratios.map(move |comparison| {
                line(format!("{variant} / {}", comparison.floor), comparison)
            })
        });
        Some((format!("{name} by floor"), lines.collect::<Vec<_>>(), *says))
    });
    let sweeps = SWEEPS.iter().map(|Sweep { name, scenes, says }| {
        let lines = scenes.iter().filter_map(|(what, name)| Some((what, scene(name)?)));
        let lines = lines.flat_map(|(what, summary)| {
            let floor = |(variant, mut ratios): (String, Ratios<'_>)| {
                Some(line(format!("{what}, {variant}"), ratios.next()?))
            };
            ours(summary).filter_map(floor).collect::<Vec<_>>()
        });
        ((*name).to_owned(), lines.collect::<Vec<_>>(), *says)
    });
    let drawn = by_floor.chain(sweeps).filter(|(_, lines, _)| !lines.is_empty());
    let summary = |(name, lines, says): (String, Vec<Line>, &'static str)| {
        let (about, metrics) = (says.to_owned(), vec![METRIC.to_owned()]);
        Summary { name, about, metrics, yardsticks: Vec::new(), lines }
    };
    drawn.map(summary).collect()
}

/// Ratio to one floor.
struct Comparison {
    floor: String,
    ratio: Ratio,
    /// Notes of quorumlock, or else of that floor.
    notes: Option<String>,
}

type Ratios<'a> = Box<dyn Iterator<Item = Comparison> + 'a>;

/// Returns the lines of quorumlock, by the part after the comma, with the ratio of their rate to
/// each floor.
fn ours(summary: &Summary) -> impl Iterator<Item = (String, Ratios<'_>)> {
    let rate = summary.column(RATE);
    summary.lines.iter().filter_map(move |line| {
        let variant = line.name.strip_prefix("quorumlock, ")?.to_owned();
        let ratios = summary.yardsticks.iter().zip(&line.cells[rate?].as_ref()?.ratios);
        let comparisons = ratios.filter_map(move |(name, ratio)| {
            let of_floor = || summary.lines.iter().find(|other| other.name == *name)?.notes.clone();
            let notes = line.notes.clone().or_else(of_floor);
            Some(Comparison { floor: floor(name), ratio: (*ratio)?, notes })
        });
        Some((variant, Box::new(comparisons) as Ratios<'_>))
    })
}

/// Names a floor by how it releases.
pub(super) fn floor(name: &str) -> String {
    let release = name.strip_prefix(contenders::FLOOR).unwrap_or(name).trim_start_matches(", ");
    if release.is_empty() { "EVAL".to_owned() } else { release.to_owned() }
}

fn line(name: String, comparison: Comparison) -> Line {
    let Comparison { ratio: Ratio { median, lowest, highest }, notes, .. } = comparison;
    let cell = Cell { median, lowest, highest, ratios: Vec::new() };
    Line { name, cells: vec![Some(cell)], notes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(name: &str, ratios: &[f64]) -> Summary {
        let ratio = |&median| Some(Ratio { median, lowest: median, highest: median });

        let cell = Cell {
            median: 1.0,
            lowest: 1.0,
            highest: 1.0,
            ratios: ratios.iter().map(ratio).collect(),
        };
        let yardsticks =
            [contenders::FLOOR, "bare sockets, EVALSHA"].map(str::to_owned).into_iter();
        let line =
            |name: &str, cell| Line { name: name.to_owned(), cells: vec![cell], notes: None };
        Summary {
            name: name.to_owned(),
            about: String::new(),
            metrics: vec![RATE.to_owned()],
            yardsticks: yardsticks.take(ratios.len()).collect(),
            lines: vec![line(contenders::FLOOR, None), line("quorumlock, one thread", Some(cell))],
        }
    }

    #[test]
    fn scenes_that_differ_in_one_thing_stand_together() {
        let all = all(&[played("W2", &[1.1, 0.9]), played("W2-8-tasks", &[0.8])]);
        let names = |at: usize| {
            let lines = all[at].lines.iter();
            lines.map(|line| line.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(names(0), ["one thread / EVAL", "one thread / EVALSHA"]);
        assert_eq!(names(1), ["8 tasks, one thread", "64 tasks, one thread"]);
        let of_64 = all[1].lines[1].cells[0].as_ref().map(|cell| cell.median);
        assert_eq!(of_64, Some(1.1));
    }

    #[test]
    fn what_was_not_played_is_not_drawn() {
        assert!(all(&[]).is_empty());
        assert!(!all(&[played("W2", &[1.0])]).iter().any(|sweep| sweep.name.contains("valkey")));
    }
}
