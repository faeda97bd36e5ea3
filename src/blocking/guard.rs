//! The guard that the caller holds after a win, and the calls of a lease that block.

use super::acquire::{Fenceable, Held};
use super::wait;
use crate::detached::Detached;
use crate::failure::{ExtendError, Lost, WrongContext};
use crate::guard::DetachError;
use crate::guard::{Deadline, Lease};
use crate::kind::{All, Detachable, Fenced, Kind, Unfenced, Writing, sealed::Sealed};
use crate::released::Released;
use std::ops::Deref;
use std::time::Duration;

/// A held lock. Dropping it releases in the background and never blocks.
///
/// It is [`quorumlock::Guard`](crate::Guard) for code without `async`, and is not bound to a
/// thread. It has all methods of a [`Lease`].
///
/// ```no_run
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let guard = redlock.acquire("orders:42").lock()?;
/// guard.check()?; // the time left, or the error to stop with
/// guard.release()?;
/// # Ok(()) }
/// ```
#[must_use = "a guard that is dropped releases its lock: bind it to a name, if only `_guard`"]
#[derive(Debug)]
pub struct Guard<K: Kind = Unfenced> {
    pub(super) inner: crate::Guard<K>,
}

/// A [`Guard`] with a fencing token.
pub type FencedGuard = Guard<Fenced>;

impl<K: Kind> Sealed for Guard<K> {}

impl<K: Kind> Held for Guard<K> {
    type Guard = Self;
    type Awaited = crate::Guard<K>;

    fn holding(guard: crate::Guard<K>) -> Self {
        Self::new(guard)
    }
}

impl Fenceable for Guard {
    type Fenced = FencedGuard;
}

impl Fenceable for Guard<Writing> {
    type Fenced = Guard<Writing<Fenced>>;
}

impl<K: Kind> Sealed for All<Guard<K>> {}

impl<K: Kind> Held for All<Guard<K>> {
    type Guard = Guard<K>;
    type Awaited = All<crate::Guard<K>>;

    fn holding(guard: crate::Guard<K>) -> Guard<K> {
        Guard::new(guard)
    }
}

impl Fenceable for All<Guard> {
    type Fenced = All<FencedGuard>;
}

impl<K: Kind> Guard<K> {
    pub(super) const fn new(inner: crate::Guard<K>) -> Self {
        Self { inner }
    }

    /// Moves the deadline to a full ttl from now, if a quorum of masters still holds our key. Blocks
    /// at most for the operation timeout. See [`Guard::extend`](crate::Guard::extend).
    ///
    /// # Errors
    ///
    /// [`ExtendError::Lost`] is final; [`ExtendError::Unextended`] leaves the old deadline in force.
    pub fn extend(&self) -> Result<Deadline, ExtendError> {
        wait::until(self.inner.extend())
    }

    /// Releases the lock, and blocks until a quorum of masters has deleted the key, at most for the
    /// operation timeout. See [`Guard::release`](crate::Guard::release).
    ///
    /// # Errors
    ///
    /// [`Lost`] if the lock had been lost before.
    #[doc(alias = "unlock")]
    pub fn release(self) -> Result<Released, Lost> {
        wait::until(self.inner.release())
    }

    /// Gives the lock away as a value, for [`adopt`](super::Redlock::adopt). Blocks at most for the
    /// operation timeout. See [`Guard::detach`](crate::Guard::detach).
    ///
    /// # Errors
    ///
    /// [`DetachError`], with this guard: nothing was given away.
    pub fn detach(self) -> Result<Detached<K>, DetachError<Self>>
    where
        K: Detachable,
    {
        wait::until(self.inner.detach()).map_err(|refused| refused.map(Self::new))
    }

    /// Gives the guard up and keeps the key until it expires. See
    /// [`Guard::forget`](crate::Guard::forget).
    pub fn forget(self) {
        self.inner.forget();
    }

    /// Returns a read-only view of this lock for other threads.
    #[must_use]
    pub fn lease(&self) -> Lease<K> {
        self.inner.lease()
    }
}

impl<K: Kind> Deref for Guard<K> {
    type Target = Lease<K>;

    fn deref(&self) -> &Lease<K> {
        &self.inner
    }
}

#[cfg_attr(docsrs, doc(cfg(feature = "blocking")))]
impl<K: Kind> Lease<K> {
    /// Blocks until the lock must no longer be relied on: until the deadline, or until a quorum is
    /// known to be gone. For a thread next to the one that works. Feature `blocking`.
    ///
    /// ```no_run
    /// # fn example(guard: quorumlock::blocking::Guard) {
    /// let lease = guard.lease();
    /// let watch = std::thread::spawn(move || lease.blocking_lost());
    /// # let _ = watch.join();
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WrongContext`] in async code; there, await [`lost`](Self::lost).
    pub fn blocking_lost(&self) -> Result<Lost, WrongContext> {
        wait::may_wait("blocking_lost()")?;
        Ok(wait::until(self.lost()))
    }

    /// Blocks in the same way for at most `span`; returns `None` if the lock is held until then. The
    /// span counts time that the machine sleeps only where the operating system's timers do; the
    /// deadline always does. Feature `blocking`.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # fn example(guard: quorumlock::blocking::Guard) -> Result<(), Box<dyn std::error::Error>> {
    /// for step in ["charge", "ship"] {
    ///     println!("{step}");
    ///     // A pause between two steps that ends at once when the lock is lost.
    ///     if let Some(lost) = guard.blocking_lost_within(Duration::from_secs(1))? {
    ///         return Err(lost.into());
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WrongContext`] in async code.
    pub fn blocking_lost_within(&self, span: Duration) -> Result<Option<Lost>, WrongContext> {
        wait::may_wait("blocking_lost_within()")?;
        Ok(wait::within(span, self.lost()))
    }

    /// Blocks until another client waits for this lock and has asked for it, or the lock is over. See
    /// [`wanted`](Self::wanted). Feature `blocking`.
    ///
    /// # Errors
    ///
    /// [`WrongContext`] in async code; there, await [`wanted`](Self::wanted).
    pub fn blocking_wanted(&self) -> Result<(), WrongContext> {
        wait::may_wait("blocking_wanted()")?;
        wait::until(self.wanted());
        Ok(())
    }

    /// Blocks in the same way for at most `span`; returns `false` if neither is so until then. Feature
    /// `blocking`.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # fn example(guard: quorumlock::blocking::Guard) -> Result<(), Box<dyn std::error::Error>> {
    /// while !guard.blocking_wanted_within(Duration::from_secs(1))? {
    ///     guard.extend()?; // no other client wants it
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WrongContext`] in async code.
    pub fn blocking_wanted_within(&self, span: Duration) -> Result<bool, WrongContext> {
        wait::may_wait("blocking_wanted_within()")?;
        Ok(wait::within(span, self.wanted()).is_some())
    }
}
