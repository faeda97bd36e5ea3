//! The crate `redsync`: blocking, a new connection for each command, one master after another.

use super::client::Peer;
use super::{Client, TTL_MS};
use redsync::{Lock, RedisInstance, Redsync, RedsyncBuilder};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;

const TTL: Duration = Duration::from_millis(TTL_MS);

pub(super) const REDSYNC: Peer<Shared> = Peer::new("redsync");

#[derive(Clone)]
pub(crate) struct Shared {
    client: Arc<Redsync<RedisInstance>>,
    /// Configured in the same way, except for a single try.
    once: Arc<Redsync<RedisInstance>>,
}

impl Client for Shared {
    type Held = Lock;

    const WAITS_WITHOUT_A_THREAD: bool = false;

    async fn connect(masters: &[SocketAddr]) -> Self {
        let instances = || {
            let urls = masters.iter().map(|address| format!("redis://{address}"));
            urls.map(|url| RedisInstance::new(url).expect("a URL")).collect()
        };
        let once = RedsyncBuilder::new(instances()).retry_count(1).build();
        Self { client: Arc::new(Redsync::new(instances())), once: Arc::new(once) }
    }

    async fn acquire(&self, resource: &Arc<str>) -> Lock {
        let (client, resource) = (self.client.clone(), resource.clone());
        let acquire = move || loop {
            if let Ok(lock) = client.lock(&resource, TTL) {
                return lock;
            }
        };
        spawn_blocking(acquire).await.expect("a lock")
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Lock> {
        let (once, resource) = (self.once.clone(), resource.clone());
        spawn_blocking(move || once.lock(&resource, TTL).ok()).await.expect("an answer")
    }

    async fn release(&self, held: Lock) {
        let client = self.client.clone();
        let released = spawn_blocking(move || client.unlock(&held)).await;
        let _fewer_than_a_quorum = released.expect("an answer");
    }
}
