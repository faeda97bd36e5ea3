//! The errors of a call that cannot work as it is, or where it is made.

use crate::report::OneLine;
use thiserror::Error;

/// A setting or an argument that cannot work, found before anything was sent.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{field}: {}", OneLine(problem))]
#[non_exhaustive]
pub struct InvalidSetting {
    /// The setting or argument.
    pub field: &'static str,
    /// The problem with it, and what to do about it.
    pub problem: String,
}

/// The outcome of the check of a setting.
pub(crate) type Checked<T = ()> = Result<T, InvalidSetting>;

impl InvalidSetting {
    pub(crate) fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }

    /// Fails with the problem unless the setting works.
    pub(crate) fn unless<P: Into<String>>(
        works: bool,
        field: &'static str,
        problem: impl FnOnce() -> P,
    ) -> Checked {
        if works { Ok(()) } else { Err(Self::new(field, problem())) }
    }
}

/// A call that cannot work where it is made, whatever its arguments. It sent nothing.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WrongContext {
    /// There is no tokio runtime to run on.
    #[error(
        "{call} needs a tokio runtime with I/O and time enabled: await it on one, or build the \
         client with own_thread(true)"
    )]
    #[non_exhaustive]
    NoRuntime {
        /// The call.
        call: &'static str,
    },
    /// The tokio runtime was built without a driver that the call needs.
    #[error(
        "the tokio runtime has no {driver} driver, which {call} needs: build it with \
         tokio::runtime::Builder::enable_all()"
    )]
    #[non_exhaustive]
    NoDriver {
        /// The call.
        call: &'static str,
        /// The missing driver: `time` or `I/O`.
        driver: &'static str,
    },
    /// The call would block a thread that runs async tasks.
    #[error(
        "{call} would block a thread that runs async tasks: await the call there, or \
         wait in tokio::task::spawn_blocking"
    )]
    #[non_exhaustive]
    AsyncCode {
        /// The call.
        call: &'static str,
    },
    /// This process is a fork of the process that has connected.
    #[error("{call} is made in a fork of the process that has connected: connect after the fork")]
    #[non_exhaustive]
    Forked {
        /// The call.
        call: &'static str,
    },
    /// The operating system provides no thread for the client, or no means for that thread to wait.
    #[error(
        "the client has no thread ({}): raise the limits of threads and of open files, or close what is \
         not needed",
        OneLine(problem)
    )]
    #[non_exhaustive]
    NoThread {
        /// The operating system's error.
        problem: String,
    },
}

/// The operating system provides no random bytes, so no token could be drawn. This is rarely
/// transient: usually a sandbox denies `getrandom()`. Try again, and allow that call if the error
/// persists.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "the operating system provides no random bytes for a token: try again; if it persists, allow \
     getrandom() in the sandbox"
)]
#[non_exhaustive]
pub struct NoRandomness;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::AcquireError;

    #[test]
    fn missing_randomness_does_not_close_the_client() {
        let error = AcquireError::from(NoRandomness);
        assert!(!matches!(error, AcquireError::Closed(_)) && error.nodes().is_empty());
        assert!(error.to_string().contains("try again"), "{error}");
        let error = WrongContext::NoThread { problem: "EAGAIN".into() }.to_string();
        assert!(error.contains("(EAGAIN): raise the limits"), "{error}");
    }
}
