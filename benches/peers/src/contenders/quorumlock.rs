//! This crate, through its public API, with its defaults.

use super::client::Peer;
use super::{Client, Contender, one_thread, two_workers};
use crate::cell::Cell;
use crate::workloads::{Locker, Measured, Workload, alone, crowd};
use quorumlock::{AcquireError, Guard, Redlock, RedlockBuilder, Released, RestartGuard};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::runtime::Runtime;

pub(super) struct Quorumlock {
    name: &'static str,
    runtime: fn() -> Runtime,
}

pub(super) const ON_TWO_WORKERS: Quorumlock =
    Quorumlock { name: "quorumlock, two workers", runtime: two_workers };

pub(super) const ON_ONE_THREAD: Quorumlock =
    Quorumlock { name: "quorumlock, one thread", runtime: one_thread };

pub(super) const NAME: &str = "quorumlock";

pub(super) const APART: Peer<Redlock> = Peer::new(NAME);

impl Contender for Quorumlock {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, cell: &Cell) -> Measured {
        (self.runtime)().block_on(async {
            let redlock = connect(&cell.masters).await;
            let measured = match cell.workload {
                Workload::Alone | Workload::Fenced | Workload::Kept => {
                    alone::run(redlock.clone(), cell).await
                }
                Workload::Crowd | Workload::Warm => crowd::run(|_| redlock.clone(), cell).await,
            };
            redlock.shutdown().await.expect("all releases confirmed");
            measured
        })
    }
}

pub(super) async fn connect(masters: &[SocketAddr]) -> Redlock {
    builder(masters).connect().await.expect("masters that answer")
}

pub(super) fn builder(masters: &[SocketAddr]) -> RedlockBuilder {
    let urls = masters.iter().map(|address| format!("redis://{address}"));
    // The masters have been started for this: nothing was granted before.
    Redlock::builder().nodes(urls).restart_guard(RestartGuard::Off)
}

/// Checks whether an acquire goes on: a crowd may keep masters and clients too busy for votes in time.
pub(super) const fn is_crowded(error: &AcquireError) -> bool {
    error.is_contended() || error.is_no_quorum()
}

impl Locker for Redlock {
    type Held = Guard;

    async fn acquire(&mut self, resource: &Arc<str>) -> Guard {
        Redlock::acquire(self, resource.clone()).await.expect("a lock that no other task wants")
    }

    async fn release(&mut self, guard: Guard) {
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    }
}

impl Client for Redlock {
    type Held = Guard;

    async fn connect(masters: &[SocketAddr]) -> Self {
        connect(masters).await
    }

    async fn acquire(&self, resource: &Arc<str>) -> Guard {
        loop {
            match Self::acquire(self, resource.clone()).await {
                Ok(guard) => return guard,
                Err(error) => assert!(is_crowded(&error), "{error}"),
            }
        }
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Guard> {
        self.try_acquire(resource.clone()).await.ok()
    }

    async fn release(&self, guard: Guard) {
        guard.release().await.unwrap();
    }

    async fn close(self) {
        // Releases that masters that are down do not confirm are what others leave behind.
        let _unconfirmed = self.shutdown().await;
    }
}
