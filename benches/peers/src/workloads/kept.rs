//! W9: the effect of extending many locks that are kept alive on a task that wants one more.

use super::{Locker, Measured, micros};
use crate::cell::Cell;
use crate::support::samples::Samples;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

pub(crate) const ABOUT: &str = "one task, one resource: acquire, release, 1 ms of rest; meanwhile its \
                                process keeps 10,000 other locks alive, with a ttl of 3 s, or none";

pub(crate) const METRICS: [&str; 4] =
    ["acquire p50 us", "acquire p99 us", "acquire p99.9 us", "acquire max us"];

/// Per mille, for each metric.
const RANKS: [usize; 4] = [500, 990, 999, 1000];

pub(crate) const LOCKS: usize = 10_000;

pub(crate) const TTL: Duration = Duration::from_secs(3);

/// Time that a turn takes in addition to warm-up and span: acquiring and releasing all of those
/// locks.
pub(crate) const ASIDE: Duration = Duration::from_millis(1500);

const REST: Duration = Duration::from_millis(1);

/// Runs as a task of the runtime, as a user's code does.
pub(crate) async fn run<L: Locker>(mut locker: L, cell: &Cell) -> Measured {
    let (warm_up, span) = (cell.warm_up, cell.span);
    let running = tokio::spawn(async move {
        sample(&mut locker, warm_up).await;
        let sampled = sample(&mut locker, span).await;
        locker.settle().await;
        sampled
    });
    let acquires = running.await.expect("a turn without a panic");
    let samples: Samples = acquires.into_iter().collect();
    let figures = RANKS.map(|share| micros(samples.per_mille(share))).to_vec();
    Measured { cycles: samples.len() as u64, figures }
}

async fn sample<L: Locker>(locker: &mut L, span: Duration) -> Vec<Duration> {
    let resource: Arc<str> = "bench:beside-kept".into();
    let (mut acquires, until) = (Vec::new(), Instant::now() + span);
    while acquires.is_empty() || Instant::now() < until {
        let start = Instant::now();
        let held = locker.acquire(&resource).await;
        acquires.push(start.elapsed());
        locker.release(held).await;
        sleep(REST).await;
    }
    acquires
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_thousand_may_exceed_the_last_quantile_none_the_most() {
        let samples: Samples = (1..=2000).map(Duration::from_micros).collect();
        let at = |share| samples.per_mille(share).as_micros();
        assert_eq!(RANKS.map(at), [1000, 1980, 1998, 2000]);
        let single: Samples = [Duration::from_micros(1)].into_iter().collect();
        assert_eq!(single.per_mille(999), Duration::from_micros(1));
    }
}
