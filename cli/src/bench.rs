//! `quorumlock bench`: measures the speed of locks on the given masters.

use crate::args::{BenchArgs, MastersArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, micros, since_1970};
use crate::progress;
use crate::settings;
use crate::style::Color;
use crate::table::{Cell, table};
use quorumlock::kind::Kind;
use quorumlock::report::Span;
use quorumlock::{Acquire, AcquireError, Guard, Preflight, Redlock, Released};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The durations of the cycles.
#[derive(Default)]
struct Measured {
    acquires: Vec<Duration>,
    releases: Vec<Duration>,
    /// From the first acquire to the last release.
    elapsed: Duration,
}

/// Acquires and releases resources of its own: one for each task, and each task one cycle after the
/// other.
pub(crate) async fn bench(
    args: BenchArgs,
    masters: MastersArgs,
    output: Output,
    color: Color,
) -> Result<Exit, Failure> {
    let builder = settings::builder(settings::settings(masters)?);
    let asking = || "asking the masters".to_owned();
    let preflight = progress::during(output, asking, builder.preflight()).await?;
    if let Some(failure) = warming_up(&preflight) {
        return Err(failure);
    }
    let redlock = settings::connected(builder, output).await?;
    let measured = measure(&redlock, &args, output).await;
    // Before the report is printed: no key stays behind.
    let drained = redlock.shutdown().await;
    let mut measured = measured?;
    if let Err(owed) = drained {
        output.note(&owed.to_string());
    }
    measured.acquires.sort_unstable();
    measured.releases.sort_unstable();
    let text = to_text(&preflight, &args, &measured, color);
    output.result(&to_json(&preflight, &args, &measured), &text, Exit::Success)
}

/// Returns a failure if time alone keeps a quorum from voting: to measure that would be to wait.
fn warming_up(preflight: &Preflight) -> Option<Failure> {
    let left = preflight.can_acquire_in().filter(|left| !left.is_zero())?;
    let left = Span(left);
    let line = format!("no quorum may vote for {left}: masters have just started (see doctor)");
    Some(Failure::new(Exit::NoQuorum, line))
}

async fn measure(redlock: &Redlock, args: &BenchArgs, output: Output) -> Result<Measured, Failure> {
    let resource = format!("bench:{}:{}", std::process::id(), since_1970().as_nanos());
    let (done, began) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let mut tasks = JoinSet::new();
    for task in 0..args.tasks {
        let (redlock, done, resource) =
            (redlock.clone(), done.clone(), format!("{resource}:{task}"));
        let (cycles, fenced) = (args.cycles, args.fenced);
        tasks.spawn(async move {
            let mut measured = Measured::default();
            for _ in 0..cycles {
                let acquire = redlock.acquire(&*resource);
                if fenced {
                    cycle(acquire.fenced(), &mut measured).await?;
                } else {
                    cycle(acquire, &mut measured).await?;
                }
                done.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, AcquireError>(measured)
        });
    }
    let all = u64::from(args.tasks) * u64::from(args.cycles);
    let progress = || format!("{} of {all} cycles", done.load(Ordering::Relaxed));
    let mut measured = Measured::default();
    let ended = progress::during(output, progress, async {
        while let Some(ended) = tasks.join_next().await {
            let stopped = |_| Failure::new(Exit::System, "a task of the bench has panicked");
            let samples = ended.map_err(stopped)??;
            measured.acquires.extend(samples.acquires);
            measured.releases.extend(samples.releases);
        }
        Ok::<_, Failure>(())
    });
    ended.await?;
    Ok(Measured { elapsed: began.elapsed(), ..measured })
}

async fn cycle<K: Kind>(
    acquire: Acquire<Guard<K>>,
    measured: &mut Measured,
) -> Result<(), AcquireError> {
    let began = Instant::now();
    let guard = acquire.await?;
    measured.acquires.push(began.elapsed());
    let began = Instant::now();
    if guard.release().await == Ok(Released::Confirmed) {
        measured.releases.push(began.elapsed());
    }
    Ok(())
}

/// Returns a percentile of sorted samples; `None` if there are none.
fn percentile(samples: &[Duration], percent: usize) -> Option<Duration> {
    let place = (samples.len() * percent).div_ceil(100).saturating_sub(1);
    samples.get(place).copied()
}

impl Measured {
    /// Returns how many locks were acquired and released in a second, by all tasks together.
    fn locks_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.releases.len() as f64 / seconds } else { 0.0 }
    }
}

fn to_text(preflight: &Preflight, args: &BenchArgs, measured: &Measured, color: Color) -> String {
    let span = |span: Option<Duration>| span.map(|time| Span(time).to_string());
    let rows = preflight
        .into_iter()
        .map(|node| [Cell::new(&*node.node), Cell::or_dash(span(node.round_trip))]);
    let mut text = table(["MASTER", "ROUND TRIP"], rows.collect(), color.style());
    // Writing to a string does not fail.
    let _ = write!(text, "\n\n{:8}  {:>8}  {:>8}  {:>8}", "", "P50", "P99", "CYCLES");
    for (name, samples) in [("acquire", &measured.acquires), ("release", &measured.releases)] {
        let or_dash = |time| span(time).unwrap_or_else(|| "-".to_owned());
        let [p50, p99] = [50, 99].map(|percent| or_dash(percentile(samples, percent)));
        let _ = write!(text, "\n{name:8}  {p50:>8}  {p99:>8}  {:>8}", samples.len());
    }
    let (tasks, kind) = (args.tasks, if args.fenced { "fenced locks" } else { "locks" });
    let by = if tasks == 1 { "one task".to_owned() } else { format!("{tasks} tasks") };
    let _ = write!(text, "\n\n{:.0} {kind} a second by {by}", measured.locks_per_second());
    text
}

fn to_json(preflight: &Preflight, args: &BenchArgs, measured: &Measured) -> Value {
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
        "tasks": args.tasks,
        "fenced": args.fenced,
        "acquire": of(&measured.acquires),
        "release": of(&measured.releases),
        "locks_per_second": measured.locks_per_second(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_sample_that_so_many_do_not_exceed() {
        let samples: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        let found = [1, 50, 99, 100].map(|percent| percentile(&samples, percent));
        assert_eq!(found, [2, 100, 198, 200].map(|millis| Some(Duration::from_millis(millis))));
        assert_eq!(percentile(&samples[..1], 50), Some(Duration::from_millis(1)));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn locks_a_second_count_what_was_released() {
        let of = |count, elapsed| {
            let releases = vec![Duration::ZERO; count];
            Measured { releases, elapsed, ..Measured::default() }.locks_per_second()
        };
        assert_eq!(of(500, Duration::from_millis(250)), 2000.0);
        assert_eq!(of(500, Duration::ZERO), 0.0);
    }
}
