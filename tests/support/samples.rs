//! Latencies and their usual statistics.

use std::fmt;
use std::time::{Duration, Instant};

/// A handful of latencies, kept one by one: percentiles are exact.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    sorted: Vec<Duration>,
}

impl Samples {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn record(&mut self, sample: Duration) {
        let place = self.sorted.partition_point(|&other| other <= sample);
        self.sorted.insert(place, sample);
    }

    /// Awaits the work and records how long it took.
    pub(crate) async fn time<T>(&mut self, work: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let result = work.await;
        self.record(start.elapsed());
        result
    }

    /// The smallest sample that at least `percent` of a hundred do not exceed (nearest rank).
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        assert!(percent <= 100, "no {percent}th percentile");
        self.per_mille(10 * percent)
    }

    /// Does the same in per mille.
    pub(crate) fn per_mille(&self, share: usize) -> Duration {
        assert!(!self.sorted.is_empty(), "no samples");
        assert!(share <= 1000, "no {share} of a thousand");
        let rank = (self.sorted.len() * share).div_ceil(1000);
        self.sorted[rank.saturating_sub(1)]
    }

    pub(crate) fn p50(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn p99(&self) -> Duration {
        self.percentile(99)
    }

    pub(crate) fn max(&self) -> Duration {
        self.percentile(100)
    }

    /// Returns all of them, the smallest first.
    pub(crate) fn all(&self) -> &[Duration] {
        &self.sorted
    }

    pub(crate) fn len(&self) -> usize {
        self.sorted.len()
    }
}

impl Extend<Duration> for Samples {
    fn extend<I: IntoIterator<Item = Duration>>(&mut self, samples: I) {
        self.sorted.extend(samples);
        self.sorted.sort_unstable();
    }
}

impl FromIterator<Duration> for Samples {
    fn from_iter<I: IntoIterator<Item = Duration>>(samples: I) -> Self {
        let mut collected = Self::new();
        collected.extend(samples);
        collected
    }
}

/// `n=100 p50=1.20ms p99=3.41ms max=5.00ms`
impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sorted.is_empty() {
            return f.write_str("n=0");
        }
        let (n, p50, p99, max) = (self.len(), self.p50(), self.p99(), self.max());
        write!(f, "n={n} p50={p50:.2?} p99={p99:.2?} max={max:.2?}")
    }
}
