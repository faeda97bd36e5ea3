//! The crate `rslock`: one multiplexed connection for each master, all asked at once.

use super::client::Peer;
use super::{Client, TTL_MS};
use rslock::{Lock, LockManager};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const TTL: Duration = Duration::from_millis(TTL_MS);

pub(super) const RSLOCK: Peer<LockManager> = Peer::new("rslock");

impl Client for LockManager {
    type Held = Lock;

    async fn connect(masters: &[SocketAddr]) -> Self {
        Self::new(masters.iter().map(|address| format!("redis://{address}")).collect())
    }

    async fn acquire(&self, resource: &Arc<str>) -> Lock {
        self.acquire_no_guard(&**resource, TTL).await.expect("a ttl that is not too large")
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Lock> {
        let mut once = self.clone();
        once.set_retry(1, Duration::from_millis(200));
        once.lock(&**resource, TTL).await.ok()
    }

    async fn release(&self, held: Lock) {
        held.release().await;
    }
}
