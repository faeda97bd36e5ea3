//! The kinds of a lock, and what its acquires have in common. They are types, so that no code reads a
//! token that isn't there, and no call has an option without a meaning.
//!
//! | [`Acquire`](crate::Acquire) of | from | options beside those of all |
//! |---|---|---|
//! | [`Guard`](crate::Guard), [`FencedGuard`](crate::FencedGuard) | [`Redlock::acquire`](crate::Redlock::acquire) | `min_hold`, `fair`, `keep_warm`, `fenced` |
//! | [`All`], [`All<FencedGuard>`](All) | [`Redlock::acquire_all`](crate::Redlock::acquire_all) | `min_hold`, `fenced` |
//! | [`ReentrantGuard`](crate::ReentrantGuard) | [`Reentrant::acquire`](crate::Reentrant::acquire) | `min_hold`, `fair`, `keep_warm` |
//! | [`Permit`](crate::Permit) | [`Semaphore::acquire`](crate::Semaphore::acquire) | `min_hold`, `fair` |
//! | [`WriteGuard`](crate::WriteGuard) | [`RwLock::write`](crate::RwLock::write) | `fenced` |
//! | [`ReadGuard`](crate::ReadGuard) | [`RwLock::read`](crate::RwLock::read) | |

pub use crate::acquire::{All, Exclusive, Fenceable, Held};

use crate::kind_name::KindName;
use std::fmt;
use std::marker::PhantomData;

/// The kinds of guard and lease: [`Unfenced`], unless asked otherwise, [`Fenced`], [`Permitted`] for the
/// permits of a [`Semaphore`](crate::Semaphore), [`Reading`] and [`Writing`] for an
/// [`RwLock`](crate::RwLock).
///
/// Sealed: there are no others.
pub trait Kind: sealed::Sealed + Copy + fmt::Debug + Send + Sync + Unpin + 'static {
    #[doc(hidden)]
    const IS_FENCED: bool = matches!(Self::NAME, KindName::Fenced);

    #[doc(hidden)]
    const NAME: KindName;
}

/// The kinds of lock that one client holds at a time, and that have a key to themselves: [`Unfenced`] and
/// [`Fenced`]. [`Guard::detach`](crate::Guard::detach) gives such a lock away, and on one resource it can be
/// [kept warm](crate::Acquire::keep_warm).
///
/// ```compile_fail,E0277
/// # async fn example(redlock: quorumlock::Redlock) {
/// let permit = redlock.semaphore("import", 10).acquire().await.unwrap();
/// let _ = permit.detach().await; // a permit is not `Detachable`
/// # }
/// ```
///
pub trait Detachable: Kind {}

/// The kinds whose waiters stand in one list, so that their acquires can be [`fair`](crate::Acquire::fair): those of
/// one resource, and of a semaphore.
///
/// ```
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.acquire("printer").fair(true).fenced();
/// let _ = redlock.acquire("printer").fenced().fair(true);
/// let _ = redlock.reentrant().acquire("printer").fair(true);
/// let _ = redlock.semaphore("import", 10).acquire().fair(true);
/// let _ = redlock.acquire_all(["a", "b"]);
/// # }
/// ```
///
/// Several resources have no list in common. In a read-write lock, writers come first:
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.acquire_all(["a", "b"]).fair(true);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.rw_lock("table:7").write().fair(true);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.rw_lock("table:7").read().fair(true);
/// # }
/// ```
pub trait Listed: Kind {}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Each row is a kind, its name, and what else it is.
macro_rules! kinds {
    ($($(#[$about:meta])+ $kind:ident = $name:ident: [$($other:ident),*];)+) => {$(
        $(#[$about])+
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct $kind;

        impl sealed::Sealed for $kind {}

        impl Kind for $kind {
            const NAME: KindName = KindName::$name;
        }

        $(impl $other for $kind {})*
    )+};
}

kinds! {
    /// Without a fencing token: the kind that [`Redlock::acquire`](crate::Redlock::acquire) returns.
    ///
    /// ```compile_fail,E0599
    /// # fn example(guard: quorumlock::Guard) {
    /// guard.fencing_token(); // no method of this name
    /// # }
    /// ```
    Unfenced = Plain: [Detachable, Listed];

    /// With a fencing token: the kind of a [`FencedGuard`](crate::FencedGuard).
    Fenced = Fenced: [Detachable, Listed, Numbered];

    /// With the slot of a semaphore: the kind of a [`Permit`](crate::Permit). It has no fencing token.
    Permitted = Permit: [Listed];

    /// The kind of a [`ReadGuard`](crate::ReadGuard). It has no fencing token.
    Reading = Reader: [];
}

/// The kind of a [`WriteGuard`](crate::WriteGuard), which has a fencing token if `K` is [`Fenced`].
#[derive(Clone, Copy, Debug)]
pub struct Writing<K: Kind = Unfenced>(PhantomData<K>);

/// The kinds with a fencing token: [`Fenced`], and [`Writing`] of it.
pub trait Numbered: Kind {}

impl<K: Numbered> Numbered for Writing<K> {}

impl<K: Kind> sealed::Sealed for Writing<K> {}

impl<K: Kind> Kind for Writing<K> {
    const IS_FENCED: bool = K::IS_FENCED;
    const NAME: KindName = KindName::Writer;
}
