//! Work that is done at most once within a period.

use super::redlock::Redlock;
use super::wait;
use crate::acquire::delegate_option;
use crate::error::RunError;
use crate::guard::Lease;
use crate::kind::{Fenced, Kind, Unfenced};
use crate::resource::IntoResources;
use crate::run::ended;
use std::future::IntoFuture;
use std::time::Duration;

/// Work that no other process starts within [`at_least`](Self::at_least) of its start.
///
/// It is [`quorumlock::Once`](crate::Once) for code without `async`: see there for what is promised.
///
/// ```no_run
/// # fn write_report() -> Result<u64, std::io::Error> { Ok(7) }
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// let report = redlock.once("report").at_least(Duration::from_secs(20));
/// match report.run(|_lease| write_report())? {
///     Some(written) => println!("{} pages", written?),
///     None => println!("another host has done it, or is about to"),
/// }
/// # Ok(()) }
/// ```
#[must_use = "nothing is asked before `run`"]
#[derive(Clone, Debug)]
pub struct Once<K: Kind = Unfenced> {
    inner: crate::Once<K>,
}

impl Redlock {
    /// Returns work on `resource` that is done at most once within a period. See
    /// [`Redlock::once`](crate::Redlock::once).
    pub fn once(&self, resource: impl IntoResources) -> Once {
        Once { inner: self.inner().once(resource) }
    }
}

impl Once {
    /// Requests a fencing token along with the lock. See [`Acquire::fenced`](crate::Acquire::fenced).
    pub fn fenced(self) -> Once<Fenced> {
        Once { inner: self.inner.fenced() }
    }
}

impl<K: Kind> Once<K> {
    /// Sets the time from the start within which no other run starts. See
    /// [`Once::at_least`](crate::Once::at_least).
    pub fn at_least(mut self, span: Duration) -> Self {
        self.inner = self.inner.at_least(span);
        self
    }

    delegate_option!(ttl);
    delegate_option!(lock_delay);
    delegate_option!(keep_alive_for);

    /// Runs `body` on this thread with the keeper on, if the resource is open; returns `None` if
    /// another holder has it, or has had it within its period. See
    /// [`Once::run`](crate::Once::run).
    ///
    /// A body is not interrupted when the lock is lost. Have it call [`Lease::check`] before each
    /// side effect; the loss is reported when it returns, at the latest.
    ///
    /// # Errors
    ///
    /// [`RunError::NotAcquired`] if the body was not run and it is not known whether the resource is
    /// open; in async code, too. [`RunError::Lost`] if the lock was lost before the body returned,
    /// with its result.
    #[expect(clippy::type_complexity, reason = "as the async call has it")]
    pub fn run<T, E>(
        self,
        body: impl FnOnce(Lease<K>) -> Result<T, E>,
    ) -> Result<Option<Result<T, E>>, RunError<Result<T, E>>> {
        wait::may_wait("run()").map_err(|error| RunError::NotAcquired(error.into()))?;
        let acquire = self.inner.acquire().map_err(RunError::NotAcquired)?;
        // A panic of the body drops the guard, and with it the lock.
        let guard = match wait::until(acquire.into_future()) {
            Ok(guard) => guard,
            Err(error) if error.is_contended() => return Ok(None),
            Err(error) => return Err(RunError::NotAcquired(error)),
        };
        let result = body(guard.lease());
        let released = match result {
            Ok(_) => wait::until(guard.release()),
            Err(_) => wait::until(guard.release_at_once()),
        };
        ended(result, released).map(Some)
    }
}
