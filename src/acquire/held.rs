//! The results of acquisitions, and the options that go with them: types, so that an option without
//! a meaning does not compile.

use super::future::{Asking, Direct};
use crate::failure::AcquireError;
use crate::guard::{FencedGuard, Guard};
use crate::kind::{Detachable, Fenced, Kind, Permitted, Writing, sealed::Sealed};
use std::marker::PhantomData;

/// The result of an [`Acquire`](crate::Acquire): each guard of the crate, and [`All`]. All of them
/// have `ttl`, `lock_delay`, `timeout`, `keep_alive` and `label`.
///
/// Sealed: there are no others.
pub trait Held: Sealed + Sized + 'static {
    /// The guard: the type itself, unless it is [`All`].
    type Guard;

    /// The reason why there is no guard.
    type Error: From<AcquireError>;

    /// The kind of its [`Lease`](crate::Lease).
    type Kind: Kind;

    #[doc(hidden)]
    type Doors: Clone + Send + Sync + Unpin;

    #[doc(hidden)]
    type Asking: Asking<Self>;
}

/// Guards with which a holder can keep others out after its work:
/// [`min_hold`](crate::Acquire::min_hold). A permit keeps its slot closed.
///
/// ```
/// # fn example(redlock: quorumlock::Redlock, span: std::time::Duration) {
/// let _ = redlock.acquire("job").min_hold(span);
/// let _ = redlock.semaphore("import", 10).acquire().min_hold(span);
/// let _ = redlock.rw_lock("table:7").read();
/// # }
/// ```
///
/// A resource does not stay closed behind a reader, nor behind the writer of a read-write lock:
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock, span: std::time::Duration) {
/// let _ = redlock.rw_lock("table:7").read().min_hold(span);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock, span: std::time::Duration) {
/// let _ = redlock.rw_lock("table:7").write().min_hold(span);
/// # }
/// ```
pub trait Exclusive: Held {}

/// Guards that can have a fencing token: [`fenced`](crate::Acquire::fenced).
///
/// ```
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.acquire("pay:7").fenced();
/// let _ = redlock.acquire_all(["a", "b"]).fenced();
/// let _ = redlock.rw_lock("table:7").write().fenced();
/// let _ = redlock.reentrant().fenced().acquire("r"); // the handle decides
/// let _ = redlock.rw_lock("table:7").read();
/// # }
/// ```
///
/// A reader has no token: with one line of numbers for both, a reader could win with the number of
/// the writer before it, so that this writer's late write passes beside the reader. Only if all
/// clients had even numbers for writers and odd ones for readers would they differ, older versions
/// included. Readers that must see a late write refused have the *writers* fenced: the store refuses
/// the late write by the number of the next writer, though not before that one has written.
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.rw_lock("table:7").read().fenced();
/// # }
/// ```
///
/// The numbers of a semaphore's slots would not compare, and a guard that joins a re-entrant hold
/// has the token of that hold:
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.semaphore("import", 10).acquire().fenced();
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.reentrant().acquire("r").fenced();
/// # }
/// ```
pub trait Fenceable: Held {
    /// The same with a fencing token.
    type Fenced: Held<Doors = Self::Doors>;
}

/// Marks the guard `G` of several resources:
/// [`acquire_all`](crate::Redlock::acquire_all) returns an `Acquire<All>`, which yields a [`Guard`].
#[derive(Debug)]
pub struct All<G = Guard>(PhantomData<fn() -> G>);

impl<K: Kind> Sealed for Guard<K> {}

impl<K: Kind> Held for Guard<K> {
    type Guard = Self;
    type Error = AcquireError;
    type Kind = K;
    type Doors = ();
    type Asking = Direct<Self>;
}

impl<K: Detachable> Exclusive for Guard<K> {}

impl Exclusive for Guard<Permitted> {}

impl Fenceable for Guard {
    type Fenced = FencedGuard;
}

impl Fenceable for Guard<Writing> {
    type Fenced = Guard<Writing<Fenced>>;
}

impl<K: Kind> Sealed for All<Guard<K>> {}

impl<K: Kind> Held for All<Guard<K>> {
    type Guard = Guard<K>;
    type Error = AcquireError;
    type Kind = K;
    type Doors = ();
    type Asking = Direct<Self>;
}

impl<K: Kind> Exclusive for All<Guard<K>> {}

impl Fenceable for All {
    type Fenced = All<FencedGuard>;
}
