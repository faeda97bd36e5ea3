//! A body run under a lock.

use crate::acquire::Acquire;
use crate::error::{AcquireError, Lost};
use crate::guard::Lease;
use crate::kind::Kind;
use crate::released::Released;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

impl<K: Kind> Acquire<K> {
    /// Acquires the lock, runs `body` with the keeper on, and releases on every way out: when the
    /// body returns, is dropped, or panics.
    ///
    /// The body is dropped at its next await when the lock is lost. What it does between two awaits
    /// is not interrupted, so check the lease before each side effect all the same.
    ///
    /// ```no_run
    /// # async fn charge() -> Result<u64, std::io::Error> { Ok(7) }
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let receipt = redlock
    ///     .acquire("pay:7")
    ///     .run(async |lease| {
    ///         lease.check().map_err(std::io::Error::other)?;
    ///         charge().await
    ///     })
    ///     .await??; // first the lock, then the body's own result
    /// # Ok(()) }
    /// ```
    ///
    /// The lease of a [fenced](Acquire::fenced) acquire has its
    /// [`fencing_token`](Lease::fencing_token).
    ///
    /// `Ok` proves that the lock was held until the body had returned. It contains the body's
    /// result, even if that is an error: a release that is not confirmed in time does not hide it.
    ///
    /// # Errors
    ///
    /// [`RunError::NotAcquired`] if the body was not run. [`RunError::Lost`] if the lock was lost
    /// before the body returned, with its result if it returned all the same.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it drops the body and releases in the background.
    pub async fn run<T, F>(self, body: F) -> Result<T, RunError<T>>
    where
        F: AsyncFnOnce(Lease<K>) -> T,
    {
        let guard = self.kept_alive().await.map_err(RunError::NotAcquired)?;
        let finished = {
            let mut lost = pin!(guard.lost());
            let mut body = pin!(body(guard.lease()));
            poll_fn(|cx| {
                // First, so that a body is no longer polled once the lock is lost.
                if let Poll::Ready(lost) = lost.as_mut().poll(cx) {
                    return Poll::Ready(Err(lost));
                }
                body.as_mut().poll(cx).map(Ok)
            })
            .await
        };
        let result = match finished {
            Ok(result) => result,
            Err(lost) => return Err(RunError::Lost { lost, result: None }),
        };
        if let Err(lost) = guard.check() {
            return Err(RunError::Lost { lost, result: Some(result) });
        }
        // Held when the body returned: whatever the outcome of the release, the work was protected.
        let _: Released = guard.release().await;
        Ok(result)
    }
}

/// The reason why a body was not run to its end under the lock.
#[non_exhaustive]
pub enum RunError<T> {
    /// There was no lock, and the body was not run.
    NotAcquired(AcquireError),
    /// The lock was lost before the body returned: its work may have overlapped with another
    /// holder's.
    Lost {
        /// The time and the reason of the loss.
        lost: Lost,
        /// The body's result, if it returned before it could be dropped.
        result: Option<T>,
    },
}

impl<T> fmt::Display for RunError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAcquired(error) => error.fmt(f),
            Self::Lost { lost, result: None } => write!(f, "{lost}; the work was stopped"),
            Self::Lost { lost, result: Some(_) } => write!(f, "{lost}; the work had finished"),
        }
    }
}

/// Leaves out the body's result, which need not be `Debug`.
impl<T> fmt::Debug for RunError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAcquired(error) => f.debug_tuple("NotAcquired").field(error).finish(),
            Self::Lost { lost, result } => f
                .debug_struct("Lost")
                .field("lost", lost)
                .field("finished", &result.is_some())
                .finish_non_exhaustive(),
        }
    }
}

impl<T> std::error::Error for RunError<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotAcquired(error) => Some(error),
            Self::Lost { lost, .. } => Some(lost),
        }
    }
}
