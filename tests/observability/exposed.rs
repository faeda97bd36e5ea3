//! Metrics as Prometheus reads them.

use std::collections::{BTreeMap, BTreeSet};

/// One line of a scrape.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

/// Samples by the metric that they belong to (a histogram has several names), and types by metric.
#[derive(Debug, Default)]
pub(crate) struct Exposed {
    pub(crate) types: BTreeMap<String, String>,
    pub(crate) samples: Vec<Sample>,
}

impl Exposed {
    pub(crate) fn parse(text: &str) -> Self {
        let mut exposed = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                let (name, kind) = declared.split_once(' ').expect("a type");
                exposed.types.insert(name.to_owned(), kind.to_owned());
            } else if !line.starts_with('#') {
                exposed.samples.push(sample(line));
            }
        }
        exposed
    }

    /// Returns the metric that `sample` belongs to.
    pub(crate) fn metric_of(&self, sample: &Sample) -> String {
        let parts = ["_bucket", "_sum", "_count"];
        let of = parts.iter().filter_map(|part| sample.name.strip_suffix(part));
        let mut of =
            of.filter(|name| self.types.get(*name).is_some_and(|kind| kind == "histogram"));
        of.next().unwrap_or(&sample.name).to_owned()
    }

    /// Returns the names of labels, and the values seen for each.
    pub(crate) fn labels_of(&self, metric: &str) -> BTreeMap<String, BTreeSet<String>> {
        let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for sample in self.samples.iter().filter(|sample| self.metric_of(sample) == metric) {
            for (name, value) in sample.labels.iter().filter(|(name, _)| *name != "le") {
                labels.entry(name.clone()).or_default().insert(value.clone());
            }
        }
        labels
    }

    /// Returns the sum over all samples of this name that have these labels.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |sample: &&Sample| {
            let has = |(label, value): &(&str, &str)| {
                sample.labels.get(*label).is_some_and(|known| known == value)
            };
            sample.name == name && labels.iter().all(has)
        };
        self.samples.iter().filter(has).map(|sample| sample.value).sum()
    }
}

fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').expect("a value");
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels.strip_suffix('}').expect("the end of labels");
    let label = |label: &str| {
        let (name, value) = label.split_once('=').expect("a label's value");
        (name.to_owned(), value.trim_matches('"').to_owned())
    };
    let labels = labels.split(',').filter(|label| !label.is_empty()).map(label).collect();
    Sample { name: name.to_owned(), labels, value: value.parse().expect("a number") }
}
