//! The words of `results.svg`: which figures it shows, and what they mean.

use super::{Summary, ratios, sweeps};
use crate::trial::Trial;
use crate::workloads::contended::Rivals;

/// A metric of a scene or trial, and how to read it.
pub(super) struct Caption {
    /// For `W5`: all trials with contention.
    name: &'static str,
    pub(super) metric: &'static str,
    /// Which direction is better.
    better: &'static str,
    /// What it shows; for `W5` without the competitors.
    says: &'static str,
}

const LESS: &str = "less is better";
const MORE: &str = "more is better";
const ONE: &str = "1 is best";

const fn caption(
    name: &'static str,
    metric: &'static str,
    better: &'static str,
    says: &'static str,
) -> Caption {
    Caption { name, metric, better, says }
}

static CAPTIONS: [Caption; 19] = [
    caption(
        "W1",
        "acquire p50 us",
        LESS,
        "One task locks a free resource: median wait, in microseconds",
    ),
    caption("W1", "cycles/s", MORE, "One task locks and unlocks a free resource: times per second"),
    caption("W2", "cycles/s", MORE, "64 tasks lock and unlock 64 resources: locks per second"),
    caption(
        "W2",
        "CPU us/cycle",
        LESS,
        "The same 64 tasks: CPU time of the client per lock, in microseconds",
    ),
    caption(
        "W2",
        "masters' CPU us/cycle",
        LESS,
        "The same 64 tasks: CPU time of all five masters per lock, in microseconds",
    ),
    caption(
        "W2-valkey",
        "cycles/s",
        MORE,
        "64 tasks lock and unlock 64 resources on Valkey 9: locks per second",
    ),
    caption(
        "W2-valkey",
        "CPU us/cycle",
        LESS,
        "The same on Valkey 9: CPU time of the client per lock, in microseconds",
    ),
    caption(
        "W2-valkey",
        "masters' CPU us/cycle",
        LESS,
        "The same on Valkey 9: CPU time of all five masters per lock, in microseconds",
    ),
    caption(
        "W7",
        "acquire p50 us",
        LESS,
        "One task locks with a fencing token, or several keys at once: median wait, in microseconds",
    ),
    caption(
        "W9",
        "acquire p99.9 us",
        LESS,
        "One task locks a free resource while its process keeps 10,000 other locks alive: the wait \
         that one in 1,000 exceeds, in microseconds",
    ),
    caption(
        "W10",
        "cycles/s",
        MORE,
        "64 tasks of one process want their locks again and again, and keep them warm: locks won and \
         given back per second",
    ),
    caption(
        "W3",
        "stopped/healthy",
        ONE,
        "One of five masters hangs: time of an attempt, divided by its time with all five",
    ),
    caption(
        "W4",
        "killed, won %",
        MORE,
        "One of five masters is down: percentage of attempts that succeed",
    ),
    caption(
        "W6",
        "failure after ms",
        LESS,
        "Three of five masters are down: milliseconds until an attempt fails",
    ),
    caption("W8", "bytes/lock", LESS, "Memory of the client for each lock that it holds, in bytes"),
    caption(
        "W8",
        "bytes/waiter",
        LESS,
        "Memory of the client for each task that waits for a lock, in bytes",
    ),
    caption("W5", "of ideal %", MORE, "percentage of the best possible rate"),
    caption("W5", "fewest/most", ONE, "fewest turns of a task, divided by the most"),
    caption("W5", "commands/section", LESS, "commands that the masters receive per turn"),
];

/// A sweep has one metric, and its own sentence.
static SWEPT: Caption = caption("", sweeps::METRIC, "1 is as fast, more is better", "");

/// Returns the captions of those of its figures that are shown.
pub(super) fn of(summary: &Summary) -> Vec<&'static Caption> {
    let fits = |caption: &&Caption| {
        let name = if contended(summary).is_some() { "W5" } else { summary.name.as_str() };
        caption.name == name && summary.column(caption.metric).is_some()
    };
    match summary.column(sweeps::METRIC) {
        Some(_) => vec![&SWEPT],
        None => CAPTIONS.iter().filter(fits).collect(),
    }
}

impl Caption {
    pub(super) fn title(&self, summary: &Summary) -> String {
        match contended(summary) {
            Some(rivals) => format!("{}: {}", rivals.in_words(), self.says),
            None if self.says.is_empty() => summary.about.clone(),
            None => self.says.to_owned(),
        }
    }

    /// Describes how to read it, and where the figures are.
    pub(super) fn hint(&self, summary: &Summary) -> String {
        match self.metric {
            sweeps::METRIC => format!("{}: {}", ratios::NAME, self.better),
            metric => format!("{}, {metric}: {}", summary.name, self.better),
        }
    }
}

/// Returns the figure of a full bar of this metric, if there is a best one.
pub(super) fn whole(metric: &str) -> Option<f64> {
    match metric {
        share if share.contains('%') => Some(100.0),
        "fewest/most" => Some(1.0),
        _ => None,
    }
}

fn contended(summary: &Summary) -> Option<Rivals> {
    Trial::ALL.into_iter().find_map(|trial| match trial {
        Trial::Contended(rivals) if rivals.name() == summary.name => Some(rivals),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::measured;
    use super::*;

    #[test]
    fn every_caption_is_of_something_that_is_measured() {
        let summaries = measured().map(|(name, metrics)| Summary {
            name,
            about: String::new(),
            metrics: metrics.iter().map(|&metric| metric.to_owned()).collect(),
            yardsticks: Vec::new(),
            lines: Vec::new(),
        });
        let summaries: Vec<_> = summaries.collect();
        for caption in &CAPTIONS {
            let is_of =
                |summary: &&Summary| of(summary).iter().any(|shown| std::ptr::eq(*shown, caption));
            let shown = summaries.iter().filter(is_of).count();
            let expected = if caption.name == "W5" { 6 } else { 1 };
            assert_eq!(shown, expected, "{}: {}", caption.name, caption.metric);
        }
    }
}
