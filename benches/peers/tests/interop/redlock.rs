//! The crate `redlock`: blocking, and without an extension.

use crate::peer::Peer;
use redlock::{Lock, RedLock};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;

pub(crate) struct Redlock(Arc<RedLock>);

/// State needed to release the lock: the crate's own type borrows the client.
pub(crate) struct Held {
    resource: Vec<u8>,
    val: Vec<u8>,
}

impl Peer for Redlock {
    type Held = Held;

    /// It stops at the first error, and leaves what it had set.
    const BEARS_A_DEAD_MASTER: bool = false;

    async fn connect(urls: Vec<String>) -> Self {
        let mut once = RedLock::new(urls);
        once.set_retry(1, 200);
        Self(Arc::new(once))
    }

    async fn attempt(&self, resource: &str, ttl: Duration) -> Option<Held> {
        let (client, resource) = (self.0.clone(), resource.to_owned());
        let ttl_ms = usize::try_from(ttl.as_millis()).expect("a ttl that fits");
        let attempt = move || {
            let won = client.lock(resource.as_bytes(), ttl_ms).ok().flatten();
            won.map(|Lock { resource, val, .. }| Held { resource, val })
        };
        spawn_blocking(attempt).await.expect("an answer")
    }

    async fn extend(&self, _: &mut Held, _: Duration) -> Option<bool> {
        None
    }

    async fn release(&self, held: Held) {
        let client = self.0.clone();
        let release = move || {
            let Held { resource, val } = held;
            client.unlock(&Lock { resource, val, validity_time: 0, lock_manager: &client });
        };
        spawn_blocking(release).await.expect("an answer");
    }
}
