//! Nested acquisitions: all code that goes through one re-entrant handle shares its holds.

use crate::acquire::{Acquire, Asking, Exclusive, Held};
use crate::failure::{AcquireError, Lost, ReentrantError};
use crate::guard::Guard;
use crate::kind::{Fenced, Kind, Unfenced, sealed::Sealed};
use crate::redlock::Redlock;
use crate::released::Released;
use crate::resource::Resources;
use std::collections::HashMap;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

/// A re-entrant handle, whose acquisitions of one resource nest. The first one takes the lock,
/// those inside it take the hold as it is, and the last one out releases. Clones are the same
/// handle.
///
/// It is only a value that you pass on, tied to no thread or task. It excludes others and not
/// itself, so each piece of work should have its own.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::ReentrantError> {
/// use quorumlock::{Reentrant, ReentrantError};
///
/// async fn transfer(locks: &Reentrant) -> Result<(), ReentrantError> {
///     let account = locks.acquire("account:1").keep_alive().await?;
///     withdraw(locks).await?; // takes the same lock, and does not wait for itself
///     account.release().await?;
///     Ok(())
/// }
///
/// async fn withdraw(locks: &Reentrant) -> Result<(), ReentrantError> {
///     let account = locks.acquire("account:1").await?;
///     account.check()?; // as ever, before each side effect
///     Ok(())
/// }
///
/// transfer(&redlock.reentrant()).await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reentrant<K: Kind = Unfenced> {
    redlock: Redlock,
    doors: Arc<Doors<K>>,
}

/// The doors that callers are using, by resource.
type Doors<K> = Mutex<HashMap<Arc<str>, Weak<Door<K>>>>;

/// The way to one resource: alive while it is held, or while a caller wants in.
#[derive(Debug)]
pub struct Door<K: Kind> {
    doors: Arc<Doors<K>>,
    resource: Arc<str>,
    /// One caller at a time goes in. Contains the hold to join, while it has guards.
    hold: Queue<Weak<Outermost<K>>>,
    /// Locked by the outermost until its release is on its way.
    occupied: Arc<Queue<()>>,
}

/// The state that the guards of one hold share. Its fields are dropped in this order.
struct Outermost<K: Kind> {
    guard: Guard<K>,
    occupied: OwnedMutexGuard<()>,
    door: Arc<Door<K>>,
}

impl Redlock {
    /// Returns a re-entrant handle, whose acquisitions of one resource nest. Clone it, or pass it
    /// on, to all code that is to share its holds. Each call returns a new handle, and these
    /// exclude each other.
    #[must_use]
    pub fn reentrant(&self) -> Reentrant {
        Reentrant { redlock: self.clone(), doors: Arc::default() }
    }
}

impl Reentrant {
    /// Returns a handle whose acquisitions are [fenced](Acquire::fenced), so that every guard of a
    /// hold has its fencing token. It is a separate handle: it does not share what this one holds.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::ReentrantError> {
    /// let locks = redlock.reentrant().fenced();
    /// let outer = locks.acquire("r").await?;
    /// let inner = locks.acquire("r").await?;
    /// assert_eq!(outer.fencing_token(), inner.fencing_token());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn fenced(self) -> Reentrant<Fenced> {
        Reentrant { redlock: self.redlock, doors: Arc::default() }
    }
}

impl<K: Kind> Reentrant<K> {
    /// Acquires `resource`, or joins in where this handle already holds it. Options for this call
    /// are set on the returned value; await it to begin. If the call joins in, they have no effect:
    /// ttl, deadline and keeper are those of the outermost.
    ///
    /// A caller that comes while another caller of this handle is about to acquire waits for the
    /// outcome, however long that takes. It then joins in, or tries in turn.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::ReentrantError> {
    /// let locks = redlock.reentrant();
    /// let outer = locks.acquire("r").keep_alive().await?;
    /// let inner = locks.acquire("r").await?;
    /// assert_eq!((inner.hold_count(), inner.deadline()), (2, outer.deadline()));
    /// assert_eq!(inner.release().await?, None); // still held by the outer one
    /// outer.release().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// One call takes one resource, so that holds can nest:
    ///
    /// ```compile_fail,E0277
    /// # fn example(locks: quorumlock::Reentrant) {
    /// locks.acquire(["account:1", "account:2"]);
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ReentrantError::NotAcquired`]: this handle did not hold it, and could not acquire it.
    /// - [`ReentrantError::Lost`]: this handle's hold is lost, and a guard of it still exists. It is
    ///   acquired again once all its guards are gone.
    ///
    /// # Cancel safety
    ///
    /// Same as for [`Acquire`]. A caller that waited behind it then becomes the outermost.
    pub fn acquire(&self, resource: impl AsRef<str>) -> Acquire<ReentrantGuard<K>> {
        let resource = Resources::One(resource.as_ref().into());
        Acquire::new(self.doors.clone(), self.redlock.clone(), resource)
    }

    /// Joins in where this handle already holds `resource`, or makes one attempt and does not wait
    /// while another holder has the lock. It does wait for another acquire of this handle for the same
    /// resource, which may then be the one to join.
    ///
    /// See [`acquire`](Self::acquire) for errors and cancel safety.
    pub fn try_acquire(&self, resource: impl AsRef<str>) -> Acquire<ReentrantGuard<K>> {
        self.acquire(resource).timeout(Duration::ZERO)
    }
}

/// Asks at the door of a resource.
type Entering<K> = Pin<Box<dyn Future<Output = Entered<K>> + Send>>;

type Entered<K> = Result<ReentrantGuard<K>, ReentrantError>;

async fn enter<K: Kind>(acquire: Acquire<ReentrantGuard<K>>) -> Entered<K> {
    let (doors, acquire) = acquire.into_parts();
    // Not in a fork of the client's process.
    acquire.terms.redlock.driver.here().map_err(AcquireError::from)?;
    let door = Door::of(&doors, acquire.terms.resources.shown());
    let mut hold = door.hold.lock().await;
    if let Some(outermost) = hold.upgrade() {
        outermost.guard.check()?;
        return Ok(ReentrantGuard { outermost });
    }
    // Not ahead of the release of the previous hold, whose key would make the masters refuse it.
    let occupied = door.occupied.clone().lock_owned().await;
    let guard = acquire.await?;
    let outermost = Arc::new(Outermost { guard, occupied, door: door.clone() });
    *hold = Arc::downgrade(&outermost);
    Ok(ReentrantGuard { outermost })
}

impl<K: Kind> Asking<ReentrantGuard<K>> for Entering<K> {
    fn new(acquire: Acquire<ReentrantGuard<K>>) -> Self {
        Box::pin(enter(acquire))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Entered<K>> {
        self.as_mut().poll(cx)
    }
}

impl<K: Kind> Sealed for ReentrantGuard<K> {}

impl<K: Kind> Held for ReentrantGuard<K> {
    type Guard = Self;
    type Error = ReentrantError;
    type Kind = K;
    type Doors = Arc<Doors<K>>;
    type Asking = Entering<K>;
}

impl<K: Kind> Exclusive for ReentrantGuard<K> {}

impl<K: Kind> Door<K> {
    /// Returns the door to `resource`; creates it if no caller is using it.
    fn of(doors: &Arc<Doors<K>>, resource: Arc<str>) -> Arc<Self> {
        let mut open = doors.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open.get(&resource).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let door = Arc::new(Self {
                doors: doors.clone(),
                resource: resource.clone(),
                hold: Queue::default(),
                occupied: Arc::default(),
            });
            open.insert(resource, Arc::downgrade(&door));
            door
        })
    }
}

impl<K: Kind> Drop for Door<K> {
    fn drop(&mut self) {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        // Another caller may have come since, and made a new one.
        if doors.get(&self.resource).is_some_and(|door| door.strong_count() == 0) {
            doors.remove(&self.resource);
        }
    }
}

/// One of the guards of a hold that a [`Reentrant`] handle has: a [`Guard`] in all but its end.
///
/// Dropping it leaves the hold to the others, in whatever order they go; the last one releases, in
/// the background.
#[must_use = "the last guard that is dropped releases the lock: bind it to a name"]
pub struct ReentrantGuard<K: Kind = Unfenced> {
    outermost: Arc<Outermost<K>>,
}

/// A [`ReentrantGuard`] with a fencing token.
pub type FencedReentrantGuard = ReentrantGuard<Fenced>;

impl<K: Kind> ReentrantGuard<K> {
    /// Returns the number of guards that the handle has of this hold, this one included. The answer
    /// ages at once.
    #[must_use]
    pub fn hold_count(&self) -> usize {
        Arc::strong_count(&self.outermost)
    }

    /// Gives this guard up. The last guard of a hold releases the lock, as [`Guard::release`] does,
    /// and returns the outcome; the others return `None` at once.
    ///
    /// # Errors
    ///
    /// [`Lost`] if the lock had been lost before, for each guard of the hold: the work done since
    /// then may have overlapped with that of another holder.
    ///
    /// # Cancel safety
    ///
    /// Safe: the guard is given up, and the release is made, whether or not you wait for it.
    pub async fn release(self) -> Result<Option<Released>, Lost> {
        let checked = self.check();
        let Some(outermost) = Arc::into_inner(self.outermost) else {
            return checked.map(|_| None);
        };
        let Outermost { guard, occupied, door } = outermost;
        let answer = guard.begin_release(true);
        // A caller that comes now asks behind the release, and need not wait for its confirmation.
        drop((occupied, door));
        guard.end_release(answer).await.map(Some)
    }
}

impl<K: Kind> Deref for ReentrantGuard<K> {
    type Target = Guard<K>;

    fn deref(&self) -> &Guard<K> {
        &self.outermost.guard
    }
}

debug_fields!({ K: Kind } ReentrantGuard<K>, this { guard: **this, hold_count: this.hold_count() });

#[cfg(test)]
#[cfg(feature = "embedded")]
mod tests;
