//! What the rounds of a trial have come to, as text. Turns may have failed.

use crate::table::{highest, lowest, median, short};
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

    /// The rounds in which it has not failed, with what it came to.
    fn figures(&self, contender: usize, metric: usize) -> Vec<f64> {
        let turns = self.turns[contender].iter().flatten();
        turns.map(|figures| figures[metric]).filter(|figure| !figure.is_nan()).collect()
    }

    /// The median over the rounds of what it came to beside the first contender.
    fn ratio(&self, contender: usize, metric: usize) -> Option<f64> {
        let both = self.turns[contender].iter().zip(&self.turns[0]);
        let ratios = both.filter_map(|(one, first)| {
            let (one, first) = (one.as_ref().ok()?, first.as_ref().ok()?);
            Some(one[metric] / first[metric]).filter(|ratio| ratio.is_finite())
        });
        let ratios: Vec<_> = ratios.collect();
        (!ratios.is_empty()).then(|| median(&ratios))
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
        writeln!(f, "{}: {}", self.trial.name(), self.trial.about())?;
        let first = format!("/ {}", self.names.first().unwrap_or(&""));
        writeln!(f, "{:16} {:12} {:>10} {:>23} {first:>14}", "", "", "median", "min..max")?;
        for (metric, label) in self.trial.metrics().iter().enumerate() {
            for (contender, name) in self.names.iter().enumerate() {
                let figures = self.figures(contender, metric);
                let failures = self.failures(contender).unwrap_or_default();
                write!(f, "{label:16} {name:12} ")?;
                if figures.is_empty() {
                    writeln!(f, "{:>10} {failures}", "-")?;
                    continue;
                }
                let (low, high) = (lowest(&figures), highest(&figures));
                let range = format!("{}..{}", tell(low), tell(high));
                let ratio = self.ratio(contender, metric);
                let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
                let median = tell(median(&figures));
                writeln!(f, "{median:>10} {range:>23} {ratio:>14} {failures}")?;
            }
        }
        Ok(())
    }
}

/// What never came to an end took infinitely long.
fn tell(figure: f64) -> String {
    if figure.is_infinite() { "hangs".to_owned() } else { short(figure) }
}
