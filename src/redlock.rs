//! The handle that users clone.

use crate::driver::{Handle, Setup};
use crate::failure::{Closed, ReadyError, ShutdownError};
use quorumlock_core::status::Status;
use std::sync::Arc;
use std::time::Duration;

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

impl Redlock {
    /// Ends this coordinator for all clones. Waits until every release and rollback that is owed is
    /// confirmed, at most for the connect timeout and three operation timeouts: a master that is
    /// down for good must not keep a process from ending. It also waits no longer than the longest
    /// life of the keys to be deleted, which is the call's ttl and its lock-delay.
    ///
    /// Acquires in flight end with [`Closed`] and are rolled back. Guards
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

    /// Reports the standing of each master with this client, and whether a quorum of them may vote.
    /// Masters are not asked: it is what the client relies on anyway, as of now.
    ///
    /// A readiness probe that only needs a yes or a no can use [`Status::can_acquire`]. To wait
    /// until the answer is yes, use [`wait_until_ready`](Self::wait_until_ready).
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::Closed> {
    /// let status = redlock.status().await?;
    /// if !status.can_acquire() {
    ///     eprintln!("{status}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Closed`] after a shutdown.
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    pub async fn status(&self) -> Result<Status, Closed> {
        let status = self.driver.look(|machine, now| machine.masters().status(now));
        self.driver.answer(status).await
    }

    /// Waits until a quorum of each list may vote, for at most `within`. Intended for the start of
    /// a process, before it reports that it is ready. Completes at once if a quorum may vote
    /// already. Masters are not asked; the wait is notified when a master has been reached or has
    /// warmed up.
    ///
    /// The limit is an argument, so that it is not forgotten and the error can name the masters
    /// that were missing; zero looks once. A future that [`tokio::time::timeout`] drops reports
    /// less.
    ///
    /// An `Ok` describes a moment ago, and is not a promise: an acquire itself reports whether
    /// masters answer.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use quorumlock::Redlock;
    /// use std::time::Duration;
    ///
    /// let nodes = ["redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3"];
    /// let redlock = Redlock::builder().nodes(nodes).connect().await?;
    /// // Masters that have just started vote after 31 s.
    /// redlock.wait_until_ready(Duration::from_secs(60)).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ReadyError::NotReady`]: not within that time; it has the [`Status`].
    /// - [`ReadyError::Closed`]: shut down before or in the meantime.
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    pub async fn wait_until_ready(&self, within: Duration) -> Result<(), ReadyError> {
        Ok(self.driver.answer(self.driver.ready(within)).await??)
    }
}

debug_fields!(Redlock, redlock { options: redlock.setup.options });
