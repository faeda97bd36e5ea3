//! Nested acquisitions: all code that goes through one owner shares its holds.

use super::acquire::Acquire;
use super::guard::{Lease, hold, view};
use super::wait;
use crate::error::{AcquireError, ExtendError, Invalid, Lost};
use crate::fencing::FencingToken;
use crate::guard::Deadline;
use crate::kind::{Fenced, Kind, Unfenced};
use crate::owner::OwnerError;
use crate::released::Released;
use crate::resource::IntoResource;
use std::time::Duration;

/// An owner, whose acquisitions of one resource nest. It is [`quorumlock::Owner`](crate::Owner) for
/// code without `async`: a value to pass on, not a thread.
///
/// ```no_run
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), quorumlock::OwnerError> {
/// let owner = redlock.owner();
/// let outer = owner.acquire("account:1")?;
/// let inner = owner.acquire("account:1")?; // does not wait for itself
/// assert_eq!(inner.release(), None);
/// outer.release(); // the last one out releases
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Owner<K: Kind = Unfenced> {
    inner: crate::Owner<K>,
}

impl Owner {
    /// Returns a separate owner whose acquisitions are fenced. See
    /// [`Owner::fenced`](crate::Owner::fenced).
    #[must_use]
    pub fn fenced(self) -> Owner<Fenced> {
        Owner::new(self.inner.fenced())
    }
}

impl<K: Kind> Owner<K> {
    pub(super) const fn new(inner: crate::Owner<K>) -> Self {
        Self { inner }
    }

    /// Acquires `resource` with the options of the builder, or joins in where this owner already
    /// holds it. Unlike [`Redlock::acquire`](super::Redlock::acquire), it blocks at once.
    ///
    /// # Errors
    ///
    /// Those of [`acquire_with`](Self::acquire_with).
    pub fn acquire(&self, resource: impl IntoResource) -> Result<OwnedGuard<K>, OwnerError> {
        may_wait("acquire()")?;
        wait::until(self.inner.acquire(resource)).map(OwnedGuard::new)
    }

    /// Performs `acquire`, or joins in where this owner already holds its resource. See
    /// [`Owner::acquire_with`](crate::Owner::acquire_with).
    ///
    /// # Errors
    ///
    /// As there. Also [`OwnerError::NotAcquired`] with [`Invalid`] inside, in async code.
    pub fn acquire_with(&self, acquire: Acquire<K>) -> Result<OwnedGuard<K>, OwnerError> {
        may_wait("acquire_with()")?;
        wait::until(self.inner.acquire_with(acquire.into_inner())).map(OwnedGuard::new)
    }
}

fn may_wait(call: &str) -> Result<(), OwnerError> {
    Ok(wait::may_wait(call).map_err(AcquireError::Invalid)?)
}

/// One of the guards of a hold that an [`Owner`] has. Dropping it leaves the hold to the others;
/// the last one releases, in the background.
#[must_use = "dropping the last guard releases the lock"]
#[derive(Debug)]
pub struct OwnedGuard<K: Kind = Unfenced> {
    inner: crate::OwnedGuard<K>,
}

impl<K: Kind> OwnedGuard<K> {
    const fn new(inner: crate::OwnedGuard<K>) -> Self {
        Self { inner }
    }

    /// Returns the number of guards that this owner has of this hold, this one included.
    #[must_use]
    pub fn hold_count(&self) -> usize {
        self.inner.hold_count()
    }

    /// Gives this guard up. The last guard of a hold releases the lock, blocks for that, and
    /// returns the outcome; the others return `None` at once.
    pub fn release(self) -> Option<Released> {
        wait::until(self.inner.release())
    }
}

view!(OwnedGuard);
hold!(OwnedGuard);
