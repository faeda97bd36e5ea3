//! Work that is done at most once within a period.

use super::redlock::Redlock;
use super::wait;
use crate::failure::{AcquireError, OnceError};
use crate::guard::Lease;
use crate::kind::{Fenced, Kind, Unfenced};
use crate::once::{Ran, open, ran};
use crate::resource::IntoResources;
use std::future::IntoFuture;
use std::time::Duration;

/// Work that no other process starts within a period of its start.
///
/// It is [`quorumlock::Once`](crate::Once) for code without `async`: see there for what is promised.
///
/// ```no_run
/// # fn write_report() -> Result<u64, std::io::Error> { Ok(7) }
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// use quorumlock::Ran;
/// use std::time::Duration;
///
/// let report = redlock.once("report", Duration::from_secs(20));
/// match report.run(|_lease| write_report())? {
///     Ran::Done(pages) => println!("{pages} pages"),
///     Ran::Skipped => println!("another host has done it, or is about to"),
/// }
/// # Ok(()) }
/// ```
#[must_use = "nothing is asked before `run`"]
#[derive(Clone, Debug)]
pub struct Once<K: Kind = Unfenced> {
    inner: crate::Once<K>,
}

impl Redlock {
    /// Returns work on `resource` that is done at most once within `period`. See
    /// [`Redlock::once`](crate::Redlock::once).
    pub fn once(&self, resource: impl IntoResources, period: Duration) -> Once {
        Once { inner: self.inner().once(resource, period) }
    }
}

impl Once {
    /// Requests a fencing token along with the lock. See [`Acquire::fenced`](crate::Acquire::fenced).
    pub fn fenced(self) -> Once<Fenced> {
        Once { inner: self.inner.fenced() }
    }
}

impl<K: Kind> Once<K> {
    /// Sets how long the key lives unless it is released or extended. See
    /// [`Acquire::ttl`](crate::Acquire::ttl).
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.inner = self.inner.ttl(ttl);
        self
    }

    /// Sets how much longer than the ttl the key lives, unless it is released. See
    /// [`Acquire::lock_delay`](crate::Acquire::lock_delay).
    pub fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.inner = self.inner.lock_delay(lock_delay);
        self
    }

    /// Ends the keeper after this time. See
    /// [`Acquire::keep_alive_for`](crate::Acquire::keep_alive_for).
    pub fn keep_alive_for(mut self, span: Duration) -> Self {
        self.inner = self.inner.keep_alive_for(span);
        self
    }

    /// Runs `body` on this thread with the keeper on, if the resource is open. The work is skipped if
    /// another holder has the resource, or has had it within its period. See
    /// [`Once::run`](crate::Once::run).
    ///
    /// A body is not interrupted when the lock is lost. Have it call [`Lease::check`] before each
    /// side effect; the loss is reported when it returns, at the latest.
    ///
    /// # Errors
    ///
    /// [`OnceError::NotAcquired`] if the body was not run and it is not known whether the resource is
    /// open; in async code, too. [`OnceError::Failed`] with the body's own error.
    /// [`OnceError::Lost`] if the lock was lost before the body returned, with its result.
    pub fn run<T, E>(
        self,
        body: impl FnOnce(Lease<K>) -> Result<T, E>,
    ) -> Result<Ran<T>, OnceError<T, E>> {
        wait::may_wait("run()").map_err(AcquireError::from)?;
        let acquired = wait::until(self.inner.acquire()?.into_future());
        // A panic of the body drops the guard, and with it the lock.
        let Some(guard) = open(acquired)? else { return Ok(Ran::Skipped) };
        let result = body(guard.lease());
        let released = match result {
            Ok(_) => wait::until(guard.release()),
            Err(_) => wait::until(guard.release_at_once()),
        };
        ran(result, released)
    }
}
