//! One acquisition: its options, and the calls that make it.

use super::guard::Guard;
use super::wait;
use crate::acquire::{Exclusive, Held as Awaited, Queued};
use crate::failure::{AcquireError, RunError};
use crate::guard::Lease;
use crate::kind::{self, sealed::Sealed};
use crate::run::ended;
use std::future::IntoFuture;
use std::time::Duration;

/// What an [`Acquire`] of this module yields: each of its guards, and
/// [`All`](crate::kind::All) of several resources.
///
/// ```
/// # fn example(redlock: quorumlock::blocking::Redlock) {
/// let _ = redlock.acquire("printer").fair();
/// let _ = redlock.acquire_all(["a", "b"]).fenced();
/// let _ = redlock.rw_lock("table:7").write().fenced();
/// let _ = redlock.semaphore("import", 10).acquire();
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::blocking::Redlock) {
/// let _ = redlock.semaphore("import", 10).acquire().fair(); // no queue
/// # }
/// ```
///
/// Sealed: there are no others.
pub trait Held: Sealed + Sized {
    /// The guard: the type itself, unless it is [`All`](crate::kind::All).
    type Guard;

    /// What its async twin yields, which decides which options there are.
    type Awaited: Awaited;

    #[doc(hidden)]
    fn holding(guard: <Self::Awaited as Awaited>::Guard) -> Self::Guard;
}

/// Those that can have a fencing token, as in [`kind::Fenceable`].
pub trait Fenceable: Held {
    /// The same with a fencing token.
    type Fenced: Held;
}

/// A pending acquisition: set options, then call [`lock`](Self::lock) or [`run`](Self::run).
///
/// ```no_run
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::AcquireError> {
/// use std::time::Duration;
///
/// let guard = redlock
///     .acquire("orders:42")
///     .ttl(Duration::from_secs(30))
///     .timeout(Duration::from_secs(5))
///     .lock()?;
/// # drop(guard);
/// # Ok(()) }
/// ```
///
/// Its options and guarantees are those of [`quorumlock::Acquire`](crate::Acquire).
#[must_use = "nothing is asked before `lock` or `run`"]
#[derive(Debug)]
pub struct Acquire<G: Held = Guard> {
    inner: crate::Acquire<G::Awaited>,
}

impl<G: Held> Clone for Acquire<G> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<G> Acquire<G>
where
    G: Fenceable,
    G::Awaited: kind::Fenceable<Fenced = <G::Fenced as Held>::Awaited>,
{
    /// Asks for a fencing token along with the lock. See
    /// [`Acquire::fenced`](crate::Acquire::fenced).
    ///
    /// ```no_run
    /// # fn charge(_: u64) {}
    /// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let guard = redlock.acquire("pay:7").fenced().lock()?;
    /// charge(guard.fencing_token().as_u64()); // refuses a number below the greatest it has seen
    /// # Ok(()) }
    /// ```
    pub fn fenced(self) -> Acquire<G::Fenced> {
        Acquire { inner: self.inner.fenced() }
    }
}

impl<G: Held> Acquire<G> {
    /// Sets how long the key lives unless it is released or extended. See
    /// [`Acquire::ttl`](crate::Acquire::ttl).
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with(|inner| inner.ttl(ttl))
    }

    /// Sets how much longer than the ttl the key lives, unless it is released. See
    /// [`Acquire::lock_delay`](crate::Acquire::lock_delay).
    pub fn lock_delay(self, lock_delay: Duration) -> Self {
        self.with(|inner| inner.lock_delay(lock_delay))
    }

    /// Sets for how long to keep trying. See [`Acquire::timeout`](crate::Acquire::timeout).
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|inner| inner.timeout(timeout))
    }

    /// Keeps trying until the lock is won; only a shutdown ends that earlier. See
    /// [`Acquire::no_timeout`](crate::Acquire::no_timeout).
    pub fn no_timeout(self) -> Self {
        self.with(crate::Acquire::no_timeout)
    }

    /// Extends the lock in the background. See [`Acquire::keep_alive`](crate::Acquire::keep_alive).
    #[doc(alias("watchdog", "heartbeat", "auto_renew", "auto_extend"))]
    pub fn keep_alive(self) -> Self {
        self.with(crate::Acquire::keep_alive)
    }

    /// Extends the lock in the background, for at most this long. See
    /// [`Acquire::keep_alive_for`](crate::Acquire::keep_alive_for).
    pub fn keep_alive_for(self, span: Duration) -> Self {
        self.with(|inner| inner.keep_alive_for(span))
    }

    /// Extends the lock in the background, without an end. See
    /// [`Acquire::keep_alive_forever`](crate::Acquire::keep_alive_forever).
    pub fn keep_alive_forever(self) -> Self {
        self.with(crate::Acquire::keep_alive_forever)
    }

    /// Names the holder of this lock, in place of the builder's label. Never a secret. See
    /// [`Acquire::label`](crate::Acquire::label).
    pub fn label(self, label: impl Into<String>) -> Self {
        self.with(|inner| inner.label(label))
    }
}

impl<G: Held<Awaited: Exclusive>> Acquire<G> {
    /// Keeps the resource closed for this long from the start, if the work ends well. See
    /// [`Acquire::min_hold`](crate::Acquire::min_hold).
    pub fn min_hold(self, span: Duration) -> Self {
        self.with(|inner| inner.min_hold(span))
    }
}

impl<G: Held<Awaited: Queued>> Acquire<G> {
    /// Queues fairly: waiters are served in order of arrival. See
    /// [`Acquire::fair`](crate::Acquire::fair).
    pub fn fair(self) -> Self {
        self.with(crate::Acquire::fair)
    }

    /// Keeps the lock in this process for this long after its guard was given back. See
    /// [`Acquire::keep_warm`](crate::Acquire::keep_warm).
    pub fn keep_warm(self, span: Duration) -> Self {
        self.with(|inner| inner.keep_warm(span))
    }
}

impl<G: Held> Acquire<G> {
    pub(super) const fn new(inner: crate::Acquire<G::Awaited>) -> Self {
        Self { inner }
    }

    fn with(
        self,
        option: impl FnOnce(crate::Acquire<G::Awaited>) -> crate::Acquire<G::Awaited>,
    ) -> Self {
        Self { inner: option(self.inner) }
    }

    /// Acquires the lock, and blocks this thread in the meantime: for as long as
    /// [`timeout`](Self::timeout) allows, plus an operation timeout.
    ///
    /// # Errors
    ///
    /// Those of [`quorumlock::Acquire`](crate::Acquire); none leaves a lock behind. Also
    /// [`AcquireError::WrongContext`], in async code; a re-entrant handle has it inside
    /// [`ReentrantError::NotAcquired`](crate::ReentrantError::NotAcquired).
    pub fn lock(self) -> Result<G::Guard, <G::Awaited as Awaited>::Error> {
        wait::may_wait("lock()").map_err(AcquireError::from)?;
        wait::until(self.inner.into_future()).map(G::holding)
    }
}

impl<G: Held<Awaited: Awaited<Error = AcquireError>>> Acquire<G> {
    /// Acquires the lock, runs `body` on this thread with the keeper on, and releases on every way
    /// out: when the body returns, or when it panics (the panic then continues).
    ///
    /// A body is not interrupted when the lock is lost. Have it call [`Lease::check`] before each
    /// side effect; the loss is reported when it returns, at the latest.
    ///
    /// ```no_run
    /// # fn charge() -> Result<u64, std::io::Error> { Ok(7) }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let redlock = quorumlock::blocking::Redlock::builder().connect()?;
    /// let receipt = redlock.acquire("pay:7").run(|lease| {
    ///     lease.check().map_err(std::io::Error::other)?;
    ///     charge()
    /// })??; // first the lock, then the body's own result
    /// # Ok(()) }
    /// ```
    ///
    /// `Ok` proves that the lock was held until the body had returned.
    ///
    /// # Errors
    ///
    /// [`RunError::NotAcquired`] if the body was not run, with an error of [`lock`](Self::lock).
    /// [`RunError::Lost`] if the lock was lost before the body returned, with its result.
    pub fn run<T>(
        self,
        body: impl FnOnce(Lease<<G::Awaited as Awaited>::Kind>) -> T,
    ) -> Result<T, RunError<T>> {
        let (_, acquire) = self.inner.kept_alive().into_parts();
        let kept = Acquire::<Guard<_>>::new(acquire);
        // A panic of the body drops the guard, and with it the lock.
        let guard = kept.lock().map_err(RunError::NotAcquired)?;
        let result = body(guard.lease());
        ended(result, guard.release())
    }
}
