//! Nested acquisitions: all code that goes through one re-entrant handle shares its holds.

use super::acquire::{Acquire, Held};
use super::wait;
use crate::failure::{ExtendError, Lost};
use crate::guard::{Deadline, Lease};
use crate::kind::{Fenced, Kind, Unfenced, sealed::Sealed};
use crate::released::Released;
use crate::resource::IntoResource;
use std::ops::Deref;

/// A re-entrant handle, whose acquisitions of one resource nest. It is
/// [`quorumlock::Reentrant`](crate::Reentrant) for code without `async`: a value to pass on, not a
/// thread.
///
/// ```no_run
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::ReentrantError> {
/// let locks = redlock.reentrant();
/// let outer = locks.acquire("account:1").keep_alive().lock()?;
/// let inner = locks.acquire("account:1").lock()?; // does not wait for itself
/// assert_eq!(inner.release()?, None);
/// outer.release()?; // the last one out releases
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Reentrant<K: Kind = Unfenced> {
    inner: crate::Reentrant<K>,
}

impl Reentrant {
    /// Returns a separate handle whose acquisitions are fenced. See
    /// [`Reentrant::fenced`](crate::Reentrant::fenced).
    #[must_use]
    pub fn fenced(self) -> Reentrant<Fenced> {
        Reentrant::new(self.inner.fenced())
    }
}

impl<K: Kind> Reentrant<K> {
    pub(super) const fn new(inner: crate::Reentrant<K>) -> Self {
        Self { inner }
    }

    /// Acquires `resource`, or joins in where this handle already holds it. No master is asked
    /// before [`lock`](Acquire::lock).
    pub fn acquire(&self, resource: impl IntoResource) -> Acquire<ReentrantGuard<K>> {
        Acquire::new(self.inner.acquire(resource))
    }

    /// Joins in where this handle already holds `resource`, or makes one attempt and does not wait
    /// while another holder has the lock.
    pub fn try_acquire(&self, resource: impl IntoResource) -> Acquire<ReentrantGuard<K>> {
        Acquire::new(self.inner.try_acquire(resource))
    }
}

/// One of the guards of a hold that a [`Reentrant`] handle has. Dropping it leaves the hold to the
/// others; the last one releases, in the background.
#[must_use = "the last guard that is dropped releases the lock: bind it to a name"]
#[derive(Debug)]
pub struct ReentrantGuard<K: Kind = Unfenced> {
    inner: crate::ReentrantGuard<K>,
}

/// A [`ReentrantGuard`] with a fencing token.
pub type FencedReentrantGuard = ReentrantGuard<Fenced>;

impl<K: Kind> Sealed for ReentrantGuard<K> {}

impl<K: Kind> Held for ReentrantGuard<K> {
    type Guard = Self;
    type Awaited = crate::ReentrantGuard<K>;

    fn holding(inner: crate::ReentrantGuard<K>) -> Self {
        Self { inner }
    }
}

impl<K: Kind> ReentrantGuard<K> {
    /// Returns the number of guards that the handle has of this hold, this one included.
    #[must_use]
    pub fn hold_count(&self) -> usize {
        self.inner.hold_count()
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

    /// Returns a read-only view of this lock for other threads.
    #[must_use]
    pub fn lease(&self) -> Lease<K> {
        self.inner.lease()
    }

    /// Gives this guard up. The last guard of a hold releases the lock, blocks for that, and
    /// returns the outcome; the others return `None` at once.
    ///
    /// # Errors
    ///
    /// [`Lost`] if the lock had been lost before, for each guard of the hold.
    pub fn release(self) -> Result<Option<Released>, Lost> {
        wait::until(self.inner.release())
    }
}

impl<K: Kind> Deref for ReentrantGuard<K> {
    type Target = Lease<K>;

    fn deref(&self) -> &Lease<K> {
        &self.inner
    }
}
