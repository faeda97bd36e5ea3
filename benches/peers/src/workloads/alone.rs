//! W1: how long one lock takes when nobody else is there.

use super::{Locker, Measured, micros};
use crate::cpu;
use crate::support::samples::Samples;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const ABOUT: &str = "one task, one resource: acquire, release";

pub(crate) const METRICS: [&str; 4] =
    ["acquire p50 us", "acquire p99 us", "cycles/s", "CPU us/cycle"];

pub(crate) const RESOURCE: &str = "bench:alone";

/// Runs as a task of the runtime, as a user's code does.
pub(crate) async fn run<L: Locker>(locker: L, warm_up: Duration, span: Duration) -> Measured {
    let (locker, _) = turn(locker, warm_up).await;
    turn(locker, span).await.1
}

async fn turn<L: Locker>(mut locker: L, span: Duration) -> (L, Measured) {
    let running = tokio::spawn(async move {
        let resource = Arc::from(RESOURCE);
        let mut acquires = Vec::new();
        let (began, used) = (Instant::now(), cpu::used());
        while began.elapsed() < span {
            let start = Instant::now();
            let held = locker.acquire(&resource).await;
            acquires.push(start.elapsed());
            locker.release(held).await;
        }
        let (took, cpu) = (began.elapsed(), cpu::used() - used);
        locker.settle().await;
        (locker, took, cpu, acquires)
    });
    let (locker, took, cpu, acquires) = running.await.expect("a turn without a panic");
    let cycles = acquires.len() as f64;
    let samples: Samples = acquires.into_iter().collect();
    let figures = vec![
        micros(samples.p50()),
        micros(samples.p99()),
        cycles / took.as_secs_f64(),
        micros(cpu) / cycles,
    ];
    (locker, Measured { cycles: samples.len() as u64, figures })
}
