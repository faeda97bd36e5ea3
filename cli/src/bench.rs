//! `quorumlock bench`: measures the speed of locks on the given masters.

use crate::args::MastersArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, micros};
use crate::settings;
use quorumlock::report::Span;
use quorumlock::{Preflight, Redlock, Released};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant, SystemTime};

/// The durations of the cycles.
struct Measured {
    acquires: Vec<Duration>,
    releases: Vec<Duration>,
}

/// Acquires and releases a resource of its own, one cycle after the other.
pub(crate) async fn bench(
    cycles: u32,
    masters: MastersArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let redlock =
        settings::connected(settings::builder(settings::settings(masters)?), output).await?;
    let preflight = redlock.preflight().await?;
    let measured = measure(&redlock, cycles).await;
    // Before the report is printed: no key stays behind.
    let drained = redlock.shutdown().await;
    let mut measured = measured?;
    if let Err(owed) = drained {
        output.note(&owed.to_string());
    }
    measured.acquires.sort_unstable();
    measured.releases.sort_unstable();
    let (value, text) = (to_json(&preflight, &measured), to_text(&preflight, &measured));
    output.result(&value, &text, Exit::Success)
}

async fn measure(redlock: &Redlock, cycles: u32) -> Result<Measured, Failure> {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let resource = format!("bench:{}:{}", std::process::id(), since_1970.as_nanos());
    let mut measured = Measured { acquires: Vec::new(), releases: Vec::new() };
    for _ in 0..cycles {
        let began = Instant::now();
        let guard = redlock.acquire(resource.as_str()).await?;
        measured.acquires.push(began.elapsed());
        let began = Instant::now();
        if guard.release().await == Released::Released {
            measured.releases.push(began.elapsed());
        }
    }
    Ok(measured)
}

/// Returns a percentile of sorted samples; `None` if there are none.
fn percentile(samples: &[Duration], percent: usize) -> Option<Duration> {
    let place = (samples.len() * percent).div_ceil(100).saturating_sub(1);
    samples.get(place).copied()
}

fn to_text(preflight: &Preflight, measured: &Measured) -> String {
    let or_dash =
        |told: Option<Duration>| told.map_or_else(|| "-".to_owned(), |it| Span(it).to_string());
    let names = preflight.nodes().iter().map(|node| node.node.len());
    let width = names.max().unwrap_or_default().max("MASTER".len());
    let mut text = format!("{:width$}  ROUND TRIP", "MASTER");
    for node in preflight {
        // Writing to a string does not fail.
        let _ = write!(text, "\n{:width$}  {}", node.node, or_dash(node.round_trip));
    }
    let _ = write!(text, "\n\n{:8}  {:>8}  {:>8}  {:>8}", "", "P50", "P99", "CYCLES");
    for (name, samples) in [("acquire", &measured.acquires), ("release", &measured.releases)] {
        let [p50, p99] = [50, 99].map(|percent| or_dash(percentile(samples, percent)));
        let _ = write!(text, "\n{name:8}  {p50:>8}  {p99:>8}  {:>8}", samples.len());
    }
    text
}

fn to_json(preflight: &Preflight, measured: &Measured) -> Value {
    let masters = preflight
        .into_iter()
        .map(|node| json!({ "node": &*node.node, "round_trip_us": node.round_trip.map(micros) }));
    let of = |samples: &[Duration]| {
        json!({
            "p50_us": percentile(samples, 50).map(micros),
            "p99_us": percentile(samples, 99).map(micros),
            "cycles": samples.len(),
        })
    };
    json!({
        "nodes": masters.collect::<Vec<_>>(),
        "acquire": of(&measured.acquires),
        "release": of(&measured.releases),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_sample_that_so_many_do_not_exceed() {
        let samples: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        let told = [1, 50, 99, 100].map(|percent| percentile(&samples, percent));
        assert_eq!(told, [2, 100, 198, 200].map(|millis| Some(Duration::from_millis(millis))));
        assert_eq!(percentile(&samples[..1], 50), Some(Duration::from_millis(1)));
        assert_eq!(percentile(&[], 50), None);
    }
}
