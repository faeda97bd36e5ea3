//! What the rounds have come to, as text.

use crate::contenders;
use crate::report::{Cell, Line, Ratio, Summary};
use std::fmt;

/// `figures[contender][metric][round]`.
pub(crate) struct Table {
    name: String,
    about: String,
    metrics: &'static [&'static str],
    names: Vec<&'static str>,
    figures: Vec<Vec<Vec<f64>>>,
}

impl Table {
    pub(crate) fn new(
        name: String,
        about: String,
        metrics: &'static [&'static str],
        names: Vec<&'static str>,
    ) -> Self {
        let figures = names.iter().map(|_| vec![Vec::new(); metrics.len()]).collect();
        Self { name, about, metrics, names, figures }
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
        let yardsticks: Vec<usize> = self.yardsticks().collect();
        let cell = |contender: usize, metric: usize| {
            let rounds = &self.figures[contender][metric];
            let beside = yardsticks.iter().map(|&one| self.ratio(contender, one, metric)).collect();
            let (lowest, highest) = (lowest(rounds), highest(rounds));
            Some(Cell { median: median(rounds), lowest, highest, beside })
        };
        let line = |(contender, name): (usize, &&'static str)| {
            let cells = (0..self.metrics.len()).map(|metric| cell(contender, metric));
            Line { name: (*name).to_owned(), cells: cells.collect(), failures: None }
        };
        Summary {
            name: self.name.clone(),
            about: self.about.clone(),
            metrics: self.metrics,
            yardsticks: yardsticks.iter().map(|&one| self.names[one]).collect(),
            lines: self.names.iter().enumerate().map(line).collect(),
        }
    }

    /// The contenders that others are compared with: the first, and every floor.
    fn yardsticks(&self) -> impl Iterator<Item = usize> {
        let floors = (1..self.names.len()).filter(|&one| contenders::is_yardstick(self.names[one]));
        std::iter::once(0).chain(floors)
    }

    fn ratio(&self, contender: usize, yardstick: usize, metric: usize) -> Option<Ratio> {
        let figures = |one: usize| self.figures[one][metric].as_slice();
        Ratio::of(&each(figures(contender), figures(yardstick), |a, b| a / b))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { name, about, metrics, yardsticks, lines } = self.summary();
        writeln!(f, "{name}: {about}")?;
        write!(f, "{:21} {:32} {:>10} {:>23}", "", "", "median", "min..max")?;
        for one in yardsticks {
            write!(f, " {:>34}", format!("/ {one}"))?;
        }
        writeln!(f)?;
        for (metric, label) in metrics.iter().enumerate() {
            for Line { name, cells, .. } in &lines {
                let Some(cell) = &cells[metric] else { continue };
                let range = format!("{}..{}", short(cell.lowest), short(cell.highest));
                write!(f, "{label:21} {name:32} {:>10} {range:>23}", short(cell.median))?;
                for ratio in &cell.beside {
                    write!(f, " {:>34}", ratio.as_ref().map_or("-".to_owned(), Ratio::to_string))?;
                }
                writeln!(f)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_and_not_that_of_the_medians() {
        let names = vec![contenders::FLOOR, "it", "bare sockets, EVALSHA"];
        let mut table = Table::new("W2".to_owned(), "about".to_owned(), &["cycles/s"], names);
        // The machine was faster in the second round, and something happened in the third.
        for (round, figures) in
            [[10.0, 9.0, 20.0], [20.0, 18.0, 40.0], [30.0, 3.0, 60.0]].iter().enumerate()
        {
            for (contender, figure) in figures.iter().enumerate() {
                table.note(contender, round, vec![*figure]);
            }
        }
        let summary = table.summary();
        assert_eq!(summary.yardsticks, [contenders::FLOOR, "bare sockets, EVALSHA"]);
        let cell = summary.lines[1].cells[0].as_ref().expect("figures");
        let ratios: Vec<f64> = cell.beside.iter().flatten().map(|ratio| ratio.median).collect();
        assert_eq!((cell.median, ratios), (9.0, vec![0.9, 0.45]));
    }
}
