//! The operations of another client of the same masters, driven step by step.

use std::time::Duration;

/// A client that is not ours. Each value is one contender.
pub(crate) trait Peer: Sized {
    /// Its state for a lock that it has got.
    type Held;

    /// The prefix that it puts before a resource's name: our `key_prefix`.
    const PREFIX: &'static str = "";

    /// Number of masters that it is tested on.
    const MASTERS: usize = 3;

    /// Set if it gets locks while a minority of the masters is down.
    const BEARS_A_DEAD_MASTER: bool = true;

    /// The ttl of its keys where many contend. Shorter if it leaves keys behind, since each keeps
    /// all others out for that long.
    const TTL_IN_A_STORM: Duration = Duration::from_secs(30);

    async fn connect(urls: Vec<String>) -> Self;

    /// Makes one attempt.
    async fn attempt(&self, resource: &str, ttl: Duration) -> Option<Self::Held>;

    /// Extends the lock and returns whether it reports success. `None` if it has no such operation.
    async fn extend(&self, held: &mut Self::Held, ttl: Duration) -> Option<bool>;

    async fn release(&self, held: Self::Held);
}
