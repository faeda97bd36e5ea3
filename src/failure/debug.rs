//! Errors as `main` prints them.

use super::*;
use std::fmt;

debug_is_display!(
    AcquireError,
    AdoptErrorKind,
    Closed,
    ConnectError,
    Contended,
    Disagreement,
    ExtendError,
    HeldHere,
    InvalidSetting,
    ListError,
    Lost,
    NoQuorum,
    NoRandomness,
    NotReady,
    Overloaded,
    PreflightError,
    ReadyError,
    ReentrantError,
    { T } RunError<T>,
    ShutdownError,
    TooLate,
    Unadopted,
    Unextended,
    WrongContext,
);
#[cfg(feature = "config")]
debug_is_display!(ConfigError);

/// The body's own error is shown in its own form.
impl<T, E: fmt::Debug> fmt::Debug for OnceError<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAcquired(error) => fmt::Display::fmt(error, f),
            Self::Failed(error) => error.fmt(f),
            Self::Lost { lost, result } => {
                write!(f, "{lost}; the work {}", run::ended(result.as_ref()))
            }
        }
    }
}
