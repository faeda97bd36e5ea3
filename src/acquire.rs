//! One acquisition as the caller sees it: its options, and the future that it becomes.

mod future;
mod held;
mod options;

pub use future::AcquireFuture;
pub(crate) use future::Asking;
pub use held::{All, Exclusive, Fenceable, Held};

use crate::failure::InvalidSetting;
use crate::guard::Guard;
use crate::options::{check_keep_warm, check_label};
use crate::redlock::Redlock;
use crate::resource::Resources;
use quorumlock_core::coordinator::{AcquireRequest, Label};
use quorumlock_core::quorum::Nanos;
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
/// `G` is the guard that it yields, and decides which options there are: see [`kind`](crate::kind).
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
/// - [`Overloaded`](crate::error::Overloaded): this client asks for more locks at once than its masters
///   answer in time, and this one could not begin within its timeout; masters were not asked.
/// - [`InvalidSetting`]: a resource or a ttl that cannot work; the call
///   sent nothing.
/// - [`NoRandomness`](crate::error::NoRandomness): the operating system provides no random bytes.
/// - [`Closed`](crate::error::Closed): this `Redlock` was shut down, or its runtime is gone.
///
/// Errors leave no lock behind, as long as the runtime lives. While the lock is contended or
/// there is no quorum, attempts go on until the timeout is over. The error is then that of the last
/// attempt.
///
/// # Cancel safety
///
/// The future sends nothing before its first poll. If it is dropped after that, the coordinator
/// rolls the acquisition back on every master, without your help. A lock that was won at the same
/// moment is released. Only the place in the wait is lost, of a [fair](Self::fair) acquire, too.
#[must_use = "nothing is asked before this is awaited"]
#[derive(Debug)]
pub struct Acquire<G: Held = Guard> {
    pub(crate) terms: Terms,
    doors: G::Doors,
}

impl Redlock {
    /// Acquires the lock on `resource`. Waits while another holder has it or too few masters
    /// answer, but not indefinitely (10 s unless configured). Options for this call are set on the
    /// returned value; await it to begin.
    ///
    /// `resource` is the key in Redis, after the prefix if one is configured. It must have 1 to
    /// 4096 bytes and not contain `quorumlock:`. [`acquire_all`](Self::acquire_all) locks several
    /// together. A number is no name, since the same number may stand for an order and for an account:
    ///
    /// ```compile_fail,E0277
    /// # fn example(redlock: quorumlock::Redlock, id: u64) {
    /// let _ = redlock.acquire(id); // write format!("orders:{id}")
    /// # }
    /// ```
    ///
    /// Waiters in this process queue in order of arrival, without traffic; a release passes the
    /// lock on to the next one in one round trip. Between processes, waiters are notified of a
    /// release, and no order of theirs is promised unless they are [`fair`](Acquire::fair).
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
    /// # drop(guard);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "lock")]
    pub fn acquire(&self, resource: impl AsRef<str>) -> Acquire {
        Acquire::new((), self.clone(), Resources::One(resource.as_ref().into()))
    }

    /// Acquires several resources together, at most 64: all or nothing, under one guard with one
    /// deadline. Order and repetition do not matter. Otherwise as [`acquire`](Self::acquire); there is no
    /// [fair](Acquire::fair) order, since several resources have no list in common.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let both = redlock.acquire_all(["account:1", "account:2"]).await?;
    /// # drop(both);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "multilock")]
    pub fn acquire_all(&self, resources: impl IntoIterator<Item: AsRef<str>>) -> Acquire<All> {
        Acquire::new((), self.clone(), Resources::several(resources))
    }

    /// Makes one attempt and does not wait while another holder has the lock. Makes no attempt at
    /// all if another caller in this process holds the lock or waits for it. Takes the same options
    /// as [`acquire`](Redlock::acquire), with a timeout of zero. If only our own fencing token or a
    /// forgotten script was in the way, the attempt is repeated at once. If another client has the lock,
    /// the masters are asked which one, for the error: that takes one round trip more.
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
    #[doc(alias = "try_lock")]
    pub fn try_acquire(&self, resource: impl AsRef<str>) -> Acquire {
        self.acquire(resource).timeout(Duration::ZERO)
    }

    /// Makes one attempt to acquire several resources together, and does not wait. See
    /// [`acquire_all`](Self::acquire_all) and [`try_acquire`](Self::try_acquire).
    pub fn try_acquire_all(&self, resources: impl IntoIterator<Item: AsRef<str>>) -> Acquire<All> {
        self.acquire_all(resources).timeout(Duration::ZERO)
    }
}

impl<G: Held> Acquire<G> {
    pub(crate) fn new(doors: G::Doors, redlock: Redlock, resources: Resources) -> Self {
        Self { terms: Terms::new(redlock, resources), doors }
    }

    /// Returns the doors of the re-entrant handle, and the acquisition of the lock behind them.
    pub(crate) fn into_parts(self) -> (G::Doors, Acquire<Guard<G::Kind>>) {
        (self.doors, Acquire { terms: self.terms, doors: () })
    }

    /// The same with the value of a candidate, which is followed by the term. Candidates do not
    /// queue, and leave with their hold: the observers of an election see one leader after the other, and no queue.
    pub(crate) fn candidate(mut self, value: &str) -> Self {
        self.terms.label = Some(Arc::new(Label::Candidate(value.into())));
        self.terms.fair = false;
        self.terms.keep_warm = Some(Duration::ZERO);
        self
    }

    /// Returns the acquisition with a keeper: its own, whenever that ends, or that of `keep_alive`.
    pub(crate) fn kept_alive(self) -> Self {
        if self.terms.keep_alive.is_some() { self } else { self.keep_alive() }
    }
}

impl<G: Held> Clone for Acquire<G> {
    fn clone(&self) -> Self {
        Self { terms: self.terms.clone(), doors: self.doors.clone() }
    }
}

#[cfg(test)]
pub(crate) mod tests;

#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) redlock: Redlock,
    pub(crate) resources: Resources,
    pub(crate) ttl: Duration,
    pub(crate) lock_delay: Duration,
    timeout: Nanos,
    keep_alive: Option<Nanos>,
    /// Shared, since it is part of every attempt.
    label: Option<Arc<Label>>,
    /// Zero if the keys need not stay.
    pub(crate) min_hold: Nanos,
    /// Whether it is fair, where there is a list.
    fair: bool,
    /// How long the hold stays idle after its release. `None`: as long as the builder says, if nothing else that the
    /// acquire asks for has it released.
    keep_warm: Option<Duration>,
}

impl Terms {
    fn new(redlock: Redlock, resources: Resources) -> Self {
        let options = &redlock.setup.options;
        Self {
            ttl: options.ttl,
            lock_delay: options.lock_delay,
            timeout: Nanos::of(options.acquire_timeout),
            fair: options.fair,
            keep_warm: None,
            redlock,
            resources,
            keep_alive: None,
            label: None,
            min_hold: Nanos::of(Duration::ZERO),
        }
    }

    fn request(&self, is_fenced: bool) -> Result<AcquireRequest, InvalidSetting> {
        let options = &self.redlock.setup.options;
        options.check_may_acquire()?;
        options.check_resources(self.resources.names())?;
        if let Resources::AnyOf(pool) = &self.resources {
            pool.check(options)?;
        }
        let ttl = options.check_ttl("ttl", self.ttl)?;
        let lock_delay = options.check_lock_delay(self.lock_delay, ttl)?;
        if let Some(keep_alive) = self.keep_alive {
            let longest = keep_alive.span();
            let is_the_builders = longest == options.max_hold;
            let field = if is_the_builders { "max_hold" } else { "keep_alive_for" };
            options.check_max_hold(field, longest, ttl)?;
        }
        if let Some(label) = &self.label {
            let field = if label.is_candidate() { "candidate" } else { "label" };
            check_label(field, label.text())?;
        }
        if let Some(span) = self.keep_warm {
            check_keep_warm(span, self.fair, lock_delay, self.min_hold.span())?;
        }
        let keys = self.resources.locked(options);
        let keys = keys.ok_or_else(|| {
            let problem = "there is none: name at least one, such as \"orders:42\"";
            InvalidSetting::new("resource", problem)
        })?;
        let fence = |resource: &Arc<str>| options.fence(resource);
        Ok(AcquireRequest {
            keys,
            fences: is_fenced.then(|| self.resources.keys(fence)).flatten().map(Arc::new),
            ttl: ttl.into(),
            lock_delay: lock_delay.into(),
            wait: self.timeout,
            keep_alive: self.keep_alive,
            label: self.label.clone(),
            at_least: options.check_min_hold(self.min_hold.span())?,
            keep_warm: Nanos::of(self.keep_warm.unwrap_or(options.keep_warm)),
            is_fair: self.fair && self.resources.has_list(),
            probes: false,
        })
    }
}
