//! The conformance suite against masters in containers. Every claim runs in turn on the same
//! masters, since separate masters for each would take minutes. The masters are empty and all up
//! each time.

use crate::support::conformance::{Backend, Claim, Cluster};
use crate::support::docker::{Containers, Profile, tell};
use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::RedlockBuilder;
use redis::{Cmd, Value};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

const CLAIMS: &[Claim] = &crate::support::conformance::claims!(crate::conformance::InContainers);

/// The containers, owned by the running test.
static SHARED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

struct Shared {
    containers: Containers,
    killed: Mutex<BTreeSet<usize>>,
}

/// The first few of them; a claim knows only these.
struct InContainers {
    shared: Arc<Shared>,
    len: usize,
}

impl Backend for InContainers {
    type Cluster = Self;

    async fn masters(len: usize) -> Self {
        let shared = SHARED.lock().unwrap().upgrade().expect("containers that run");
        assert!(len <= shared.containers.len());
        let cluster = Self { shared, len };
        let killed = cluster.shared.killed.lock().unwrap().clone();
        join_all(killed.into_iter().map(|node| cluster.restart(node))).await;
        // A claim has time limits, and new containers stand still for seconds at times.
        eventually("all answer in time", 12 * SOON, async || {
            let began = Instant::now();
            for node in 0..len {
                for command in [&["FLUSHALL"][..], &["CONFIG", "RESETSTAT"]] {
                    let done: String =
                        cluster.read(node, redis::cmd(command[0]).arg(&command[1..])).await;
                    assert_eq!(done, "OK");
                }
            }
            began.elapsed() < SECOND / 5
        })
        .await;
        cluster
    }
}

impl InContainers {
    /// Runs `action` on a blocking thread: Docker is slow, and the crate under test must not stall
    /// in the meantime.
    async fn blocking(&self, action: impl FnOnce(&Containers) + Send + 'static) {
        let shared = self.shared.clone();
        tokio::task::spawn_blocking(move || action(&shared.containers)).await.unwrap();
    }
}

impl Cluster for InContainers {
    fn len(&self) -> usize {
        self.len
    }

    fn builder_in(&self, database: i64) -> RedlockBuilder {
        let urls = self.shared.containers.urls().into_iter().take(self.len);
        // Docker starts other containers meanwhile, and all masters may answer late.
        let patient = builder().operation_timeout(900 * MS);
        patient.nodes(urls.map(|url| format!("{url}/{database}")))
    }

    async fn ask(&self, node: usize, command: &Cmd) -> Value {
        self.shared.containers.ask(node, command).await.unwrap()
    }

    async fn kill(&self, node: usize) {
        self.shared.killed.lock().unwrap().insert(node);
        self.blocking(move |containers| containers.kill(node)).await;
    }

    async fn restart(&self, node: usize) {
        self.blocking(move |containers| containers.restart(node)).await;
        self.shared.killed.lock().unwrap().remove(&node);
    }
}

/// Runs a claim on its own runtime and thread. No connection of it remains, and its failure message
/// begins with its name.
fn holds((name, claim): Claim) -> bool {
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(claim());
    };
    std::thread::Builder::new().name(name.to_owned()).spawn(run).unwrap().join().is_ok()
}

#[tokio::test]
async fn every_claim_holds_in_containers() {
    let began = Instant::now();
    let Some(containers) = Containers::start(Profile::Volatile).await else { return };
    let shared = Arc::new(Shared { containers, killed: Mutex::default() });
    *SHARED.lock().unwrap() = Arc::downgrade(&shared);
    let started = began.elapsed();
    let count = CLAIMS.len();
    let failed = tokio::task::spawn_blocking(move || {
        let failed = CLAIMS.iter().filter(|claim| !holds(**claim));
        failed.map(|(name, _)| name).collect::<Vec<_>>()
    });
    let failed = failed.await.unwrap();
    tell(&format!("{count} claims in {:.1?}, of which start {started:.1?}", began.elapsed()));
    assert!(failed.is_empty(), "{} of {count} claims failed: {failed:#?}", failed.len());
}
