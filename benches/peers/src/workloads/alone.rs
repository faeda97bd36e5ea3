//! W1: time for one lock without any other client.

use super::{Locker, Measured, micros};
use crate::cell::Cell;
use crate::meter::Meter;
use crate::support::samples::Samples;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const ABOUT: &str = "one task, one resource: acquire, release";

pub(crate) const METRICS: [&str; 5] =
    ["acquire p50 us", "acquire p99 us", "cycles/s", "CPU us/cycle", "masters' CPU us/cycle"];

pub(crate) const RESOURCE: &str = "bench:alone";

/// Runs as a task of the runtime, as a user's code does.
pub(crate) async fn run<L: Locker>(locker: L, cell: &Cell) -> Measured {
    let (locker, _) = turn(locker, cell, cell.warm_up).await;
    turn(locker, cell, cell.span).await.1
}

async fn turn<L: Locker>(mut locker: L, cell: &Cell, span: Duration) -> (L, Measured) {
    let masters = cell.processes.clone();
    let running = tokio::spawn(async move {
        let resource = Arc::from(RESOURCE);
        let mut acquires = Vec::new();
        let meter = Meter::start(masters);
        let until = Instant::now() + span;
        while Instant::now() < until {
            let start = Instant::now();
            let held = locker.acquire(&resource).await;
            acquires.push(start.elapsed());
            locker.release(held).await;
        }
        let spent = meter.stop(acquires.len() as u64);
        locker.settle().await;
        (locker, spent, acquires)
    });
    let (locker, spent, acquires) = running.await.expect("a turn without a panic");
    let samples: Samples = acquires.into_iter().collect();
    let figures = vec![
        micros(samples.p50()),
        micros(samples.p99()),
        spent.cycles_per_second,
        spent.client_us,
        spent.masters_us,
    ];
    (locker, Measured { cycles: samples.len() as u64, figures })
}
