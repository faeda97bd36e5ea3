//! Work that is done at most once within a period, by whichever process is first.

use crate::acquire::Acquire;
use crate::failure::{AcquireError, InvalidSetting, OnceError};
use crate::guard::{Guard, Lease};
use crate::kind::{Fenced, Kind, Unfenced};
use crate::redlock::Redlock;
use std::time::Duration;

/// Work that no other process starts within a period of its start: [`run`](Self::run) it.
///
/// ```no_run
/// # async fn write_report() -> Result<u64, std::io::Error> { Ok(7) }
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// use quorumlock::Ran;
/// use std::time::Duration;
///
/// let report = redlock.once("report", Duration::from_secs(20));
/// match report.run(async |_lease| write_report().await).await? {
///     Ran::Done(pages) => println!("{pages} pages"),
///     Ran::Skipped => println!("another host has done it, or is about to"),
/// }
/// # Ok(()) }
/// ```
///
/// A scheduler on each of several hosts calls this at the same time. One of them runs the body, and
/// the others find the resource closed: while the body runs, and then until the time is over. That
/// a clock is late, by less than that time, makes no difference.
///
/// `Once` promises that a second run does not *start* within that time of the start of a run that
/// ends well, or whose process dies or is cut off. It does not promise:
///
/// - that a run gets to its end, or that there is one at all;
/// - anything after a body that returns an error, or panics, or is dropped: the resource opens at
///   once, for another host to try again;
/// - anything beyond [`max_ttl`](crate::RedlockBuilder::max_ttl), or after a
///   [`force_release`](Redlock::force_release).
///
/// See [`Acquire::min_hold`] for what lies behind it, and for what to do daily.
#[must_use = "nothing is asked before `run`"]
#[derive(Clone, Debug)]
pub struct Once<K: Kind = Unfenced> {
    inner: Acquire<Guard<K>>,
}

/// The outcome of a [`Once::run`] that has not failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran<T> {
    /// The body was run, and has returned this.
    Done(T),
    /// Another holder has the resource, or has had it within its period. The body was not run.
    Skipped,
}

impl Redlock {
    /// Returns work on `resource` that is done at most once within `period`, by whichever process is
    /// first. See [`Once`].
    ///
    /// `period` is at most [`max_ttl`](crate::RedlockBuilder::max_ttl), half a minute unless configured
    /// otherwise, since a key stays that long: it ends what several hosts start at the same time. For a job
    /// of each hour or night, see the cookbook.
    pub fn once(&self, resource: impl AsRef<str>, period: Duration) -> Once {
        Once { inner: self.try_acquire(resource).min_hold(period) }
    }
}

impl Once {
    /// Requests a fencing token along with the lock. See [`Acquire::fenced`].
    pub fn fenced(self) -> Once<Fenced> {
        Once { inner: self.inner.fenced() }
    }
}

impl<K: Kind> Once<K> {
    /// Sets how long the key lives unless it is released or extended. See [`Acquire::ttl`].
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { inner: self.inner.ttl(ttl) }
    }

    /// Sets how much longer than the ttl the key lives, unless it is released. See
    /// [`Acquire::lock_delay`].
    pub fn lock_delay(self, lock_delay: Duration) -> Self {
        Self { inner: self.inner.lock_delay(lock_delay) }
    }

    /// Ends the keeper after this time. See [`Acquire::keep_alive_for`].
    pub fn keep_alive_for(self, span: Duration) -> Self {
        Self { inner: self.inner.keep_alive_for(span) }
    }

    /// Runs `body` with the keeper on, if the resource is open. Makes one attempt, and waits for no
    /// other holder.
    ///
    /// If the body returns `Ok`, the resource stays closed; if it returns an error, the resource is
    /// open again. The work is skipped if another holder has the resource, or has had it within its
    /// period.
    ///
    /// The body is dropped at its next await when the lock is lost, as in [`Acquire::run`]: check
    /// the lease before each side effect all the same.
    ///
    /// # Errors
    ///
    /// [`OnceError::NotAcquired`] if it is not known whether the resource is open, or if the call
    /// cannot succeed as it is; the body was not run. [`OnceError::Failed`] with the body's own
    /// error. [`OnceError::Lost`] if the lock was lost before the body returned, with its result if it
    /// returned all the same. The keys then stay until they expire.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it drops the body and opens the resource in the background.
    pub async fn run<T, E, F>(self, body: F) -> Result<Ran<T>, OnceError<T, E>>
    where
        F: AsyncFnOnce(Lease<K>) -> Result<T, E>,
    {
        if self.inner.terms.min_hold.span().is_zero() {
            let problem = "once() needs a period within which no other run starts, such as 20s; for work \
                           that may run again as soon as it has ended, use try_acquire()";
            return Err(AcquireError::from(InvalidSetting::new("period", problem)).into());
        }
        let guard = match self.inner.kept_alive().await {
            Ok(guard) => guard,
            Err(error) if error.is_contended() => return Ok(Ran::Skipped),
            Err(error) => return Err(error.into()),
        };
        let result = guard.run_under(|lease| body(lease), Result::is_ok).await?;
        result.map(Ran::Done).map_err(OnceError::Failed)
    }
}
