//! What a reader holds, and what a writer holds.

use crate::error::{ExtendError, Lost, NotDowngraded};
use crate::guard::{Deadline, Guard};
use crate::kind::{Kind, Unfenced};
use crate::released::Released;

/// The lock, held by a reader: no writer can hold it, and other readers may. It has all methods of a
/// [`Lease`](crate::Lease), and dropping it releases in the background.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let guard = redlock.rw_lock("table:7").read().await?;
/// guard.check()?; // the time left, or the error to stop with
/// guard.release().await?;
/// # Ok(()) }
/// ```
///
/// It is handed to no other process: there is no `detach` of it.
#[must_use = "a guard that is dropped releases its lock: bind it to a name, if only `_guard`"]
#[derive(Debug)]
pub struct ReadGuard {
    guard: Guard,
}

/// The lock, held by a writer: no other client can hold it. It has all methods of a [`Lease`](crate::Lease), and
/// dropping it releases in the background.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let guard = redlock.rw_lock("table:7").write().await?;
/// guard.check()?; // before each write
/// let guard = guard.downgrade().await?; // others may read from now on
/// # drop(guard);
/// # Ok(()) }
/// ```
///
/// It is handed to no other process: there is no `detach` of it.
#[must_use = "a guard that is dropped releases its lock: bind it to a name, if only `_guard`"]
#[derive(Debug)]
pub struct WriteGuard<K: Kind = Unfenced> {
    guard: Guard<K>,
}

impl ReadGuard {
    pub(crate) const fn new(guard: Guard) -> Self {
        Self { guard }
    }
}

impl<K: Kind> WriteGuard<K> {
    pub(crate) const fn new(guard: Guard<K>) -> Self {
        Self { guard }
    }

    /// Becomes a reader, without a moment in between in which a writer could get in. Readers that
    /// wait, here and elsewhere, are notified.
    ///
    /// It is an extension in which each master makes this holder a reader: a won one moves the
    /// deadline to a full ttl from now, within the limits of the
    /// [`keep_alive`](crate::Acquire::keep_alive), which goes on. Its leases are over with the call
    /// and report [`LossReason::Downgraded`](crate::error::LossReason::Downgraded), so that no
    /// subtask goes on writing beside readers. The guard that comes back has new ones.
    ///
    /// From the moment at which a master may have heard of it, the lock is a reader's. So it is
    /// `Ok`, too, if too few masters have confirmed in time and some may have done it: the guard is
    /// then a reader's until the old deadline, and its next extension makes up for the rest.
    ///
    /// # Errors
    ///
    /// [`NotDowngraded`], with this guard and an [`ExtendError`]. If the lock is lost, so is the
    /// guard. If no master can have done it, the guard is a writer's as before: the masters' user may
    /// lack the rights that readers need.
    ///
    /// ```no_run
    /// # async fn example(write: quorumlock::WriteGuard) -> Result<(), Box<dyn std::error::Error>> {
    /// match write.downgrade().await {
    ///     Ok(read) => println!("a reader for {:?}", read.remaining()),
    ///     Err(refused) => {
    ///         refused.guard.check()?; // a writer still, unless the lock is lost
    ///         println!("{}", refused.error);
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If dropped, it releases the lock, as a guard does.
    pub async fn downgrade(self) -> Result<ReadGuard, NotDowngraded<Self>> {
        match self.guard.downgrade().await {
            Ok(reader) => Ok(ReadGuard::new(reader)),
            Err((guard, error)) => Err(NotDowngraded { guard: Self::new(guard), error }),
        }
    }
}

/// Gives a guard what it has in common with all guards: `lease()`, and a view of its lease.
macro_rules! delegate_guard {
    ($type:ident $(, $kind:ident)?) => {
        impl$(<$kind: $crate::Kind>)? $type$(<$kind>)? {
            /// Gives the guard up and keeps what it has on the masters until that expires. See
            /// [`Guard::forget`](crate::Guard::forget).
            pub fn forget(self) {
                self.guard.forget();
            }

            /// Returns a read-only view of this lock for subtasks.
            #[must_use]
            pub fn lease(&self) -> $crate::Lease$(<$kind>)? {
                self.guard.lease()
            }
        }

        impl$(<$kind: $crate::Kind>)? std::ops::Deref for $type$(<$kind>)? {
            type Target = $crate::Lease$(<$kind>)?;

            fn deref(&self) -> &Self::Target {
                &self.guard
            }
        }
    };
}

#[cfg(feature = "blocking")]
pub(crate) use delegate_guard;

/// Gives a guard the calls that are awaited.
macro_rules! delegate_awaited {
    ($type:ident $(, $kind:ident)?) => {
        impl$(<$kind: $crate::Kind>)? $type$(<$kind>)? {
            /// Moves the deadline to a full ttl from now, if a quorum of masters still has this
            /// holder. See [`Guard::extend`](crate::Guard::extend).
            ///
            /// # Errors
            ///
            /// [`ExtendError::Lost`] is final; [`ExtendError::Unextended`] leaves the old deadline
            /// in force.
            ///
            /// # Cancel safety
            ///
            /// Safe: once polled, the round continues even if this future is dropped.
            pub async fn extend(&self) -> Result<Deadline, ExtendError> {
                self.guard.extend().await
            }

            /// Releases the lock. Returns when a quorum has confirmed, or after the operation
            /// timeout. See [`Guard::release`](crate::Guard::release).
            ///
            /// # Errors
            ///
            /// [`Lost`] if the lock had been lost before.
            ///
            /// # Cancel safety
            ///
            /// Safe: the lock is released whether or not you wait for it.
            pub async fn release(self) -> Result<Released, Lost> {
                self.guard.release().await
            }
        }
    };
}

delegate_guard!(ReadGuard);
delegate_guard!(WriteGuard, K);
delegate_awaited!(ReadGuard);
delegate_awaited!(WriteGuard, K);
