//! What the rounds of a trial have come to, as text. Turns may have failed.

use crate::report::{Cell, Line, Ratio, Summary, tell};
use crate::table::{highest, lowest, median};
use crate::trial::Trial;
use crate::worker::Failed;
use std::fmt;

/// `turns[contender][round]`.
pub(crate) struct Sheet {
    trial: Trial,
    names: Vec<&'static str>,
    turns: Vec<Vec<Result<Vec<f64>, Failed>>>,
}

impl Sheet {
    pub(crate) fn new(trial: Trial, names: impl Iterator<Item = &'static str>) -> Self {
        let names: Vec<_> = names.collect();
        let turns = names.iter().map(|_| Vec::new()).collect();
        Self { trial, names, turns }
    }

    pub(crate) fn note(
        &mut self,
        contender: usize,
        round: usize,
        figures: Result<Vec<f64>, Failed>,
    ) {
        let rounds = &mut self.turns[contender];
        assert_eq!(rounds.len(), round, "rounds come one after the other");
        rounds.push(figures);
    }

    pub(crate) fn summary(&self) -> Summary {
        let metrics = self.trial.metrics();
        let line = |(contender, &name): (usize, &&'static str)| {
            let cells = (0..metrics.len()).map(|metric| self.cell(contender, metric));
            Line {
                name: name.to_owned(),
                cells: cells.collect(),
                failures: self.failures(contender),
            }
        };
        Summary {
            name: self.trial.name(),
            about: self.trial.about(),
            metrics,
            yardsticks: self.names.first().copied().into_iter().collect(),
            lines: self.names.iter().enumerate().map(line).collect(),
        }
    }

    /// Over the rounds in which it has not failed. What a contender cannot do is no number, and none of
    /// its cells.
    fn cell(&self, contender: usize, metric: usize) -> Option<Cell> {
        let turns = self.turns[contender].iter().flatten();
        let figures = turns.map(|figures| figures[metric]).filter(|figure| !figure.is_nan());
        let figures: Vec<_> = figures.collect();
        let (lowest, highest) = (lowest(&figures), highest(&figures));
        let beside = vec![self.ratio(contender, metric)];
        (!figures.is_empty()).then(|| Cell { median: median(&figures), lowest, highest, beside })
    }

    /// The median over the rounds of what it came to beside the first contender.
    fn ratio(&self, contender: usize, metric: usize) -> Option<Ratio> {
        let both = self.turns[contender].iter().zip(&self.turns[0]);
        let ratios = both.filter_map(|(one, first)| {
            let (one, first) = (one.as_ref().ok()?, first.as_ref().ok()?);
            Some(one[metric] / first[metric])
        });
        Ratio::of(&ratios.collect::<Vec<_>>())
    }

    /// How often it has failed, and in what way.
    fn failures(&self, contender: usize) -> Option<String> {
        let turns = &self.turns[contender];
        let failed: Vec<_> = turns.iter().filter_map(|turn| turn.as_ref().err()).collect();
        let why = failed.first()?;
        Some(format!("{why} in {} of {}", failed.len(), turns.len()))
    }
}

impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { name, about, metrics, lines, .. } = self.summary();
        writeln!(f, "{name}: {about}")?;
        let first = format!("/ {}", self.names.first().unwrap_or(&""));
        writeln!(f, "{:16} {:12} {:>10} {:>23} {first:>14}", "", "", "median", "min..max")?;
        for (metric, label) in metrics.iter().enumerate() {
            for Line { name, cells, failures } in &lines {
                let failures = failures.as_deref().unwrap_or_default();
                write!(f, "{label:16} {name:12} ")?;
                let Some(Cell { median, lowest, highest, beside }) = &cells[metric] else {
                    writeln!(f, "{:>10} {failures}", "-")?;
                    continue;
                };
                let range = format!("{}..{}", tell(*lowest), tell(*highest));
                let ratio =
                    beside[0].map_or("-".to_owned(), |ratio| format!("{:.3}", ratio.median));
                writeln!(f, "{:>10} {range:>23} {ratio:>14} {failures}", tell(*median))?;
            }
        }
        Ok(())
    }
}
