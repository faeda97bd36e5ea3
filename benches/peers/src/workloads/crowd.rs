//! W2: how many locks a process can take and give back when many of its tasks do so.

use super::{Locker, Measured, micros};
use crate::cpu;
use futures::future::join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const ABOUT: &str = "64 tasks, 64 resources: acquire, release";

pub(crate) const METRICS: [&str; 2] = ["cycles/s", "CPU us/cycle"];

pub(crate) const TASKS: usize = 64;

pub(crate) fn resource(task: usize) -> Arc<str> {
    format!("bench:crowd:{task}").into()
}

/// `locker` is called once for each task.
pub(crate) async fn run<L: Locker>(
    locker: impl Fn() -> L,
    warm_up: Duration,
    span: Duration,
) -> Measured {
    turn(&locker, warm_up).await;
    turn(&locker, span).await
}

async fn turn<L: Locker>(locker: impl Fn() -> L, span: Duration) -> Measured {
    let meter = Meter::start();
    let until = Instant::now() + span;
    let tasks = (0..TASKS).map(|task| tokio::spawn(cycle(locker(), resource(task), until)));
    let counts = join_all(tasks.collect::<Vec<_>>()).await;
    meter.stop(counts.into_iter().map(|count| count.expect("a task without a panic")).sum())
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

/// Time and CPU time of a turn.
pub(crate) struct Meter {
    began: Instant,
    used: Duration,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), used: cpu::used() }
    }

    pub(crate) fn stop(self, cycles: u64) -> Measured {
        let (took, cpu) = (self.began.elapsed(), cpu::used() - self.used);
        let per_second = cycles as f64 / took.as_secs_f64();
        Measured { cycles, figures: vec![per_second, micros(cpu) / cycles as f64] }
    }
}
