//! The error of a body run under a lock.

use super::{AcquireError, Lost};
use std::fmt;

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
#[derive(Clone, PartialEq, Eq)]
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
        match self {
            Self::NotAcquired(error) => RunError::NotAcquired(error),
            Self::Lost { lost, result } => RunError::Lost { lost, result: result.map(drop) },
        }
    }
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

/// The source is the error inside, so that a caller can look at it without naming `T`.
impl<T> std::error::Error for RunError<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotAcquired(error) => Some(error),
            Self::Lost { lost, .. } => Some(lost),
        }
    }
}
