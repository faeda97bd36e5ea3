//! What the rounds have come to, as text.

use crate::report::{Cell, Line, Summary};
use crate::workloads::Workload;
use std::fmt;

/// `figures[contender][metric][round]`.
pub(crate) struct Table {
    workload: Workload,
    names: Vec<&'static str>,
    figures: Vec<Vec<Vec<f64>>>,
}

impl Table {
    pub(crate) fn new(workload: Workload, names: impl Iterator<Item = &'static str>) -> Self {
        let names: Vec<_> = names.collect();
        let metrics = workload.metrics().len();
        let figures = names.iter().map(|_| vec![Vec::new(); metrics]).collect();
        Self { workload, names, figures }
    }

    /// What `contender` came to in a round, one figure for each metric of the workload.
    pub(crate) fn note(&mut self, contender: usize, round: usize, figures: Vec<f64>) {
        for (metric, figure) in figures.into_iter().enumerate() {
            let rounds = &mut self.figures[contender][metric];
            assert_eq!(rounds.len(), round, "rounds come one after the other");
            rounds.push(figure);
        }
    }

    pub(crate) fn summary(&self) -> Summary {
        let cell = |rounds: &Vec<f64>, firsts: &Vec<f64>| {
            let ratio = Some(median(&each(rounds, firsts, |a, b| a / b)));
            let (lowest, highest) = (lowest(rounds), highest(rounds));
            Some(Cell { median: median(rounds), lowest, highest, ratio })
        };
        let line = |(&name, figures): (&&'static str, &Vec<Vec<f64>>)| {
            let cells = figures.iter().zip(&self.figures[0]).map(|(one, first)| cell(one, first));
            Line { name, cells: cells.collect(), failures: None }
        };
        Summary {
            name: self.workload.name().to_owned(),
            about: self.workload.about().to_owned(),
            metrics: self.workload.metrics(),
            lines: self.names.iter().zip(&self.figures).map(line).collect(),
        }
    }

    /// The contenders that others are compared with: the floor and the first peer.
    fn yardsticks(&self) -> impl Iterator<Item = usize> {
        0..self.names.len().min(2)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.workload.name(), self.workload.about())?;
        write!(f, "{:16} {:28} {:>10} {:>23}", "", "", "median", "min..max")?;
        for one in self.yardsticks() {
            write!(f, " {:>24}", format!("/ {}", self.names[one]))?;
        }
        writeln!(f, " {:>10}", "- floor")?;
        for (metric, label) in self.workload.metrics().iter().enumerate() {
            for (name, figures) in self.names.iter().zip(&self.figures) {
                let rounds = &figures[metric];
                let range = format!("{}..{}", short(lowest(rounds)), short(highest(rounds)));
                write!(f, "{label:16} {name:28} {:>10} {range:>23}", short(median(rounds)))?;
                for one in self.yardsticks() {
                    let ratios = each(rounds, &self.figures[one][metric], |a, b| a / b);
                    let (low, high) = (lowest(&ratios), highest(&ratios));
                    let ratio = format!("{:.3} ({low:.2}..{high:.2})", median(&ratios));
                    write!(f, " {ratio:>24}")?;
                }
                let more = each(rounds, &self.figures[0][metric], |a, b| a - b);
                writeln!(f, " {:>10}", short(median(&more)))?;
            }
        }
        Ok(())
    }
}

/// Round by round: rounds differ by more than contenders do.
fn each(rounds: &[f64], others: &[f64], combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    rounds.iter().zip(others).map(|(&one, &other)| combine(one, other)).collect()
}

pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    } else {
        sorted[middle]
    }
}

pub(crate) fn lowest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(f64::INFINITY, f64::min)
}

pub(crate) fn highest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Three digits, or all of those before the point.
pub(crate) fn short(figure: f64) -> String {
    let places = if figure.abs() < 10.0 { 2 } else { usize::from(figure.abs() < 100.0) };
    format!("{figure:.places$}")
}
