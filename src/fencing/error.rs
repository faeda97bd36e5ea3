//! The errors of fencing tokens, on the protected side.

use super::FencingToken;
use crate::report::OneLine;
use thiserror::Error;

/// A write with a smaller token than one that was seen before. Its sender was paused, or its
/// message was in flight, until after the lock had gone to another holder.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "stale fencing token {presented}: {greatest} has been seen, so another holder has the lock; \
     do not retry it"
)]
#[non_exhaustive]
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
/// use quorumlock::FencingToken;
///
/// let error = "1.79e15".parse::<FencingToken>().unwrap_err();
/// assert!(error.to_string().contains("digits only"));
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[error("fencing token {}: {problem}", OneLine(received))]
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

debug_is_display!(StaleToken, InvalidToken);
