//! The kind of a lock, with a fencing token or without. It is a type, so that no code reads a token
//! that isn't there.

use crate::fencing::FencingToken;
use std::fmt;

/// The kinds of acquire, guard and lease: [`Unfenced`], unless asked otherwise, [`Fenced`], and
/// [`Permitted`] for the permits of a [`Semaphore`](crate::Semaphore).
///
/// Sealed: there are no others.
pub trait Kind: sealed::Sealed + Copy + fmt::Debug + Send + Sync + Unpin + 'static {
    #[doc(hidden)]
    const IS_FENCED: bool;

    #[doc(hidden)]
    fn won_with(token: Option<FencingToken>, slot: Option<u8>) -> Self;
}

/// The kinds of lock that [`Guard::detach`](crate::Guard::detach) gives away: all but permits.
///
/// ```compile_fail,E0277
/// # async fn example(redlock: quorumlock::Redlock) {
/// let permit = redlock.semaphore("import", 10).acquire().await.unwrap();
/// let _ = permit.detach().await; // a permit is not `Detachable`
/// # }
/// ```
pub trait Detachable: Kind {}

impl Detachable for Unfenced {}

impl Detachable for Fenced {}

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

/// With the slot of a semaphore: the kind of a [`Permit`](crate::Permit). It has no fencing token.
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.semaphore("import", 10).acquire().fenced(); // no method of this name
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Permitted(u8);

impl Permitted {
    pub(crate) const fn slot(self) -> usize {
        self.0 as usize
    }
}

impl Fenced {
    pub(crate) const fn token(self) -> FencingToken {
        self.0
    }
}

impl sealed::Sealed for Unfenced {}

impl Kind for Unfenced {
    const IS_FENCED: bool = false;

    fn won_with(_: Option<FencingToken>, _: Option<u8>) -> Self {
        Self
    }
}

impl sealed::Sealed for Fenced {}

impl Kind for Fenced {
    const IS_FENCED: bool = true;

    fn won_with(token: Option<FencingToken>, _: Option<u8>) -> Self {
        // A fenced acquire always has one. The least token would be refused.
        Self(token.unwrap_or(FencingToken::LEAST))
    }
}

impl sealed::Sealed for Permitted {}

impl Kind for Permitted {
    const IS_FENCED: bool = false;

    fn won_with(_: Option<FencingToken>, slot: Option<u8>) -> Self {
        // An acquire of a permit always has one.
        Self(slot.unwrap_or_default())
    }
}
