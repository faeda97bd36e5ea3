//! The handle that users clone.

use crate::acquire::Acquire;
use crate::adopt::Adopt;
use crate::builder::RedlockBuilder;
use crate::detached::Detached;
use crate::driver::{Handle, Request};
use crate::error::{NotDrained, WrongContext};
use crate::kind::Kind;
use crate::lists::Resolved;
use crate::options::Options;
use crate::preflight::{self, Preflight};
use crate::reentrant::Reentrant;
use crate::resource::IntoResources;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

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
/// Each [`connect`](RedlockBuilder::connect) creates a coordinator of its own, with one connection
/// to each master and one task that drives them. Connect after a fork, not before.
#[derive(Clone)]
pub struct Redlock {
    setup: Arc<Setup>,
    driver: Handle,
}

struct Setup {
    options: Options,
    masters: Resolved,
}

impl Redlock {
    /// Returns a builder with an empty list of masters, and defaults for everything else.
    pub fn builder() -> RedlockBuilder {
        RedlockBuilder::new()
    }

    pub(crate) fn new(options: Options, masters: Resolved, driver: Handle) -> Self {
        Self { setup: Arc::new(Setup { options, masters }), driver }
    }

    /// Acquires the lock on `resource`. Waits while another holder has it or too few masters
    /// answer, but not indefinitely (10 s unless configured). Options for this call are set on the
    /// returned value; await it to begin.
    ///
    /// `resource` is the key in Redis, after the prefix if one is configured. It must have 1 to
    /// 4096 bytes and not contain `quorumlock:`. Several resources, at most 64, are locked
    /// together: all or nothing, under one guard with one deadline. Their order does not matter.
    ///
    /// Waiters in this process queue in order of arrival, without traffic; a release passes the
    /// lock on to the next one in one round trip. Between processes, waiters are notified of a
    /// release, and chance decides which of them is first, unless they wait in turn
    /// ([`fair`](Acquire::fair)).
    ///
    /// The client does not remember which caller acquires. Acquiring again what you already hold
    /// waits, as it does for any other caller. Nested acquisitions need a
    /// [`reentrant`](Self::reentrant) handle.
    ///
    /// See [`Acquire`] for errors and cancel safety.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let guard = redlock.acquire("orders:42").await?;
    /// let both = redlock.acquire(["account:1", "account:2"]).await?;
    /// # drop((guard, both));
    /// # Ok(()) }
    /// ```
    pub fn acquire(&self, resource: impl IntoResources) -> Acquire {
        let timeout = self.setup.options.acquire_timeout;
        Acquire::new(self.clone(), resource.into_resources(), timeout)
    }

    /// Makes one attempt and does not wait while another holder has the lock. Makes no attempt at
    /// all if another caller in this process holds the lock or waits for it. Takes the same options
    /// as [`acquire`](Redlock::acquire), with a timeout of zero. If only our own fencing token or a
    /// forgotten script stood in the way, the attempt is repeated at once.
    ///
    /// See [`Acquire`] for errors and cancel safety.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// use quorumlock::AcquireError;
    ///
    /// match redlock.try_acquire("nightly-report").await {
    ///     Ok(guard) => { /* this host writes it */ }
    ///     Err(AcquireError::Contended(_)) => { /* another one does */ }
    ///     Err(outage) => return Err(outage),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn try_acquire(&self, resource: impl IntoResources) -> Acquire {
        Acquire::new(self.clone(), resource.into_resources(), Duration::ZERO)
    }

    /// Adopts a lock that [`Guard::detach`](crate::Guard::detach) has turned into a value, here or in
    /// another process. Options for this call are set on the returned value; await it to begin.
    ///
    /// The lock is extended first. It is held from then on, and never counts as held for longer than
    /// that extension gives: no deadline comes along with the value. If it comes too late, it is
    /// lost. The masters must be the same, and so must the
    /// [`key_prefix`](RedlockBuilder::key_prefix).
    ///
    /// See [`Adopt`] for errors and cancel safety.
    pub fn adopt<K: Kind>(&self, detached: Detached<K>) -> Adopt<K> {
        Adopt::new(self.clone(), detached)
    }

    /// Returns a re-entrant handle, whose acquisitions of one resource nest. Clone it, or pass it
    /// on, to all code that is to share its holds. Each call returns a new handle, and these
    /// exclude each other.
    #[must_use]
    pub fn reentrant(&self) -> Reentrant {
        Reentrant::new(self.clone())
    }

    /// Asks every master whether it is fit for this lock, as [`RedlockBuilder::preflight`] does
    /// before there is a connection. It uses connections of its own, also after a
    /// [`shutdown`](Self::shutdown). Locks that are held or waited for are not touched.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::WrongContext> {
    /// let preflight = redlock.preflight().await?;
    /// if !preflight.is_ok() {
    ///     eprintln!("{preflight}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WrongContext`] if there is no tokio runtime to run on, with time and I/O. Masters that are
    /// down or unfit are findings of the [`Preflight`].
    ///
    /// # Cancel safety
    ///
    /// Safe: if dropped, it closes its connections. Any keys that it has set by then expire
    /// in 2 s.
    pub async fn preflight(&self) -> Result<Preflight, WrongContext> {
        let Setup { masters, options } = &*self.setup;
        preflight::run(masters, options).await
    }

    /// Ends this coordinator for all clones. Waits until every release and rollback that is owed is
    /// confirmed, at most for the connect timeout and three operation timeouts: a master that is
    /// down for good must not keep a process from ending. It also waits no longer than the longest
    /// life of the keys to be deleted, which is the call's ttl and its lock-delay.
    ///
    /// Acquires in flight end with [`Closed`](crate::error::Closed) and are rolled back. Guards
    /// that are still held are notified through `lost()`. Their keys stay until their ttl is over,
    /// so release them first. A `main` that ends without a shutdown may leave keys behind for a
    /// ttl.
    ///
    /// # Errors
    ///
    /// [`NotDrained`] if masters did not confirm in time, usually because one went down while it
    /// was asked to delete. The keys that it still has expire by themselves. Every later call
    /// returns the same error. It is also returned if the runtime went away first.
    ///
    /// # Cancel safety
    ///
    /// Safe: once polled, the shutdown continues even if this future is dropped.
    pub async fn shutdown(&self) -> Result<(), NotDrained> {
        let (until_ended, ended) = oneshot::channel();
        self.driver.send(Request::Shutdown(until_ended));
        // Dropped, not answered: by the driver when it ends, or here if it had already ended.
        let _ = ended.await;
        self.driver.ended()
    }

    pub(crate) fn options(&self) -> &Options {
        &self.setup.options
    }

    pub(crate) fn masters(&self) -> &Resolved {
        &self.setup.masters
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
