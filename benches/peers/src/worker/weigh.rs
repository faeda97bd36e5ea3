//! Allocations of the client, and how many bytes remain live, under a load.

use super::{Failed, WEIGH, Worker, number};
use crate::HEAP;
use crate::contenders::Client;
use futures::future::join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Longest time for acquiring locks: the blocking clients are slow.
const TAKING: Duration = Duration::from_secs(5);

/// Number of concurrent tasks that acquire locks.
const TAKERS: u64 = 16;

/// Bound on the time for everything in flight to settle.
const SETTLING: Duration = Duration::from_secs(1);

/// Bound on all of it together.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Load {
    pub(crate) locks: u64,
    pub(crate) waiters: u64,
    /// Locks that another client holds.
    pub(crate) elsewhere: u64,
    pub(crate) cycles: u64,
}

impl Load {
    pub(crate) fn resource_elsewhere(number: u64) -> String {
        format!("bench:weight:elsewhere:{number}")
    }
}

impl Worker {
    /// Returns the metrics of W8, in order.
    pub(crate) fn weigh(&mut self, load: &Load) -> Result<Vec<f64>, Failed> {
        let Load { locks, waiters, elsewhere, cycles } = load;
        self.order(&format!("{WEIGH} {locks} {waiters} {elsewhere} {cycles}"));
        self.answer(PATIENCE)
    }
}

pub(super) async fn obey<C: Client>(client: &C, order: &str) -> Vec<f64> {
    let mut words = order.split_whitespace();
    let [locks, waiters, elsewhere, cycles] = [(); 4].map(|()| number(&mut words));
    HEAP.count();
    let [allocations, allocated] = cycle(client, cycles).await;
    let first = HEAP.tally().live;
    let resident_first = resident();

    let held = hold(client, locks).await;
    let count = held.len() as f64;
    sleep(SETTLING).await;
    let per_lock = live(first) / count;
    let resident_per_lock = (resident() - resident_first) / count;
    release(client, held).await;

    let (mut waiting, mut spread) = (f64::NAN, f64::NAN);
    if C::WAITS_WITHOUT_A_THREAD {
        let own: Arc<str> = "bench:weight:own".into();
        let held = client.acquire(&own).await;
        waiting = wait(client, waiters, &[own]).await;
        client.release(held).await;
        let elsewhere = (0..elsewhere).map(|number| Load::resource_elsewhere(number).into());
        spread = wait(client, waiters, &elsewhere.collect::<Vec<_>>()).await;
    }
    sleep(SETTLING).await;
    vec![per_lock, resident_per_lock, waiting, spread, live(first) / count, allocations, allocated]
}

/// Returns the live bytes, minus those that were live at `first`.
fn live(first: i64) -> f64 {
    (HEAP.tally().live - first) as f64
}

/// Returns this process's memory, in bytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the state of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    let kib = line.trim().strip_suffix(" kB").expect("a unit");
    kib.parse::<f64>().expect("a number") * 1024.0
}

/// Returns allocations and their bytes for each acquire with its release, one after another.
async fn cycle<C: Client>(client: &C, cycles: u64) -> [f64; 2] {
    let resource: Arc<str> = "bench:weight:cycle".into();
    let mut first = HEAP.tally();
    // Tables and buffers reach their size before that.
    for cycle in 0..cycles + cycles / 10 {
        if cycle == cycles / 10 {
            first = HEAP.tally();
        }
        let held = client.acquire(&resource).await;
        client.release(held).await;
    }
    let last = HEAP.tally();
    let each = |first, last| (last - first) as f64 / cycles as f64;
    [each(first.allocations, last.allocations), each(first.bytes, last.bytes)]
}

/// Acquires as many locks as possible in time.
async fn hold<C: Client>(client: &C, locks: u64) -> Vec<C::Held> {
    let until = Instant::now() + TAKING;
    let takers = (0..TAKERS).map(|taker| {
        let client = client.clone();
        tokio::spawn(async move {
            let mut held = Vec::new();
            for lock in (taker..locks).step_by(TAKERS as usize) {
                held.push(client.acquire(&format!("bench:weight:{lock}").into()).await);
                if Instant::now() > until {
                    break;
                }
            }
            held
        })
    });
    let takers = join_all(takers.collect::<Vec<_>>()).await.into_iter();
    let mut held: Vec<_> = takers.flat_map(|held| held.expect("a task that ends")).collect();
    held.shrink_to_fit();
    held
}

async fn release<C: Client>(client: &C, held: Vec<C::Held>) {
    let mut givers: Vec<Vec<C::Held>> = (0..TAKERS).map(|_| Vec::new()).collect();
    for (number, held) in held.into_iter().enumerate() {
        givers[number % TAKERS as usize].push(held);
    }
    let givers = givers.into_iter().map(async |held| {
        for lock in held {
            client.release(lock).await;
        }
    });
    join_all(givers).await;
}

/// Returns the bytes for each of this many waiting tasks, which are then cancelled.
async fn wait<C: Client>(client: &C, waiters: u64, resources: &[Arc<str>]) -> f64 {
    let first = HEAP.tally().live;
    let tasks = (0..waiters).zip(resources.iter().cycle()).map(|(_, resource)| {
        let (client, resource) = (client.clone(), resource.clone());
        tokio::spawn(async move {
            let held = client.acquire(&resource).await;
            client.release(held).await;
        })
    });
    let tasks: Vec<_> = tasks.collect();
    sleep(SETTLING).await;
    assert!(!tasks.iter().any(|task| task.is_finished()), "a task that does not wait");
    let each = live(first) / waiters as f64;
    tasks.iter().for_each(|task| task.abort());
    for task in tasks {
        let ended = task.await;
        assert!(ended.is_err_and(|error| error.is_cancelled()), "a task that was not cancelled");
    }
    each
}
