//! This crate, where locks are kept warm: with no other client, with one that asks for them, or where tasks wait.

use super::client::Peer;
use super::quorumlock::connect;
use super::{Client, Contender, one_thread};
use crate::cell::Cell;
use crate::workloads::{Locker, Measured, crowd};
use quorumlock::{Guard, Redlock};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How long a lock stays idle.
const WARM: Duration = Duration::from_secs(2);

/// How often another client wants one of the locks.
const ASKS_EVERY: Duration = Duration::from_millis(100);

pub(super) struct Warm {
    pub(super) name: &'static str,
    is_asked: bool,
}

pub(super) const KEPT: Warm = Warm { name: "quorumlock, kept warm", is_asked: false };

pub(super) const ASKED: Warm =
    Warm { name: "quorumlock, kept warm, asked ten times a second", is_asked: true };

pub(super) const APART: Peer<KeptWarm> = Peer::new(KEPT.name);

impl Contender for Warm {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run(&self, cell: &Cell) -> Measured {
        let other = self.is_asked.then(|| Other::start(&cell.masters, cell.tasks));
        let measured = one_thread().block_on(async {
            let redlock = connect(&cell.masters).await;
            let measured = crowd::run(|_| KeptWarm(redlock.clone()), cell).await;
            redlock.shutdown().await.expect("all releases confirmed");
            measured
        });
        other.into_iter().for_each(Other::stop);
        measured
    }
}

#[derive(Clone)]
pub(super) struct KeptWarm(Redlock);

impl Client for KeptWarm {
    type Held = Guard;

    async fn connect(masters: &[SocketAddr]) -> Self {
        Self(connect(masters).await)
    }

    async fn acquire(&self, resource: &Arc<str>) -> Guard {
        loop {
            match self.0.acquire(resource.clone()).keep_warm(WARM).await {
                Ok(guard) => return guard,
                Err(error) => assert!(error.is_contended(), "{error}"),
            }
        }
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Guard> {
        self.0.try_acquire(resource.clone()).keep_warm(WARM).await.ok()
    }

    async fn release(&self, guard: Guard) {
        guard.release().await.expect("a lock that was held");
    }

    async fn close(self) {
        self.0.shutdown().await.expect("all releases confirmed");
    }
}

impl Locker for KeptWarm {
    type Held = Guard;

    async fn acquire(&mut self, resource: &Arc<str>) -> Guard {
        let acquire = self.0.acquire(resource.clone()).keep_warm(WARM);
        acquire.await.expect("a lock that the other client gives back at once")
    }

    async fn release(&mut self, guard: Guard) {
        guard.release().await.expect("a lock that was held");
    }
}

/// Another client, on a thread of its own, which wants one lock after the other.
struct Other {
    ends: Arc<AtomicBool>,
    has_had: Arc<AtomicUsize>,
    thread: thread::JoinHandle<()>,
}

impl Other {
    fn start(masters: &[SocketAddr], tasks: usize) -> Self {
        let (ends, has_had) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (until, won, masters) = (ends.clone(), has_had.clone(), masters.to_vec());
        let asks = async move {
            let redlock = connect(&masters).await;
            for turn in 0.. {
                if until.load(Ordering::Relaxed) {
                    break;
                }
                tokio::time::sleep(ASKS_EVERY).await;
                if let Ok(guard) = redlock.acquire(crowd::resource(turn % tasks)).await {
                    won.fetch_add(1, Ordering::Relaxed);
                    guard.release().await.expect("in time");
                }
            }
            redlock.shutdown().await.expect("all releases confirmed");
        };
        let thread = thread::spawn(move || one_thread().block_on(asks));
        Self { ends, has_had, thread }
    }

    fn stop(self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.join().expect("a client without a panic");
        assert!(self.has_had.load(Ordering::Relaxed) > 0, "it has never had a lock");
    }
}
