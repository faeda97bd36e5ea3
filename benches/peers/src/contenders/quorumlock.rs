//! This crate, through its public API, with its defaults.

use super::client::Peer;
use super::{Client, Contender, many_threads, one_thread};
use crate::workloads::{Locker, Measured, Workload, alone, crowd};
use quorumlock::{Guard, Redlock, Released};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

pub(super) struct Quorumlock {
    name: &'static str,
    runtime: fn() -> Runtime,
}

pub(super) const ON_MANY_THREADS: Quorumlock =
    Quorumlock { name: "quorumlock, multi-thread", runtime: many_threads };

pub(super) const ON_ONE_THREAD: Quorumlock =
    Quorumlock { name: "quorumlock, one thread", runtime: one_thread };

pub(super) const APART: Peer<Redlock> = Peer::new("quorumlock");

impl Contender for Quorumlock {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(
        &self,
        workload: Workload,
        masters: &[SocketAddr],
        warm_up: Duration,
        span: Duration,
    ) -> Measured {
        (self.runtime)().block_on(async {
            let redlock = connect(masters).await;
            let measured = match workload {
                Workload::Alone | Workload::Fenced => {
                    alone::run(redlock.clone(), warm_up, span).await
                }
                Workload::Crowd => crowd::run(|| redlock.clone(), warm_up, span).await,
            };
            redlock.shutdown().await.expect("all releases confirmed");
            measured
        })
    }
}

pub(super) async fn connect(masters: &[SocketAddr]) -> Redlock {
    let urls = masters.iter().map(|address| format!("redis://{address}"));
    // The masters have been started for this: nothing was granted before.
    let builder = Redlock::builder().nodes(urls).without_restart_guard();
    builder.connect().await.expect("five masters")
}

impl Locker for Redlock {
    type Held = Guard;

    async fn acquire(&mut self, resource: &Arc<str>) -> Guard {
        Redlock::acquire(self, resource.clone()).await.expect("a lock that nobody else wants")
    }

    async fn release(&mut self, guard: Guard) {
        assert_eq!(guard.release().await, Released::Released);
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
                Err(error) => assert!(error.is_contended(), "{error}"),
            }
        }
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Guard> {
        self.try_acquire(resource.clone()).await.ok()
    }

    async fn release(&self, guard: Guard) {
        guard.release().await;
    }

    async fn close(self) {
        // What masters that are down do not confirm is what others leave behind.
        let _unconfirmed = self.shutdown().await;
    }
}
