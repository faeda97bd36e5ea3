//! The handle that users clone.

use crate::driver::Handle;
use crate::failure::ShutdownError;
use crate::lists::Resolved;
use crate::options::Options;
use std::fmt;
use std::sync::Arc;
use tokio::runtime::Handle as Runtime;

/// A coordinator for one set of masters. Clones share it.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use quorumlock::Redlock;
///
/// let redlock = Redlock::builder()
///     .nodes(["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"])
///     .connect()
///     .await?;
/// let guard = redlock.acquire("orders:42").await?;
/// // the work that only one may do
/// guard.release().await?;
/// redlock.shutdown().await?;
/// # Ok(()) }
/// ```
///
/// Each [`connect`](crate::RedlockBuilder::connect) creates a coordinator of its own, with one connection
/// to each master and one task that drives them. Connect after a fork, not before: in the child, each call of a client from
/// before fails at once, no guard is valid, and what is dropped releases nothing.
#[derive(Clone)]
#[doc(alias("mutex", "LockManager", "DistributedLock"))]
pub struct Redlock {
    pub(crate) setup: Arc<Setup>,
    pub(crate) driver: Handle,
}

pub(crate) struct Setup {
    pub(crate) options: Options,
    pub(crate) masters: Resolved,
    /// That of the client's own thread.
    pub(crate) own_runtime: Option<Runtime>,
}

impl Redlock {
    /// Ends this coordinator for all clones. Waits until every release and rollback that is owed is
    /// confirmed, at most for the connect timeout and three operation timeouts: a master that is
    /// down for good must not keep a process from ending. It also waits no longer than the longest
    /// life of the keys to be deleted, which is the call's ttl and its lock-delay.
    ///
    /// Acquires in flight end with [`Closed`](crate::error::Closed) and are rolled back. Guards
    /// that are still held are notified through `lost()`. Their keys stay until their ttl is over,
    /// so release them first. Locks that are kept [warm](crate::Acquire::keep_warm) and idle are released.
    /// A `main` that ends without a shutdown may leave keys behind for a
    /// ttl.
    ///
    /// # Errors
    ///
    /// [`ShutdownError`] if masters did not confirm in time, usually because one went down while it
    /// was asked to delete. The keys that it still has expire by themselves. Every later call
    /// returns the same error. It is also returned if the runtime went away first.
    ///
    /// # Cancel safety
    ///
    /// Safe: once polled, the shutdown continues even if this future is dropped.
    pub async fn shutdown(&self) -> Result<(), ShutdownError> {
        self.driver.close().await;
        self.driver.ended()
    }

    pub(crate) fn options(&self) -> &Options {
        &self.setup.options
    }

    pub(crate) fn masters(&self) -> &Resolved {
        &self.setup.masters
    }

    /// Returns the runtime of the client's own thread, if it has one.
    pub(crate) fn own_runtime(&self) -> Option<&Runtime> {
        self.setup.own_runtime.as_ref()
    }

    pub(crate) const fn driver(&self) -> &Handle {
        &self.driver
    }
}

impl fmt::Debug for Redlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redlock").field("options", &self.setup.options).finish_non_exhaustive()
    }
}
