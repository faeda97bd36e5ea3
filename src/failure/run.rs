//! The errors of a body run under a lock, and of a nested acquisition.

use super::{AcquireError, Lost};
use thiserror::Error;

/// The reason why a body was not run to its end under the lock. `T` is what the body returns: often
/// a `Result` of its own.
///
/// `?` turns it into a `Box<dyn Error + Send + Sync>`, or into the error type of `anyhow` and the
/// like:
///
/// ```no_run
/// # async fn charge() -> std::io::Result<u64> { Ok(7) }
/// type AnyError = Box<dyn std::error::Error + Send + Sync>;
///
/// async fn pay(redlock: &quorumlock::Redlock) -> Result<u64, AnyError> {
///     let paid = redlock.acquire("pay:7").run(async |lease| {
///         lease.check()?; // before each side effect
///         Ok::<u64, AnyError>(charge().await?)
///     });
///     paid.await? // first the lock's error, then the body's own result
/// }
/// ```
///
/// For that, `T` must be `Send`, `Sync` and `'static`. If it is not, take
/// [`without_result`](Self::without_result) first.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError<T> {
    /// There was no lock, and the body was not run.
    #[error("{0}")]
    NotAcquired(#[source] AcquireError),
    /// The lock was lost before the body returned: its work may have overlapped with another
    /// holder's.
    #[error("{lost}; the work {}", ended(result.as_ref()))]
    Lost {
        /// The time and the reason of the loss.
        #[source]
        lost: Lost,
        /// The body's result, if it returned before it could be dropped.
        result: Option<T>,
    },
}

impl<T> RunError<T> {
    /// Drops the body's result, so that the error is `Send`, `Sync` and `'static` whatever the body
    /// returns.
    ///
    /// ```no_run
    /// # use quorumlock::{Redlock, error::RunError};
    /// # async fn example(redlock: Redlock, log: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// let line: Option<&str> = redlock
    ///     .acquire("log")
    ///     .run(async |_lease| log.lines().next()) // borrows: not 'static
    ///     .await
    ///     .map_err(RunError::without_result)?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn without_result(self) -> RunError<()> {
        self.into_parts().0
    }

    /// Returns the lock's error, and the body's result, if it returned before it could be dropped: for an
    /// error type of your own that has one variant for locks, whatever ran under them.
    ///
    /// ```
    /// # use quorumlock::error::RunError;
    /// enum OrderError {
    ///     Lock(RunError<()>),
    /// }
    ///
    /// impl<T> From<RunError<T>> for OrderError {
    ///     fn from(error: RunError<T>) -> Self {
    ///         Self::Lock(error.into_parts().0)
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn into_parts(self) -> (RunError<()>, Option<T>) {
        match self {
            Self::NotAcquired(error) => (RunError::NotAcquired(error), None),
            Self::Lost { lost, result } => {
                let finished = result.is_some().then_some(());
                (RunError::Lost { lost, result: finished }, result)
            }
        }
    }
}

/// The reason why work that is done [once](crate::Once) in a period was not done under its lock. `T`
/// and `E` are what its body returns.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OnceError<T, E> {
    /// It is not known whether the resource is open, or the call cannot succeed as it is. The body was
    /// not run.
    #[error("{0}")]
    NotAcquired(#[from] AcquireError),
    /// The body has returned this error, and the resource is open again.
    #[error("{0}")]
    Failed(E),
    /// The lock was lost before the body returned: its work may have overlapped with another
    /// holder's.
    #[error("{lost}; the work {}", ended(result.as_ref()))]
    Lost {
        /// The time and the reason of the loss.
        #[source]
        lost: Lost,
        /// The body's result, if it returned before it could be dropped.
        result: Option<Result<T, E>>,
    },
}

impl<T, E> OnceError<T, E> {
    /// Returns the body's own error, or else the lock's: for an error type of your own that has a variant
    /// for each.
    ///
    /// ```
    /// # use quorumlock::error::{OnceError, RunError};
    /// enum ReportError {
    ///     Lock(RunError<()>),
    ///     Io(std::io::Error),
    /// }
    ///
    /// impl<T> From<OnceError<T, std::io::Error>> for ReportError {
    ///     fn from(error: OnceError<T, std::io::Error>) -> Self {
    ///         match error.into_failed() {
    ///             Ok(own) => Self::Io(own),
    ///             Err(lock) => Self::Lock(lock.without_result()),
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The lock's error: the body was not run, or the lock was lost before it returned.
    pub fn into_failed(self) -> Result<E, RunError<Result<T, E>>> {
        match self {
            Self::NotAcquired(error) => Err(RunError::NotAcquired(error)),
            Self::Failed(error) => Ok(error),
            Self::Lost { lost, result } => Err(RunError::Lost { lost, result }),
        }
    }
}

impl<T, E> From<RunError<Result<T, E>>> for OnceError<T, E> {
    fn from(error: RunError<Result<T, E>>) -> Self {
        match error {
            RunError::NotAcquired(error) => Self::NotAcquired(error),
            RunError::Lost { lost, result } => Self::Lost { lost, result },
        }
    }
}

/// Formats what became of the body of a lock that was lost.
pub(super) const fn ended<T>(result: Option<&T>) -> &'static str {
    if result.is_some() { "had finished" } else { "was stopped" }
}

/// The reason why a re-entrant handle has no guard.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReentrantError {
    /// The handle did not hold it, and could not acquire it.
    #[error(transparent)]
    NotAcquired(#[from] AcquireError),
    /// The handle's hold is lost: work under it must not continue, through any of its guards.
    #[error(transparent)]
    Lost(#[from] Lost),
}
