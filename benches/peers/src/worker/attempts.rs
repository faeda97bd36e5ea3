//! Consecutive attempts at a lock that no other client wants.

use super::{ATTEMPTS, Failed, Worker, number};
use crate::contenders::Client;
use crate::support::samples::Samples;
use crate::workloads::micros;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An attempt that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Attempted {
    pub(crate) tries: f64,
    pub(crate) wins: f64,
    /// Median of all attempts, in microseconds, however they ended.
    pub(crate) p50: f64,
}

impl Worker {
    /// Makes at least one attempt, and as many as fit into the span.
    pub(crate) fn attempt(&mut self, resource: &str, span: Duration) -> Result<Attempted, Failed> {
        self.order(&format!("{ATTEMPTS} {} {resource}", span.as_millis()));
        match *self.answer(span + PATIENCE)? {
            [tries, wins, p50] => Ok(Attempted { tries, wins, p50 }),
            ref figures => panic!("not three figures: {figures:?}"),
        }
    }
}

pub(super) async fn obey<C: Client>(client: &C, order: &str) -> Vec<f64> {
    let mut words = order.split_whitespace();
    let until = Instant::now() + Duration::from_millis(number(&mut words));
    let resource: Arc<str> = words.next().expect("a resource").into();
    let (mut took, mut wins) = (Vec::new(), 0.0);
    loop {
        let start = Instant::now();
        let held = client.attempt(&resource).await;
        took.push(start.elapsed());
        if let Some(held) = held {
            wins += 1.0;
            client.release(held).await;
        }
        if Instant::now() >= until {
            break;
        }
    }
    let tries = took.len() as f64;
    let samples: Samples = took.into_iter().collect();
    vec![tries, wins, micros(samples.p50())]
}
