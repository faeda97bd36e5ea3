//! The handle that users clone.

use crate::acquire::Acquire;
use crate::builder::RedlockBuilder;
use crate::coordinator::RequestId;
use crate::driver::Message;
use crate::driver::clock::Clock;
use crate::error::{Invalid, NotDrained};
use crate::lists::Resolved;
use crate::options::Options;
use crate::owner::Owner;
use crate::preflight::{self, Preflight};
use crate::quorum::Instant;
use crate::resource::IntoResources;
use crate::telemetry::Outlet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
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
/// guard.release().await;
/// redlock.shutdown().await?;
/// # Ok(()) }
/// ```
///
/// Each [`connect`](RedlockBuilder::connect) is a coordinator of its own, with one connection to
/// each master and one task that looks after them. Connect after a fork, not before.
#[derive(Clone)]
pub struct Redlock {
    shared: Arc<Shared>,
}

struct Shared {
    options: Options,
    masters: Resolved,
    requests: UnboundedSender<Message>,
    last_request: AtomicU64,
    clock: Clock,
    ended: Ended,
    outlet: Outlet,
}

/// How the coordinator has ended, once it has.
pub(crate) type Ended = Arc<OnceLock<Result<(), NotDrained>>>;

impl Redlock {
    /// Where a `Redlock` begins: an empty list of masters, and defaults for everything else.
    pub fn builder() -> RedlockBuilder {
        RedlockBuilder::new()
    }

    pub(crate) fn new(
        options: Options,
        masters: Resolved,
        requests: UnboundedSender<Message>,
        clock: Clock,
        ended: Ended,
        outlet: Outlet,
    ) -> Self {
        let last_request = AtomicU64::new(0);
        let shared = Shared { options, masters, requests, last_request, clock, ended, outlet };
        Self { shared: Arc::new(shared) }
    }

    /// Acquires the lock on `resource`, waiting while somebody else holds it or too few masters
    /// answer, but not for ever (10 s unless configured). Options per call are set on what this
    /// returns; await it to begin.
    ///
    /// `resource` is the key in Redis, behind the prefix if one is configured: 1 to 4096 bytes,
    /// without `quorumlock:` in it. Several, 64 at most, are locked together: all or nothing, under
    /// one guard with one deadline. Their order does not matter.
    ///
    /// Those in this process who want the same wait in the order in which they came, without traffic;
    /// a release passes the lock on to the next in one round trip. Between processes who waits is
    /// told of a release, and chance decides who is first.
    ///
    /// Nothing is remembered of who asks: to acquire once more what you hold waits, as for anybody
    /// else. Acquisitions that nest need an [`owner`](Self::owner).
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
        Acquire::new(self.clone(), resource.into_resources(), Some(self.shared.options.wait))
    }

    /// Makes one attempt, and does not wait while somebody else holds the lock; none at all if
    /// somebody in this process holds it or waits for it. The same options as
    /// [`acquire`](Redlock::acquire), with a wait of zero. An attempt that only our own fencing token
    /// or a forgotten script stood in the way of is made again at once.
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
        Acquire::new(self.clone(), resource.into_resources(), Some(Duration::ZERO))
    }

    /// Somebody whose acquisitions of one resource nest; clone it, or hand it on, to whatever is to
    /// share its holds. Each call makes another one, and they exclude each other.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner::new(self.clone())
    }

    /// Asks every master whether it is fit for this lock, as
    /// [`RedlockBuilder::preflight`] does before there is a connection. Locks that are held or
    /// waited for are not touched: it has connections of its own, also after a
    /// [`shutdown`](Self::shutdown).
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::error::Invalid> {
    /// let preflight = redlock.preflight().await?;
    /// if !preflight.is_ok() {
    ///     eprintln!("{preflight}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Invalid`]: there is no tokio runtime to run on. Masters that are down or unfit are
    /// findings of the [`Preflight`].
    ///
    /// # Panics
    ///
    /// On a tokio runtime that was built without `enable_time`.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, it closes its connections. Its keys that stood just then expire in 2 s.
    pub async fn preflight(&self) -> Result<Preflight, Invalid> {
        let Shared { masters, options, .. } = &*self.shared;
        preflight::run(masters, options).await
    }

    /// Ends this coordinator, for all clones: waits until every release and rollback that is owed
    /// is confirmed, at most for the connect timeout and three operation timeouts (a master that
    /// is down for good must not keep a process from ending), and no longer than the longest life
    /// of what is to be deleted, the call's ttl and its lock-delay.
    ///
    /// Acquires under way end with [`Closed`](crate::error::Closed) and are rolled back. Guards
    /// that are still held are told by `lost()`; their keys stay until their ttl is over, so
    /// release them first. A `main` that ends without this may leave keys behind for a ttl.
    ///
    /// # Errors
    ///
    /// [`NotDrained`] when masters did not confirm in time; as a rule one that went down while it was
    /// told to delete. Whatever it still has expires by itself. The same error again from every later
    /// call, and when the runtime went away first.
    ///
    /// # Cancel safety
    ///
    /// Safe: once polled, the shutdown goes on without you.
    pub async fn shutdown(&self) -> Result<(), NotDrained> {
        let (until_ended, ended) = oneshot::channel();
        self.send(Message::Shutdown(until_ended));
        // Dropped, not answered: by the driver when it ends, here if it has ended before.
        let _ = ended.await;
        self.shared.ended.get().cloned().unwrap_or(Ok(()))
    }

    /// Of the same `connect()`.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Where happenings are told.
    pub(crate) fn outlet(&self) -> &Outlet {
        &self.shared.outlet
    }

    pub(crate) fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    pub(crate) fn next_request(&self) -> RequestId {
        RequestId(self.shared.last_request.fetch_add(1, Ordering::Relaxed))
    }

    /// Never blocks and needs no runtime. If the driver has gone, the message is dropped, and
    /// whoever waits for its reply sees that.
    pub(crate) fn send(&self, message: Message) {
        let _ = self.shared.requests.send(message);
    }
}

impl fmt::Debug for Redlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redlock").field("options", &self.shared.options).finish_non_exhaustive()
    }
}
