//! The results of the rounds of a scene or trial, as text. Turns may have failed.

use crate::contenders;
use crate::report::{self, Cell, Line, Ratio, Summary, formatted};
use crate::statistics::{highest, lowest, median};
use crate::worker::Failed;
use std::fmt;

pub(crate) struct Sheet {
    name: String,
    about: String,
    metrics: &'static [&'static str],
    names: Vec<&'static str>,
    /// `turns[contender][round]`: one figure for each metric.
    turns: Vec<Vec<Result<Vec<f64>, Failed>>>,
    /// Number of rounds in which each contender was disturbed.
    disturbed: Vec<usize>,
}

impl Sheet {
    pub(crate) fn new(
        name: String,
        about: String,
        metrics: &'static [&'static str],
        names: Vec<&'static str>,
    ) -> Self {
        let turns = names.iter().map(|_| Vec::new()).collect();
        let disturbed = vec![0; names.len()];
        Self { name, about, metrics, names, turns, disturbed }
    }

    pub(crate) fn note(
        &mut self,
        contender: usize,
        round: usize,
        figures: Result<Vec<f64>, Failed>,
        disturbed: bool,
    ) {
        let rounds = &mut self.turns[contender];
        assert_eq!(rounds.len(), round, "rounds come one after the other");
        rounds.push(figures);
        self.disturbed[contender] += usize::from(disturbed);
    }

    pub(crate) fn summary(&self) -> Summary {
        let yardsticks = contenders::yardsticks(&self.names);
        let line = |(contender, name): (usize, &&'static str)| {
            let metrics = 0..self.metrics.len();
            let cells = metrics.map(|metric| self.cell(contender, metric, &yardsticks));
            let (name, notes) = ((*name).to_owned(), self.notes(contender));
            Line { name, cells: cells.collect(), notes }
        };
        Summary {
            name: self.name.clone(),
            about: self.about.clone(),
            metrics: self.metrics.iter().map(|&metric| metric.to_owned()).collect(),
            yardsticks: yardsticks.iter().map(|&place| self.names[place].to_owned()).collect(),
            lines: self.names.iter().enumerate().map(line).collect(),
        }
    }

    /// Summarises the rounds in which the contender has not failed. Anything that it cannot do is
    /// not a number, and is not one of its cells.
    fn cell(&self, contender: usize, metric: usize, yardsticks: &[usize]) -> Option<Cell> {
        let turns = self.turns[contender].iter().flatten();
        let figures = turns.map(|figures| figures[metric]).filter(|figure| !figure.is_nan());
        let figures: Vec<_> = figures.collect();
        let (lowest, highest) = (lowest(&figures), highest(&figures));
        let ratios = yardsticks.iter().map(|&other| self.ratio(contender, other, metric)).collect();
        (!figures.is_empty()).then(|| Cell { median: median(&figures), lowest, highest, ratios })
    }

    /// Returns the statistics of its ratio to another contender in each round.
    fn ratio(&self, contender: usize, yardstick: usize, metric: usize) -> Option<Ratio> {
        let both = self.turns[contender].iter().zip(&self.turns[yardstick]);
        let ratios = both.filter_map(|(own, other)| {
            let (own, other) = (own.as_ref().ok()?, other.as_ref().ok()?);
            Some(own[metric] / other[metric])
        });
        Ratio::of(&ratios.collect::<Vec<_>>())
    }

    fn notes(&self, contender: usize) -> Option<String> {
        let disturbed = report::disturbed(self.disturbed[contender], self.turns[contender].len());
        let notes: Vec<_> = self.failures(contender).into_iter().chain(disturbed).collect();
        (!notes.is_empty()).then(|| notes.join(", "))
    }

    /// Describes how often and how it has failed.
    fn failures(&self, contender: usize) -> Option<String> {
        let turns = &self.turns[contender];
        let failed: Vec<_> = turns.iter().filter_map(|turn| turn.as_ref().err()).collect();
        let why = failed.first()?;
        Some(format!("{why} in {} of {}", failed.len(), turns.len()))
    }
}

impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { name, about, metrics, yardsticks, lines } = self.summary();
        writeln!(f, "{name}: {about}")?;
        write!(f, "{:21} {:32} {:>10} {:>23}", "", "", "median", "min..max")?;
        for yardstick in yardsticks {
            write!(f, " {:>34}", format!("/ {yardstick}"))?;
        }
        writeln!(f)?;
        for (metric, label) in metrics.iter().enumerate() {
            for Line { name, cells, notes } in &lines {
                let notes = notes.as_deref().unwrap_or_default();
                write!(f, "{label:21} {name:32} ")?;
                let Some(Cell { median, lowest, highest, ratios }) = &cells[metric] else {
                    writeln!(f, "{:>10} {notes}", "-")?;
                    continue;
                };
                let range = format!("{}..{}", formatted(*lowest), formatted(*highest));
                write!(f, "{:>10} {range:>23}", formatted(*median))?;
                for ratio in ratios {
                    write!(f, " {:>34}", ratio.as_ref().map_or("-".to_owned(), Ratio::to_string))?;
                }
                writeln!(f, " {notes}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(names: &[&'static str]) -> Sheet {
        Sheet::new("W2".to_owned(), "about".to_owned(), &["cycles/s"], names.to_vec())
    }

    fn ratios(summary: &Summary, line: usize) -> Vec<f64> {
        let cell = summary.lines[line].cells[0].as_ref().expect("figures");
        cell.ratios.iter().flatten().map(|ratio| ratio.median).collect()
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_not_of_the_medians() {
        let mut sheet = sheet(&[contenders::FLOOR, "it", "bare sockets, EVALSHA"]);
        // The machine was faster in the second round, and there was a disturbance in the third.
        for (round, figures) in
            [[10.0, 9.0, 20.0], [20.0, 18.0, 40.0], [30.0, 3.0, 60.0]].iter().enumerate()
        {
            for (contender, figure) in figures.iter().enumerate() {
                sheet.note(contender, round, Ok(vec![*figure]), round == 2);
            }
        }
        let summary = sheet.summary();
        assert_eq!(summary.yardsticks, [contenders::FLOOR, "bare sockets, EVALSHA"]);
        assert_eq!(summary.lines[1].cells[0].as_ref().map(|cell| cell.median), Some(9.0));
        assert_eq!(ratios(&summary, 1), [0.9, 0.45]);
        assert_eq!(summary.lines[1].notes.as_deref(), Some("disturbed in 1 of 3"));
    }

    #[test]
    fn a_round_in_which_one_failed_is_none_of_the_ratio() {
        let mut sheet = sheet(&["first", "it"]);
        for (round, [first, second]) in
            [[Ok(10.0), Ok(5.0)], [Err(Failed::Dies), Ok(1.0)]].into_iter().enumerate()
        {
            sheet.note(0, round, first.map(|figure| vec![figure]), false);
            sheet.note(1, round, second.map(|figure| vec![figure]), false);
        }
        let summary = sheet.summary();
        assert_eq!(ratios(&summary, 1), [0.5]);
        assert_eq!(summary.lines[0].notes.as_deref(), Some("panics in 1 of 2"));
        assert_eq!(summary.lines[1].notes, None);
    }
}
