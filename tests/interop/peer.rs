//! What another client of the same masters can do, steered step by step.

use std::time::Duration;

/// A client that is not ours. One value is one contender.
pub(crate) trait Peer: Sized {
    /// What it knows of a lock that it has got.
    type Held;

    /// What it puts before a resource's name: our `key_prefix`.
    const PREFIX: &'static str = "";

    /// How many masters it is tried on.
    const MASTERS: usize = 3;

    /// Whether it gets locks while a minority of the masters is down.
    const BEARS_A_DEAD_MASTER: bool = true;

    /// How long its keys live where many contend. Shorter where it leaves keys behind: each keeps
    /// all others out for so long.
    const TTL_IN_A_STORM: Duration = Duration::from_secs(30);

    async fn connect(urls: Vec<String>) -> Self;

    /// One attempt.
    async fn attempt(&self, resource: &str, ttl: Duration) -> Option<Self::Held>;

    /// Whether it says that the lock has been prolonged. `None` if it has no such thing.
    async fn extend(&self, held: &mut Self::Held, ttl: Duration) -> Option<bool>;

    async fn release(&self, held: Self::Held);
}
