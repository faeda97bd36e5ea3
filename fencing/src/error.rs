//! The errors of fencing tokens, on the protected side.

use super::FencingToken;
use std::error::Error;
use std::fmt;

/// Makes an error of a type that has a message. `unwrap`, and `?` in `main`, print an error by
/// `Debug`: that is the message, too.
macro_rules! error_by_message {
    ($($error:ty),+) => {$(
        impl std::error::Error for $error {}

        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )+};
}

/// Makes `?` take a store's own error.
macro_rules! from_store_error {
    ($error:ty) => {
        impl From<$error> for $crate::FenceError<$error> {
            fn from(error: $error) -> Self {
                Self::Store(error)
            }
        }
    };
}

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

/// The reason for which a store has refused or failed a fenced read or write. `E` is the error of
/// the store's own crate.
///
/// Only [`Store`](Self::Store) is worth another try, and with the same token. If the lock has
/// expired by then, that try is stale at worst.
#[derive(Debug)]
#[non_exhaustive]
pub enum FenceError<E> {
    /// A later holder has been here. Nothing was written. This is final: give up the work, and
    /// acquire the lock again if the work still has to be done.
    Stale(StaleToken),
    /// The store has something else where the greatest token must be, so nothing can be compared.
    /// Nothing was written. A person has to look: most likely a writer without a token was here.
    Damaged(InvalidToken),
    /// The store has failed. Whether it has written is as unknown as for any write that failed in
    /// this way.
    Store(E),
}

impl StaleToken {
    /// Refuses a smaller token than the greatest one, and admits an equal one.
    pub(crate) fn check(presented: FencingToken, greatest: FencingToken) -> Result<(), Self> {
        if presented < greatest { Err(Self { presented, greatest }) } else { Ok(()) }
    }
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

impl<E: fmt::Display> fmt::Display for FenceError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale(stale) => stale.fmt(f),
            Self::Damaged(invalid) => write!(f, "the store can compare with no token: {invalid}"),
            Self::Store(error) => write!(f, "the store of the fenced data: {error}"),
        }
    }
}

impl<E: Error + 'static> Error for FenceError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Stale(stale) => Some(stale),
            Self::Damaged(invalid) => Some(invalid),
            Self::Store(error) => Some(error),
        }
    }
}

impl<E> From<StaleToken> for FenceError<E> {
    fn from(stale: StaleToken) -> Self {
        Self::Stale(stale)
    }
}

impl<E> From<InvalidToken> for FenceError<E> {
    fn from(invalid: InvalidToken) -> Self {
        Self::Damaged(invalid)
    }
}

error_by_message!(StaleToken, InvalidToken);
from_store_error!(std::io::Error);
