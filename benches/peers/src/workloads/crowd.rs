//! W2: how many locks a process can acquire and release when many of its tasks do so.

use super::{Locker, Measured};
use crate::cell::Cell;
use crate::meter::{Meter, Spent};
use futures::future::join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const METRICS: [&str; 3] = ["cycles/s", "CPU us/cycle", "masters' CPU us/cycle"];

pub(crate) fn resource(task: usize) -> Arc<str> {
    format!("bench:crowd:{task}").into()
}

/// Runs the workload; `locker` is called once for each task.
pub(crate) async fn run<L: Locker>(locker: impl Fn(usize) -> L, cell: &Cell) -> Measured {
    turn(&locker, cell, cell.warm_up).await;
    turn(&locker, cell, cell.span).await
}

async fn turn<L: Locker>(locker: impl Fn(usize) -> L, cell: &Cell, span: Duration) -> Measured {
    let meter = Meter::start(cell.processes.clone());
    let until = Instant::now() + span;
    let start = |task| tokio::spawn(cycle(locker(task), resource(task), until));
    let counts = join_all((0..cell.tasks).map(start).collect::<Vec<_>>()).await;
    let cycles = counts.into_iter().map(|count| count.expect("a task without a panic")).sum();
    measured(cycles, meter.stop(cycles))
}

async fn cycle<L: Locker>(mut locker: L, resource: Arc<str>, until: Instant) -> u64 {
    let mut cycles = 0;
    while Instant::now() < until {
        let held = locker.acquire(&resource).await;
        locker.release(held).await;
        cycles += 1;
    }
    cycles
}

pub(crate) fn measured(cycles: u64, spent: Spent) -> Measured {
    let Spent { cycles_per_second, client_us, masters_us } = spent;
    Measured { cycles, figures: vec![cycles_per_second, client_us, masters_us] }
}
