//! Support for the program that installs the recorder of metrics. The metrics themselves are in [What can be
//! observed](crate::guide::observability).

/// The upper bounds of buckets for the histograms, in seconds: from a fast network to a long job.
///
/// Without buckets, exporters render summaries, which cannot be added up over processes. The panels of the
/// dashboard need them, and all processes that are added up need the same.
///
/// ```
/// # #[cfg(feature = "metrics")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
///
/// let histograms = Matcher::Prefix("quorumlock_".to_owned());
/// let builder = PrometheusBuilder::new()
///     .set_buckets_for_metric(histograms, quorumlock::metrics::BUCKETS)?;
/// # builder.build_recorder();
/// # Ok(()) }
/// # #[cfg(not(feature = "metrics"))]
/// # fn main() {}
/// ```
pub const BUCKETS: &[f64] = &[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    60.0, 600.0, 3600.0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    #[test]
    fn buckets_rise_from_a_round_trip_to_the_longest_hold() {
        assert!(BUCKETS.is_sorted_by(|bound, next| bound < next));
        assert!(BUCKETS.first().is_some_and(|bound| *bound > 0.0 && *bound <= 0.0005));
        let longest = Options::default().max_hold.as_secs_f64();
        assert!(BUCKETS.last().is_some_and(|bound| *bound >= longest));
    }
}
