//! The kind of a lock, with a fencing token or without. It is a type, so that no code reads a token
//! that isn't there.

use crate::fencing::FencingToken;
use std::fmt;

/// The two kinds of acquire, guard and lease: [`Unfenced`], unless asked otherwise, and [`Fenced`].
///
/// Sealed: there are no others.
pub trait Kind: sealed::Sealed + Copy + fmt::Debug + Send + Sync + Unpin + 'static {
    #[doc(hidden)]
    const IS_FENCED: bool;

    #[doc(hidden)]
    fn won_with(token: Option<FencingToken>) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

/// Without a fencing token: the kind that [`Redlock::acquire`](crate::Redlock::acquire) returns.
///
/// ```compile_fail,E0599
/// # fn example(guard: quorumlock::Guard) {
/// guard.fencing_token(); // no method of this name
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Unfenced;

/// With a fencing token: the kind that [`Acquire::fenced`](crate::Acquire::fenced) turns it into.
#[derive(Clone, Copy, Debug)]
pub struct Fenced(FencingToken);

impl Fenced {
    pub(crate) const fn token(self) -> FencingToken {
        self.0
    }
}

impl sealed::Sealed for Unfenced {}

impl Kind for Unfenced {
    const IS_FENCED: bool = false;

    fn won_with(_: Option<FencingToken>) -> Self {
        Self
    }
}

impl sealed::Sealed for Fenced {}

impl Kind for Fenced {
    const IS_FENCED: bool = true;

    fn won_with(token: Option<FencingToken>) -> Self {
        // A fenced acquire always has one. The least token would be refused.
        Self(token.unwrap_or(FencingToken::LEAST))
    }
}
