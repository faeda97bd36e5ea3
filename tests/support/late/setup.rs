//! Five masters of either kind, of which three are behind proxies, and batches of acquires.

use super::super::poll::eventually;
use super::super::proxy::{Link, Wires};
use super::super::sabotage::Sabotage;
use super::super::witness::{self, Master};
use futures::future::join_all;
use quorumlock::{AcquireError, Guard, Redlock, RedlockBuilder};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Number of concurrent acquires, each of its own resource: as many as a client begins at once on masters that have
/// answered nothing for a while.
pub(crate) const BATCH: usize = 32;

pub(super) const OPERATION_TIMEOUT: Duration = Duration::from_millis(60);

/// Long enough for anything that will happen.
pub(super) const SOON: Duration = Duration::from_secs(20);

/// Five masters of some kind, with a proxy before each of the first three.
pub(crate) trait Place {
    type Master: Master;
    type Proxy: Deref<Target = Wires>;

    fn start() -> Self;

    fn masters(&self) -> &[Self::Master];

    fn proxies(&self) -> &[Self::Proxy];

    /// Configures a client, with a stream between it and the network that removes a safeguard.
    fn builder(&self, sabotage: Sabotage, spoiled: &Arc<AtomicU64>) -> RedlockBuilder;
}

/// A client of five masters.
pub(crate) struct Setup<P> {
    pub(crate) place: P,
    pub(crate) redlock: Redlock,
    pub(crate) spoiled: Arc<AtomicU64>,
    named: AtomicU64,
}

impl<P: Place> Setup<P> {
    pub(crate) async fn start(ttl: Duration) -> Self {
        Self::start_over(ttl, Sabotage::Nothing).await
    }

    pub(crate) async fn start_with(sabotage: Sabotage) -> Self {
        Self::start_over(Duration::from_secs(10), sabotage).await
    }

    async fn start_over(ttl: Duration, sabotage: Sabotage) -> Self {
        let (place, spoiled) = (P::start(), Arc::new(AtomicU64::new(0)));
        let builder = place.builder(sabotage, &spoiled).ttl(ttl);
        let builder = builder.operation_timeout(OPERATION_TIMEOUT);
        let redlock = builder.connect_timeout(Duration::from_millis(250)).connect().await.unwrap();
        // Ahead of the first round's commands is a question, which would be among their bytes.
        drop(redlock.acquire("first").await.unwrap().release().await);
        Self { place, redlock, spoiled, named: AtomicU64::new(0) }
    }

    pub(crate) async fn fail_a_batch(&self) {
        self.fail(&self.names()).await;
    }

    pub(super) async fn fail(&self, names: &[String]) {
        let acquires =
            names.iter().map(|name| self.redlock.try_acquire(name.as_str()).into_future());
        for result in join_all(acquires).await {
            assert!(matches!(&result, Err(AcquireError::NoQuorum(_))), "{result:?}");
        }
    }

    pub(crate) async fn hold_a_batch(&self) -> Vec<Guard> {
        let names = self.names();
        let acquires = names.iter().map(|name| self.redlock.acquire(name.as_str()).into_future());
        join_all(acquires).await.into_iter().map(Result::unwrap).collect()
    }

    pub(super) fn names(&self) -> Vec<String> {
        (0..BATCH).map(|_| format!("late:{:06}", self.number())).collect()
    }

    fn number(&self) -> u64 {
        self.named.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the connection that each of the first proxies carries now.
    pub(crate) fn links(&self, proxies: usize) -> Vec<Arc<Link>> {
        let newest = |proxy: &P::Proxy| proxy.link(proxy.connections() - 1);
        self.place.proxies()[..proxies].iter().map(newest).collect()
    }

    /// Waits until every node takes part again: one more lock is set on all five. By then,
    /// everything sent earlier on the same connections has been executed.
    pub(crate) async fn all_vote(&self) {
        eventually("a lock stands on every master", SOON, async || {
            let probe = format!("probe:{}", self.number());
            let Ok(_guard) = self.redlock.try_acquire(probe.as_str()).await else { return false };
            let patience = Instant::now() + OPERATION_TIMEOUT;
            while Instant::now() < patience {
                if witness::holders(self.place.masters(), &probe).await.len()
                    == self.place.masters().len()
                {
                    return true;
                }
                sleep(Duration::from_millis(2)).await;
            }
            false
        })
        .await;
    }

    /// Counts the keys on all masters together, except those of the probes.
    pub(crate) async fn late_keys(&self) -> usize {
        let keys = join_all(self.place.masters().iter().map(witness::keys)).await;
        keys.into_iter().flat_map(Result::unwrap).filter(|key| key.starts_with("late:")).count()
    }
}
