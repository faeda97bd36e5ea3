//! Counters, gauges and histograms of the facade `metrics`.
//!
//! All of them are registered when a coordinator is created, at zero: a rate is then right from the
//! first loss on, and the hot path looks up no name.

use super::table::{Metric, Row, TABLE, Type};
use metrics::{Counter, Gauge, Histogram, Label, Unit, counter, gauge, histogram};
use metrics::{describe_counter, describe_gauge, describe_histogram};
use std::sync::Arc;

/// Those of each row of the table.
pub(super) struct Meters(Vec<Vec<(Labels, Meter)>>);

/// The place of the node, and the word of the label.
type Labels = (usize, &'static str);

enum Meter {
    Counter(Counter),
    Gauge(Gauge),
    Histogram(Histogram),
}

impl Meters {
    pub(super) fn new<'a>(nodes: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let nodes: Vec<_> = nodes.map(|node| Some(&**node)).collect();
        Self(TABLE.iter().map(|row| registered(row, &nodes)).collect())
    }

    /// Counts one, moves a gauge by `amount`, or records that many seconds.
    pub(super) fn add(&self, metric: Metric, place: usize, word: &str, amount: f64) {
        let mut meters = self.0[metric as usize].iter();
        match meters.find(|(labels, _)| *labels == (place, word)) {
            Some((_, Meter::Counter(counter))) => counter.increment(1),
            Some((_, Meter::Gauge(gauge))) => gauge.increment(amount),
            Some((_, Meter::Histogram(histogram))) => histogram.record(amount),
            None => {}
        }
    }
}

fn registered(row: &Row, nodes: &[Option<&str>]) -> Vec<(Labels, Meter)> {
    let Row { name, label, about, .. } = *row;
    match row.metric {
        Type::Counter => describe_counter!(name, Unit::Count, about),
        Type::Gauge | Type::NodesGauge => describe_gauge!(name, Unit::Count, about),
        Type::Histogram => describe_histogram!(name, Unit::Seconds, about),
    }
    let nodes = if let Type::NodesGauge = row.metric { nodes } else { &[None] };
    let meter = |((place, node), word): ((usize, &Option<&str>), &&'static str)| {
        let node = node.map(|node| Label::new("node", node.to_owned()));
        let word_of = (!label.is_empty()).then(|| Label::new(label, *word));
        let labels: Vec<_> = node.into_iter().chain(word_of).collect();
        let meter = match row.metric {
            Type::Counter => Meter::Counter(counter!(name, labels)),
            Type::Gauge | Type::NodesGauge => Meter::Gauge(gauge!(name, labels)),
            Type::Histogram => Meter::Histogram(histogram!(name, labels)),
        };
        ((place, *word), meter)
    };
    let places = nodes.iter().enumerate();
    places.flat_map(|place| row.words.iter().map(move |word| (place, word))).map(meter).collect()
}
