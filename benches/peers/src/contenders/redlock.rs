//! The crate `redlock`: blocking, a new connection for each command, one master after another.

use super::client::Peer;
use super::{Client, TTL_MS};
use redlock::{Lock, RedLock};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::task::spawn_blocking;

pub(super) const REDLOCK: Peer<Arc<RedLock>> = Peer::new("redlock");

/// State needed to release the lock: the crate's own type borrows the client.
pub(crate) struct Held {
    resource: Vec<u8>,
    val: Vec<u8>,
}

impl Held {
    fn of(lock: Lock<'_>) -> Self {
        Self { resource: lock.resource, val: lock.val }
    }
}

impl Client for Arc<RedLock> {
    type Held = Held;

    const WAITS_WITHOUT_A_THREAD: bool = false;

    async fn connect(masters: &[SocketAddr]) -> Self {
        let urls = masters.iter().map(|address| format!("redis://{address}"));
        Self::new(RedLock::new(urls.collect()))
    }

    async fn acquire(&self, resource: &Arc<str>) -> Held {
        let (client, resource) = (self.clone(), resource.clone());
        let acquire = move || loop {
            let won = client.lock(resource.as_bytes(), TTL_MS as usize);
            if let Some(lock) = won.expect("five masters that are up") {
                return Held::of(lock);
            }
        };
        spawn_blocking(acquire).await.expect("a lock")
    }

    async fn attempt(&self, resource: &Arc<str>) -> Option<Held> {
        let mut once = RedLock::clone(self);
        once.set_retry(1, 200);
        let resource = resource.clone();
        let attempt = move || {
            let won = once.lock(resource.as_bytes(), TTL_MS as usize);
            won.ok().flatten().map(Held::of)
        };
        spawn_blocking(attempt).await.expect("an answer")
    }

    async fn release(&self, held: Held) {
        let client = self.clone();
        let release = move || {
            let Held { resource, val } = held;
            client.unlock(&Lock { resource, val, validity_time: 0, lock_manager: &client });
        };
        spawn_blocking(release).await.expect("an answer");
    }
}
