//! The crate `rslock`.

use crate::peer::Peer;
use rslock::{Lock, LockManager};
use std::time::Duration;

pub(crate) struct Rslock(LockManager);

impl Peer for Rslock {
    type Held = Lock;

    async fn connect(urls: Vec<String>) -> Self {
        let mut manager = LockManager::new(urls);
        manager.set_retry(1, Duration::from_millis(200));
        Self(manager)
    }

    async fn attempt(&self, resource: &str, ttl: Duration) -> Option<Lock> {
        self.0.lock(resource, ttl).await.ok()
    }

    async fn extend(&self, held: &mut Lock, ttl: Duration) -> Option<bool> {
        let extended = self.0.extend(held, ttl).await;
        let is_extended = extended.is_ok();
        if let Ok(extended) = extended {
            *held = extended;
        }
        Some(is_extended)
    }

    async fn release(&self, held: Lock) {
        held.release().await;
    }
}
