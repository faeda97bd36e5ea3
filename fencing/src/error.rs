//! The errors of fencing tokens, on the protected side.

use super::FencingToken;
use std::error::Error;
use std::fmt;

/// A write with a smaller token than one that was seen before. Its sender was paused, or its
/// message was in flight, until after the lock had gone to another holder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StaleToken {
    /// The token that the write came with.
    pub presented: FencingToken,
    /// The greatest token that was seen for the resource.
    pub greatest: FencingToken,
}

/// A received value that is not a fencing token. The message names it, what is wrong, and what to
/// send.
///
/// Refuse the write, as with a stale token: nothing shows which client sent it.
///
/// ```
/// use quorumlock_fencing::FencingToken;
///
/// let error = "1.79e15".parse::<FencingToken>().unwrap_err();
/// assert!(error.to_string().contains("digits only"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidToken {
    /// The value that was received. A text is in quotes, and cut if it is long.
    pub received: String,
    /// The problem with it, and what to send.
    pub problem: &'static str,
}

impl InvalidToken {
    pub(crate) fn new(received: impl ToString, problem: &'static str) -> Self {
        Self { received: received.to_string(), problem }
    }
}

impl fmt::Display for StaleToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { presented, greatest } = self;
        write!(
            f,
            "stale fencing token {presented}: {greatest} has been seen, so another holder has the lock; do not retry it"
        )
    }
}

impl fmt::Display for InvalidToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fencing token {}: {}", self.received, self.problem)
    }
}

impl Error for StaleToken {}

impl Error for InvalidToken {}

// `unwrap` and `?` in `main` print an error by `Debug`: that is the message, too.
impl fmt::Debug for StaleToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for InvalidToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
