//! One acquisition: its options, and the calls that make it.

use super::guard::{Guard, Lease};
use super::wait;
use crate::error::AcquireError;
use crate::kind::{Fenced, Kind, Unfenced};
use crate::run::RunError;
use std::future::IntoFuture;
use std::time::Duration;

/// A pending acquisition: set options, then call [`lock`](Self::lock) or [`run`](Self::run).
///
/// ```no_run
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::AcquireError> {
/// use std::time::Duration;
///
/// let guard = redlock
///     .acquire("orders:42")
///     .ttl(Duration::from_secs(30))
///     .wait(Duration::from_secs(5))
///     .lock()?;
/// # drop(guard);
/// # Ok(()) }
/// ```
///
/// Its options and guarantees are those of [`quorumlock::Acquire`](crate::Acquire).
#[must_use = "nothing is asked before `lock` or `run`"]
#[derive(Clone, Debug)]
pub struct Acquire<K: Kind = Unfenced> {
    inner: crate::Acquire<K>,
}

impl Acquire {
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
    pub fn fenced(self) -> Acquire<Fenced> {
        Acquire { inner: self.inner.fenced() }
    }
}

impl<K: Kind> Acquire<K> {
    pub(super) const fn new(inner: crate::Acquire<K>) -> Self {
        Self { inner }
    }

    pub(super) fn into_inner(self) -> crate::Acquire<K> {
        self.inner
    }

    fn with(self, set: impl FnOnce(crate::Acquire<K>) -> crate::Acquire<K>) -> Self {
        Self { inner: set(self.inner) }
    }

    /// Sets how long the key lives unless it is released or extended. See
    /// [`Acquire::ttl`](crate::Acquire::ttl).
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with(|acquire| acquire.ttl(ttl))
    }

    /// Sets how much longer than the ttl the key lives, unless it is released. See
    /// [`Acquire::lock_delay`](crate::Acquire::lock_delay).
    pub fn lock_delay(self, lock_delay: Duration) -> Self {
        self.with(|acquire| acquire.lock_delay(lock_delay))
    }

    /// Sets for how long to keep trying. See [`Acquire::wait`](crate::Acquire::wait).
    pub fn wait(self, wait: Duration) -> Self {
        self.with(|acquire| acquire.wait(wait))
    }

    /// Keeps trying until the lock is won. Only a [`shutdown`](super::Redlock::shutdown) from
    /// another thread ends it earlier. See [`Acquire::wait_forever`](crate::Acquire::wait_forever).
    pub fn wait_forever(self) -> Self {
        self.with(crate::Acquire::wait_forever)
    }

    /// Has the client's thread extend the lock in the background. See
    /// [`Acquire::keep_alive`](crate::Acquire::keep_alive).
    pub fn keep_alive(self) -> Self {
        self.with(crate::Acquire::keep_alive)
    }

    /// Same as [`keep_alive`](Self::keep_alive), for at most this long. See
    /// [`Acquire::max_hold`](crate::Acquire::max_hold).
    pub fn max_hold(self, max_hold: Duration) -> Self {
        self.with(|acquire| acquire.max_hold(max_hold))
    }

    /// Same as [`keep_alive`](Self::keep_alive), without an end. See
    /// [`Acquire::hold_forever`](crate::Acquire::hold_forever).
    pub fn hold_forever(self) -> Self {
        self.with(crate::Acquire::hold_forever)
    }

    /// Acquires the lock, and blocks this thread in the meantime: for as long as
    /// [`wait`](Self::wait) allows, plus an operation timeout.
    ///
    /// # Errors
    ///
    /// Those of [`quorumlock::Acquire`](crate::Acquire); none leaves a lock behind. Also
    /// [`AcquireError::Invalid`], with the field `thread`, in async code.
    pub fn lock(self) -> Result<Guard<K>, AcquireError> {
        wait::may_wait("lock()")?;
        wait::until(self.inner.into_future()).map(Guard::new)
    }

    /// Acquires the lock, runs `body` on this thread with the keeper on, and releases on every way
    /// out: when the body returns, or when it panics (the panic then continues).
    ///
    /// A body is not interrupted when the lock is lost. Have it call [`Lease::check`] before each
    /// side effect; the loss is reported when it returns, at the latest.
    ///
    /// ```no_run
    /// # fn charge() -> Result<u64, std::io::Error> { Ok(7) }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let redlock = quorumlock::blocking::Redlock::builder().connect_blocking()?;
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
    pub fn run<T>(self, body: impl FnOnce(Lease<K>) -> T) -> Result<T, RunError<T>> {
        let kept = Self { inner: self.inner.kept_alive() };
        // A panic of the body drops the guard, and with it the lock.
        let guard = kept.lock().map_err(RunError::NotAcquired)?;
        let result = body(guard.lease());
        if let Err(lost) = guard.check() {
            return Err(RunError::Lost { lost, result: Some(result) });
        }
        // Held when the body returned: whatever the outcome of the release, the work was protected.
        let _ = guard.release();
        Ok(result)
    }
}
