//! Nested acquisitions: all code that goes through one owner shares its holds.

use crate::acquire::Acquire;
use crate::error::{AcquireError, Invalid, Lost};
use crate::guard::{Guard, Lease, outcome};
use crate::kind::{Fenced, Kind, Unfenced};
use crate::redlock::Redlock;
use crate::released::Released;
use crate::resource::{IntoResource, Resources};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use thiserror::Error;
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

/// An owner, whose acquisitions of one resource nest. The first one takes the lock, those inside it
/// take the hold as it is, and the last one out releases. Clones are the same owner.
///
/// An owner is a value that you pass on, and nothing else: no thread, no task. It excludes others
/// and not itself, so each piece of work should have its own.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::OwnerError> {
/// use quorumlock::{Owner, OwnerError};
///
/// async fn transfer(owner: &Owner) -> Result<(), OwnerError> {
///     let account = owner.acquire("account:1").await?;
///     withdraw(owner).await?; // takes the same lock, and does not wait for itself
///     account.release().await;
///     Ok(())
/// }
///
/// async fn withdraw(owner: &Owner) -> Result<(), OwnerError> {
///     let account = owner.acquire("account:1").await?;
///     account.check()?; // as ever, before each side effect
///     Ok(())
/// }
///
/// transfer(&redlock.owner()).await
/// # }
/// ```
#[derive(Clone)]
pub struct Owner<K = Unfenced> {
    redlock: Redlock,
    doors: Arc<Doors<K>>,
}

/// The doors that callers are using, by resource.
type Doors<K> = Mutex<HashMap<Arc<str>, Weak<Door<K>>>>;

/// The way to one resource: alive while it is held, or while a caller wants in.
struct Door<K> {
    doors: Arc<Doors<K>>,
    resource: Arc<str>,
    /// One caller at a time goes in. Contains the hold to join; its lease shows whether it is still
    /// a lock.
    hold: Queue<Option<Joinable<K>>>,
    /// Locked by the outermost until its release is on its way.
    occupied: Arc<Queue<()>>,
}

/// A hold that may be joined while it has guards.
type Joinable<K> = (Weak<Outermost<K>>, Lease<K>);

/// The state that the guards of one hold share. Its fields are dropped in this order.
struct Outermost<K> {
    guard: Guard<K>,
    occupied: OwnedMutexGuard<()>,
    door: Arc<Door<K>>,
}

impl Owner {
    /// Returns an owner whose acquisitions are [fenced](Acquire::fenced), so that every guard of a
    /// hold has its fencing token. It is a separate owner: it does not share what this one holds.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::OwnerError> {
    /// let owner = redlock.owner().fenced();
    /// let outer = owner.acquire("r").await?;
    /// let inner = owner.acquire("r").await?;
    /// assert_eq!(outer.fencing_token(), inner.fencing_token());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn fenced(self) -> Owner<Fenced> {
        Owner::new(self.redlock)
    }
}

impl<K: Kind> Owner<K> {
    pub(crate) fn new(redlock: Redlock) -> Self {
        Self { redlock, doors: Arc::default() }
    }

    /// Acquires `resource` with the options of the builder, or joins in where this owner already
    /// holds it.
    ///
    /// # Errors
    ///
    /// Those of [`acquire_with`](Self::acquire_with).
    ///
    /// # Cancel safety
    ///
    /// Same as for [`acquire_with`](Self::acquire_with).
    pub async fn acquire(&self, resource: impl IntoResource) -> Result<OwnedGuard<K>, OwnerError> {
        let resources = Resources::one(resource.into_resource());
        let wait = self.redlock.options().wait;
        self.acquire_with(Acquire::new(self.redlock.clone(), resources, Some(wait))).await
    }

    /// Performs `acquire`, an acquisition of one resource, or joins in where this owner already
    /// holds that resource. If it joins in, the options of `acquire` have no effect: ttl, deadline
    /// and keeper are those of the outermost.
    ///
    /// A caller that comes while another caller of this owner is about to acquire waits for the
    /// outcome, however long that takes. It then joins in, or tries in turn.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::OwnerError> {
    /// let owner = redlock.owner();
    /// let outer = owner.acquire_with(redlock.acquire("r").keep_alive()).await?;
    /// let inner = owner.acquire("r").await?;
    /// assert_eq!((inner.hold_count(), inner.deadline()), (2, outer.deadline()));
    /// assert_eq!(inner.release().await, None); // still held by the outer one
    /// outer.release().await;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`OwnerError::NotAcquired`]: this owner did not hold it, and could not acquire it. Also
    ///   [`Invalid`], if `acquire` names several resources, or was made by another
    ///   [`connect`](crate::RedlockBuilder::connect).
    /// - [`OwnerError::Lost`]: this owner's hold is lost, and a guard of it still exists. It is
    ///   acquired again once all its guards are gone.
    ///
    /// # Cancel safety
    ///
    /// Same as for [`Acquire`]. A caller that waited behind it then becomes the outermost.
    pub async fn acquire_with(&self, acquire: Acquire<K>) -> Result<OwnedGuard<K>, OwnerError> {
        let door = self.door(self.resource_of(&acquire).map_err(AcquireError::Invalid)?);
        let mut hold = door.hold.lock().await;
        if let Some((outermost, lease)) = &*hold
            && outermost.strong_count() > 0
        {
            lease.check()?;
            if let Some(outermost) = outermost.upgrade() {
                return Ok(OwnedGuard { outermost });
            }
        }
        // Not ahead of the release of the previous hold, whose key would make the masters refuse
        // it.
        let occupied = door.occupied.clone().lock_owned().await;
        let guard = acquire.await?;
        let lease = guard.lease();
        let outermost = Arc::new(Outermost { guard, occupied, door: door.clone() });
        *hold = Some((Arc::downgrade(&outermost), lease));
        Ok(OwnedGuard { outermost })
    }

    fn resource_of<'a>(&self, acquire: &'a Acquire<K>) -> Result<&'a Arc<str>, Invalid> {
        if !acquire.redlock().is_same(&self.redlock) {
            let problem = "is not the one that this owner is of: make the acquire with that one";
            return Err(Invalid::new("redlock", problem));
        }
        let names = acquire.resources().names();
        let [resource] = names else {
            let count = names.len();
            let problem =
                format!("{count} in one call: an owner takes one, so that holds can nest");
            return Err(Invalid::new("resource", problem));
        };
        Ok(resource)
    }

    fn door(&self, resource: &Arc<str>) -> Arc<Door<K>> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let known = doors.get(resource).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let door = Arc::new(Door {
                doors: self.doors.clone(),
                resource: resource.clone(),
                hold: Queue::default(),
                occupied: Arc::default(),
            });
            doors.insert(resource.clone(), Arc::downgrade(&door));
            door
        })
    }
}

impl<K> Drop for Door<K> {
    fn drop(&mut self) {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        // Another caller may have come since, and made a new one.
        if doors.get(&self.resource).is_some_and(|door| door.strong_count() == 0) {
            doors.remove(&self.resource);
        }
    }
}

impl<K: Kind> fmt::Debug for Owner<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("fenced", &K::IS_FENCED).finish_non_exhaustive()
    }
}

/// One of the guards of a hold that an [`Owner`] has: a [`Guard`] in all but its end.
///
/// Dropping it leaves the hold to the others, in whatever order they go; the last one releases, in
/// the background.
#[must_use = "dropping the last guard releases the lock"]
pub struct OwnedGuard<K = Unfenced> {
    outermost: Arc<Outermost<K>>,
}

impl<K: Kind> OwnedGuard<K> {
    /// Returns the number of guards that this owner has of this hold, this one included. The answer
    /// ages at once.
    #[must_use]
    pub fn hold_count(&self) -> usize {
        Arc::strong_count(&self.outermost)
    }

    /// Gives this guard up. The last guard of a hold releases the lock, as [`Guard::release`] does,
    /// and returns the outcome; the others return `None` at once.
    ///
    /// # Cancel safety
    ///
    /// Safe: the guard is given up, and the release is made, whether or not you wait for it.
    pub async fn release(self) -> Option<Released> {
        let Outermost { guard, occupied, door } = Arc::into_inner(self.outermost)?;
        let answer = guard.begin_release();
        // A caller that comes now asks behind the release, and need not wait for its confirmation.
        drop((occupied, door));
        Some(outcome(answer).await)
    }
}

impl<K> Deref for OwnedGuard<K> {
    type Target = Guard<K>;

    fn deref(&self) -> &Guard<K> {
        &self.outermost.guard
    }
}

impl<K: Kind> fmt::Debug for OwnedGuard<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedGuard")
            .field("guard", &**self)
            .field("hold_count", &self.hold_count())
            .finish_non_exhaustive()
    }
}

/// The reason why an owner has no guard.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum OwnerError {
    /// This owner did not hold it, and could not acquire it.
    #[error(transparent)]
    NotAcquired(#[from] AcquireError),
    /// This owner's hold is lost: nothing may be done under it any more, through any guard of it.
    #[error(transparent)]
    Lost(#[from] Lost),
}

#[cfg(test)]
#[cfg(feature = "embedded")]
mod tests;
