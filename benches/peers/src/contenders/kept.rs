//! This crate, holding many locks that it keeps alive.

use super::quorumlock::connect;
use super::{Contender, one_thread, two_workers};
use crate::cell::Cell;
use crate::workloads::Measured;
use crate::workloads::kept::{self, LOCKS, TTL};
use futures::future::join_all;
use quorumlock::{Guard, Redlock, Released};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Number of tasks that acquire and release the locks.
const TASKS: usize = 64;

pub(super) struct Kept {
    name: &'static str,
    locks: usize,
    runtime: fn() -> Runtime,
}

/// The baseline for the others.
pub(super) const NONE: Kept = Kept { name: "none kept, one thread", locks: 0, runtime: one_thread };

pub(super) const ON_ONE_THREAD: Kept =
    Kept { name: "10,000 kept, one thread", locks: LOCKS, runtime: one_thread };

pub(super) const ON_TWO_WORKERS: Kept =
    Kept { name: "10,000 kept, two workers", locks: LOCKS, runtime: two_workers };

impl Contender for Kept {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, cell: &Cell) -> Measured {
        (self.runtime)().block_on(async {
            let run = async |redlock| kept::run(redlock, cell).await;
            while_kept(&cell.masters, self.locks, TTL, run).await
        })
    }
}

/// Measures with a client that keeps so many locks meanwhile.
pub(crate) async fn while_kept<T>(
    masters: &[SocketAddr],
    locks: usize,
    ttl: Duration,
    measure: impl AsyncFnOnce(Redlock) -> T,
) -> T {
    let redlock = connect(masters).await;
    let guards = keep(&redlock, locks, ttl).await;
    let measured = measure(redlock.clone()).await;
    give_back(guards).await;
    redlock.shutdown().await.expect("all releases confirmed");
    measured
}

async fn keep(redlock: &Redlock, locks: usize, ttl: Duration) -> Vec<Vec<Guard>> {
    let keepers = (0..TASKS).map(|task| {
        let redlock = redlock.clone();
        tokio::spawn(async move {
            let mut guards = Vec::new();
            for lock in (task..locks).step_by(TASKS) {
                let acquire = redlock.acquire(format!("bench:kept:{lock}")).ttl(ttl).keep_alive();
                guards.push(acquire.await.expect("a lock that no other task wants"));
            }
            guards
        })
    });
    let guards = join_all(keepers.collect::<Vec<_>>()).await.into_iter();
    guards.map(|guards| guards.expect("a task without a panic")).collect()
}

/// Releases all locks, which must have been kept.
async fn give_back(guards: Vec<Vec<Guard>>) {
    let givers = guards.into_iter().map(|guards| {
        tokio::spawn(async move {
            for guard in guards {
                assert_eq!(guard.release().await, Ok(Released::Confirmed));
            }
        })
    });
    for giver in join_all(givers.collect::<Vec<_>>()).await {
        giver.expect("a task without a panic");
    }
}
