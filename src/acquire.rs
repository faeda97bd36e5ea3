//! One acquisition as the caller sees it: its options, and the future that it becomes.

mod delegate;
mod future;
mod request;

pub(crate) use delegate::{delegate_option, delegate_options};
pub use future::AcquireFuture;

use crate::error::AcquireError;
use crate::guard::Guard;
use crate::kind::{Fenced, Kind, Unfenced};
use crate::redlock::Redlock;
use crate::resource::Resources;
use quorumlock_core::coordinator::{KeepAlive, Label};
use quorumlock_core::quorum::Nanos;
use request::Turn;
use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// An acquisition that has not started: set its options, then await it.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
/// use std::time::Duration;
///
/// let guard = redlock
///     .acquire("orders:42")
///     .ttl(Duration::from_secs(30))
///     .timeout(Duration::from_secs(5))
///     .await?;
/// # drop(guard);
/// # Ok(()) }
/// ```
///
/// Bind the guard to a name, if only `_guard`: `let _ = redlock.acquire("r").await?;` drops it at
/// the end of that line, and with it the lock.
///
/// Code that takes a future, such as `spawn`, `join_all` or `Box::pin`, takes what `into_future()`
/// returns:
///
/// ```no_run
/// use std::future::IntoFuture; // only before edition 2024
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let task = tokio::spawn(redlock.acquire("orders:42").into_future());
/// let locks = ["a", "b"].map(|name| redlock.acquire(name).into_future());
/// let guards = futures::future::join_all(locks).await;
/// let boxed: futures::future::BoxFuture<_> = Box::pin(redlock.acquire("c").into_future());
/// # drop((task.await??, guards, boxed.await?));
/// # Ok(()) }
/// # fn blocks(runtime: &tokio::runtime::Runtime, redlock: quorumlock::Redlock) {
/// let guard = runtime.block_on(redlock.acquire("d").into_future());
/// # }
/// ```
///
/// `Ok` proves that a quorum of masters had set our key, each for the full ttl, at most
/// `ttl - remaining - drift` ago. It does not prove that the lock is still held when you look. Use
/// [`Lease::check`](crate::Lease::check) for that.
///
/// # Errors
///
/// - [`Contended`](crate::error::Contended): another holder has the lock.
/// - [`NoQuorum`](crate::error::NoQuorum): too few masters could vote in time.
/// - [`Disagreement`](crate::error::Disagreement): too few could vote because clients, or the
///   masters' clocks, disagree.
/// - [`InvalidSetting`](crate::InvalidSetting): a resource or a ttl that cannot work; nothing was
///   sent.
/// - [`NoRandomness`](crate::error::NoRandomness): the operating system provides no random bytes.
/// - [`Closed`](crate::error::Closed): this `Redlock` was shut down, or its runtime is gone.
///
/// No error leaves a lock behind, as long as the runtime lives. While the lock is contended or
/// there is no quorum, attempts go on until the timeout is over. The error is then that of the last
/// attempt.
///
/// # Cancel safety
///
/// Nothing is sent before the first poll. If the future is dropped after that, the coordinator
/// rolls the acquisition back on every master, without your help. A lock that was won at the same
/// moment is released. Only the place in the wait is lost, in a [queue](Self::fair), too.
#[must_use = "nothing is asked before this is awaited"]
#[derive(Clone)]
pub struct Acquire<K: Kind = Unfenced> {
    redlock: Redlock,
    resources: Resources,
    ttl: Duration,
    lock_delay: Duration,
    /// `None` waits forever.
    timeout: Option<Nanos>,
    keep_alive: Option<KeepAlive>,
    /// Shared, since it is part of every attempt.
    label: Option<Arc<Label>>,
    /// Zero if the keys need not stay.
    at_least: Nanos,
    turn: Turn,
    kind: PhantomData<fn() -> K>,
}

impl Acquire {
    /// Requests a fencing token along with the lock, in the same round trip. The token is a number
    /// greater than that of every earlier fenced win of this resource. Whatever is written to under
    /// the lock has to check it. The check refuses a holder that was paused past its deadline and
    /// does not know it yet.
    ///
    /// The guard is a [`FencedGuard`](crate::FencedGuard), and its token stays the same over
    /// extensions. Fenced and unfenced holders of one resource exclude each other, but the writes
    /// of unfenced holders are not checked. Fence all holders of a resource, or none.
    ///
    /// ```no_run
    /// # async fn charge(_: u64) {}
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.acquire("pay:7").fenced().await?;
    /// charge(guard.fencing_token().as_u64()).await; // refuses a number below the greatest it has seen
    /// # Ok(()) }
    /// ```
    pub fn fenced(self) -> Acquire<Fenced> {
        Acquire {
            redlock: self.redlock,
            resources: self.resources,
            ttl: self.ttl,
            lock_delay: self.lock_delay,
            timeout: self.timeout,
            keep_alive: self.keep_alive,
            label: self.label,
            at_least: self.at_least,
            turn: self.turn,
            kind: PhantomData,
        }
    }
}

impl<K: Kind> Acquire<K> {
    pub(crate) fn new(redlock: Redlock, resources: Resources, timeout: Duration) -> Self {
        let options = redlock.options();
        Self {
            ttl: options.ttl,
            lock_delay: options.lock_delay,
            turn: if options.fair { Turn::IfAlone } else { Turn::No },
            redlock,
            resources,
            timeout: Some(Nanos::of(timeout)),
            keep_alive: None,
            label: None,
            at_least: Nanos::of(Duration::ZERO),
            kind: PhantomData,
        }
    }

    /// Sets the life of the key on the masters, unless it is released or extended. The holder may
    /// rely on it for a little less (minus the drift, and the time that the acquisition took).
    /// Truncated to whole milliseconds. At most [`max_ttl`](crate::RedlockBuilder::max_ttl);
    /// default: the builder's [`ttl`](crate::RedlockBuilder::ttl).
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Lets the key live this much longer than the ttl, unless it is released. The resource of a
    /// crashed or lost holder stays closed for that long; a released one opens at once. The delay
    /// does not lengthen the time for which the holder may rely on the lock. Rounded up to whole
    /// milliseconds; ttl and delay together are at most
    /// [`max_ttl`](crate::RedlockBuilder::max_ttl). Default: the builder's
    /// [`lock_delay`](crate::RedlockBuilder::lock_delay).
    pub const fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.lock_delay = lock_delay;
        self
    }

    /// Sets the time for which to keep trying while another holder has the lock or too few masters
    /// answer. No attempt begins later than that; the last one may take an operation timeout
    /// longer. Default: the builder's [`acquire_timeout`](crate::RedlockBuilder::acquire_timeout);
    /// zero for `try_acquire`.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(Nanos::of(timeout));
        self
    }

    /// Keeps trying until the lock is won, however long that takes, outages included.
    pub const fn no_timeout(mut self) -> Self {
        self.timeout = None;
        self
    }

    /// Extends the lock in the background: at a third of the ttl, or up to a quarter of that
    /// sooner, so that locks that were won together are not extended together. If too few masters
    /// confirm, the extension is retried within the remaining time. This goes on until the lock is
    /// released or its time is over. If the lock is lost all the same,
    /// [`lost`](crate::Lease::lost) reports it, and the lock is never acquired again. A process
    /// that dies leaves the lock for one ttl, as any lock does.
    ///
    /// The keep-alive ends at the builder's [`max_hold`](crate::RedlockBuilder::max_hold), 1 h
    /// unless configured.
    pub fn keep_alive(mut self) -> Self {
        self.keep_alive = Some(KeepAlive::at_most(self.redlock.options().max_hold));
        self
    }

    /// Keeps the lock alive like [`keep_alive`](Self::keep_alive), for at most this long from the
    /// start of the attempt that wins. No deadline is moved beyond that, not even by
    /// [`Guard::extend`]. At least the ttl.
    pub const fn keep_alive_for(mut self, span: Duration) -> Self {
        self.keep_alive = Some(KeepAlive::at_most(span));
        self
    }

    /// Keeps the lock alive like [`keep_alive`](Self::keep_alive), without an end. A task that
    /// hangs while it holds the guard keeps all others out until its process ends.
    pub const fn keep_alive_forever(mut self) -> Self {
        self.keep_alive = Some(KeepAlive::FOREVER);
        self
    }

    /// Names the holder of this lock, in place of the builder's
    /// [`label`](crate::RedlockBuilder::label): with an address, others learn where the holder is.
    /// It is set with the lock, in the same command, and is gone with it. [`inspect`],
    /// [`list`](Redlock::list) and the error of a caller that finds the lock [held] show it.
    ///
    /// At most 512 bytes without control characters, and not ending like the term of an election
    /// (`;term=7`). An empty one is as good as none, and leaves the builder's out, too. It is never
    /// a secret: all who may read a key of the masters or `MONITOR` them see it, and errors and
    /// logs repeat it.
    ///
    /// [`inspect`]: Redlock::inspect
    /// [held]: crate::AcquireError::holder
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let guard = redlock.acquire("shard:7").label("10.0.0.7:8080").await?;
    /// # drop(guard);
    /// # Ok(()) }
    /// ```
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(Arc::new(Label::of_holder(label.into())));
        self
    }

    /// Keeps the resource closed for this long from the start of the attempt that wins, whenever
    /// the work ends: for a job that must not run again on another host a moment later. An example
    /// is a short job on hosts whose clocks differ.
    ///
    /// It applies if the work ends well, which [`Guard::release`] says, and if the process dies. A
    /// guard that is dropped, in an error or a panic, opens the resource at once, so that another
    /// host may try again. [`Redlock::once`] makes that distinction by the result of a body.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.try_acquire("every-minute").at_least(Duration::from_secs(20)).await?;
    /// // the job, which takes a second
    /// guard.release().await?; // closed for 19 seconds more
    /// # Ok(()) }
    /// ```
    ///
    /// The key lives that long from the start on, or for the ttl if that is longer, and the masters'
    /// clocks may be fast by the drift. The deadline depends on the ttl alone. If the lock is lost,
    /// the keys stay until they expire. Waiters are not notified when that time is over: they find
    /// out by asking. Until then, inspections and lists show the resource as held.
    ///
    /// No other acquire wins the resource within that time. This is not promised where a master
    /// forgets it and votes ([`RestartGuard::Off`](crate::RestartGuard::Off)), nor after a
    /// [`force_release`](Redlock::force_release). At most
    /// [`max_ttl`](crate::RedlockBuilder::max_ttl): the restart guard remembers no longer. A longer
    /// `max_ttl` has a cost, since a master that has restarted does not vote for that long. For a
    /// daily job, use a unique key in the database that the job writes to. Zero, the default, is for
    /// locks that open as soon as they are released.
    pub const fn at_least(mut self, span: Duration) -> Self {
        self.at_least = Nanos::of(span);
        self
    }

    /// Waits in turn: who has waited for longer gets the lock first, across all processes that ask
    /// for it with `fair()`.
    ///
    /// A free lock costs what it costs without this option: one command on each master. Who is
    /// refused joins a queue on the masters and looks at it once a second. A release keeps the lock
    /// for the first in that queue, for up to 4 s, and calls it. Who dies in the queue is skipped
    /// after 3 s; who gives up or is dropped leaves it at once.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let masters = quorumlock::embedded::Masters::start(3)?;
    /// # let redlock = masters.builder().connect().await?;
    /// let guard = redlock.acquire("printer").fair().await?;
    /// // those who ask in the meantime are served in the order in which they came
    /// guard.release().await?;
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))]
    /// # fn main() {}
    /// ```
    ///
    /// Who is stored at a quorum is served before all who come later, while its place lives: before
    /// those that wait in turn always, and before a first attempt as long as all masters of that quorum
    /// are held or kept. A first attempt may pass where one was open: where a key has expired, where
    /// the first in the queue came just behind the release and has not been granted yet, or where the
    /// holder was on some masters only. The order is one of processes: the tasks
    /// of one `Redlock` wait in a queue of its own, and only the first of them has a place on the
    /// masters.
    ///
    /// All clients of the resource should ask for it. One that does not may get in between by chance,
    /// and starves beside a queue that is never empty. Switch it on once all of them have a version
    /// that knows it: to an older one, a lock that is kept for the next is taken. The builder's
    /// [`fair`](crate::RedlockBuilder::fair) sets it for all calls.
    ///
    /// It is for one resource. For several together, and for the permits of a semaphore, it is an
    /// [`InvalidSetting`](crate::InvalidSetting). A single attempt
    /// ([`try_acquire`](Redlock::try_acquire), or a timeout of zero) joins no queue, and its release
    /// serves those who wait. A lock that is [detached](Guard::detach) is released like any other
    /// lock by the one who adopts it: the next in the queue then finds out by looking. The masters'
    /// user needs the rights to sorted sets that the page on permissions lists.
    pub const fn fair(mut self) -> Self {
        self.turn = Turn::Asked;
        self
    }

    /// The same with the value of a candidate, which is followed by the term. Candidates do not wait
    /// in turn: those who observe an election see one leader after the other, and no queue.
    pub(crate) fn candidate(mut self, value: &str) -> Self {
        self.label = Some(Arc::new(Label::of_candidate(value)));
        self.turn = Turn::No;
        self
    }

    /// Returns the acquisition with a keeper: its own, whenever that ends, or that of `keep_alive`.
    pub(crate) fn kept_alive(self) -> Self {
        if self.keep_alive.is_some() { self } else { self.keep_alive() }
    }

    /// Returns whether the resource stays closed for some time after its release.
    pub(crate) const fn stays_closed(&self) -> bool {
        !self.at_least.span().is_zero()
    }

    pub(crate) const fn resources(&self) -> &Resources {
        &self.resources
    }
}

impl<K: Kind> fmt::Debug for Acquire<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("resource", &self.resources.shown())
            .field("ttl", &self.ttl)
            .field("lock_delay", &self.lock_delay)
            .field("timeout", &self.timeout)
            .field("keep_alive", &self.keep_alive)
            .field("label", &self.label.as_ref().map(|label| label.text()))
            .field("at_least", &self.at_least)
            .field("turn", &self.turn)
            .field("fenced", &K::IS_FENCED)
            .finish_non_exhaustive()
    }
}

impl<K: Kind> IntoFuture for Acquire<K> {
    type Output = Result<Guard<K>, AcquireError>;
    type IntoFuture = AcquireFuture<K>;

    fn into_future(self) -> AcquireFuture<K> {
        AcquireFuture::new(self)
    }
}

#[cfg(test)]
mod tests;
