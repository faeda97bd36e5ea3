//! Work that is done at most once within a period, by whichever process is first.

use crate::acquire::{Acquire, delegate_option};
use crate::error::{AcquireError, InvalidSetting, RunError};
use crate::guard::Lease;
use crate::kind::{Fenced, Kind, Unfenced};
use crate::redlock::Redlock;
use crate::resource::IntoResources;
use crate::run::{ended, under};
use std::time::Duration;

/// Work that no other process starts within [`at_least`](Self::at_least) of its start: set that
/// time, then [`run`](Self::run) it.
///
/// ```no_run
/// # async fn write_report() -> Result<u64, std::io::Error> { Ok(7) }
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// let report = redlock.once("report").at_least(Duration::from_secs(20));
/// match report.run(async |_lease| write_report().await).await? {
///     Some(written) => println!("{} pages", written?),
///     None => println!("another host has done it, or is about to"),
/// }
/// # Ok(()) }
/// ```
///
/// A scheduler on each of several hosts calls this at the same time. One of them runs the body, and
/// the others find the resource closed: while the body runs, and then until the time is over. That
/// a clock is late, by less than that time, makes no difference.
///
/// Promised is that no second run *starts* within that time of the start of one that ends well, and
/// of one whose process dies or is cut off. Not promised:
///
/// - that a run gets to its end, or that there is one at all;
/// - anything after a body that returns an error, or panics, or is dropped: the resource opens at
///   once, for another host to try again;
/// - anything beyond [`max_ttl`](crate::RedlockBuilder::max_ttl), or after a
///   [`force_release`](Redlock::force_release).
///
/// See [`Acquire::at_least`] for what lies behind it, and for what to do daily.
#[must_use = "nothing is asked before `run`"]
#[derive(Clone, Debug)]
pub struct Once<K: Kind = Unfenced> {
    inner: Acquire<K>,
}

impl Redlock {
    /// Returns work on `resource` that is done at most once within a period, by whichever process
    /// is first. See [`Once`].
    pub fn once(&self, resource: impl IntoResources) -> Once {
        Once { inner: self.try_acquire(resource) }
    }
}

impl Once {
    /// Requests a fencing token along with the lock. See [`Acquire::fenced`].
    pub fn fenced(self) -> Once<Fenced> {
        Once { inner: self.inner.fenced() }
    }
}

impl<K: Kind> Once<K> {
    /// Sets the time from the start within which no other run starts; it has no default. At most
    /// [`max_ttl`](crate::RedlockBuilder::max_ttl). See [`Acquire::at_least`].
    pub fn at_least(mut self, span: Duration) -> Self {
        self.inner = self.inner.at_least(span);
        self
    }

    delegate_option!(ttl);
    delegate_option!(lock_delay);
    delegate_option!(keep_alive_for);

    /// Runs `body` with the keeper on, if the resource is open. Makes one attempt, and waits for no
    /// other holder.
    ///
    /// Returns `None` if another holder has the resource, or has had it within its period. Otherwise
    /// returns the body's result. If that is `Ok`, the resource stays closed; if it is an error,
    /// the resource is open again.
    ///
    /// The body is dropped at its next await when the lock is lost, as in [`Acquire::run`]: check
    /// the lease before each side effect all the same.
    ///
    /// # Errors
    ///
    /// [`RunError::NotAcquired`] if it is not known whether the resource is open, or if the call
    /// cannot succeed as it is; the body was not run. [`RunError::Lost`] if the lock was lost before
    /// the body returned, with its result if it returned all the same. The keys then stay until
    /// they expire.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it drops the body and opens the resource in the background.
    pub async fn run<T, E, F>(self, body: F) -> Result<Option<Result<T, E>>, RunError<Result<T, E>>>
    where
        F: AsyncFnOnce(Lease<K>) -> Result<T, E>,
    {
        let acquire = self.acquire().map_err(RunError::NotAcquired)?;
        let guard = match acquire.await {
            Ok(guard) => guard,
            Err(error) if error.is_contended() => return Ok(None),
            Err(error) => return Err(RunError::NotAcquired(error)),
        };
        let result = under(&guard, |lease| body(lease)).await?;
        let released = match result {
            Ok(_) => guard.release().await,
            Err(_) => guard.release_at_once().await,
        };
        ended(result, released).map(Some)
    }

    /// Returns the acquisition, with a keeper.
    pub(crate) fn acquire(self) -> Result<Acquire<K>, AcquireError> {
        if self.inner.stays_closed() {
            return Ok(self.inner.kept_alive());
        }
        let problem = "once() needs a time within which no other run starts, such as 20s; for work \
                       that may run again as soon as it has ended, use try_acquire()";
        Err(InvalidSetting::new("at_least", problem).into())
    }
}
