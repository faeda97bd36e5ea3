//! The crate `redsync`: blocking.

use crate::peer::Peer;
use redsync::{Lock, RedisInstance, RedsyncBuilder};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;

pub(crate) struct Redsync(Arc<redsync::Redsync<RedisInstance>>);

impl Peer for Redsync {
    type Held = Arc<Lock>;

    async fn connect(urls: Vec<String>) -> Self {
        let instances = urls.into_iter().map(|url| RedisInstance::new(url).expect("a URL"));
        Self(Arc::new(RedsyncBuilder::new(instances.collect()).retry_count(1).build()))
    }

    async fn attempt(&self, resource: &str, ttl: Duration) -> Option<Arc<Lock>> {
        let (client, resource) = (self.0.clone(), resource.to_owned());
        let attempt = move || client.lock(&resource, ttl).ok().map(Arc::new);
        spawn_blocking(attempt).await.expect("an answer")
    }

    async fn extend(&self, held: &mut Arc<Lock>, ttl: Duration) -> Option<bool> {
        let (client, lock) = (self.0.clone(), held.clone());
        Some(spawn_blocking(move || client.extend(&lock, ttl).is_ok()).await.expect("an answer"))
    }

    async fn release(&self, held: Arc<Lock>) {
        let client = self.0.clone();
        let released = spawn_blocking(move || client.unlock(&held)).await;
        let _fewer_than_a_quorum = released.expect("an answer");
    }
}
