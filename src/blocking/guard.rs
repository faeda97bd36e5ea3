//! The guard that the caller holds after a win.

use super::wait;
use crate::error::{ExtendError, Invalid, Lost};
use crate::fencing::FencingToken;
use crate::guard::Deadline;
use crate::kind::{Fenced, Kind, Unfenced};
use crate::released::Released;
use std::time::Duration;

/// A held lock. Dropping it releases in the background and never blocks.
///
/// It is [`quorumlock::Guard`](crate::Guard) for code without `async`, and is not bound to a
/// thread.
///
/// ```no_run
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let guard = redlock.acquire("orders:42").lock()?;
/// guard.check()?; // the time left, or the error to stop with
/// guard.release();
/// # Ok(()) }
/// ```
#[must_use = "dropping the guard releases the lock"]
#[derive(Debug)]
pub struct Guard<K: Kind = Unfenced> {
    inner: crate::Guard<K>,
}

/// A [`Guard`] with a fencing token.
pub type FencedGuard = Guard<Fenced>;

/// A read-only view of a held lock, for threads that work under it. Clone it at will: the lock
/// belongs to the guard, and ends with it.
///
/// ```no_run
/// # fn example(guard: quorumlock::blocking::Guard) {
/// let lease = guard.lease();
/// let subtask = std::thread::spawn(move || {
///     lease.check()?; // before the subtask's own side effect
///     Ok::<(), quorumlock::Lost>(())
/// });
/// # let _ = subtask.join();
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Lease<K: Kind = Unfenced> {
    inner: crate::Lease<K>,
}

/// A [`Lease`] with a fencing token.
pub type FencedLease = Lease<Fenced>;

impl<K: Kind> Guard<K> {
    pub(super) const fn new(inner: crate::Guard<K>) -> Self {
        Self { inner }
    }

    /// Releases the lock, and blocks until a quorum of masters has deleted the key, at most for the
    /// operation timeout. See [`Guard::release`](crate::Guard::release).
    pub fn release(self) -> Released {
        wait::until(self.inner.release())
    }

    /// Gives the guard up and keeps the key until it expires. See
    /// [`Guard::leave`](crate::Guard::leave).
    pub fn leave(self) {
        self.inner.leave();
    }
}

/// The methods that guards and their lease have in common.
macro_rules! view {
    ($type:ident) => {
        impl<K: Kind> $type<K> {
            /// Returns the locked resource; several are separated by commas.
            #[must_use]
            pub fn resource(&self) -> &str {
                self.inner.resource()
            }

            /// Returns the instant until which the lock may be relied on.
            #[must_use]
            pub fn deadline(&self) -> Deadline {
                self.inner.deadline()
            }

            /// Returns the time left until the deadline; zero once the lock is lost.
            #[must_use]
            pub fn remaining(&self) -> Duration {
                self.inner.remaining()
            }

            /// Checks whether the lock may still be relied on. Once `false`, always `false`.
            #[must_use]
            pub fn is_valid(&self) -> bool {
                self.inner.is_valid()
            }

            /// Returns the time left, or the error to stop with: use it with `?` before each side
            /// effect.
            ///
            /// # Errors
            ///
            /// [`Lost`] from the deadline on, or as soon as a quorum is known to be gone.
            pub fn check(&self) -> Result<Duration, Lost> {
                self.inner.check()
            }

            /// Blocks until the lock must no longer be relied on: until the deadline, or until a
            /// quorum is known to be gone. For a thread next to the one that works.
            ///
            /// # Errors
            ///
            /// [`Invalid`] in async code; there, await [`lost`](crate::Lease::lost) of the async
            /// API.
            pub fn lost(&self) -> Result<Lost, Invalid> {
                wait::may_wait("lost()")?;
                Ok(wait::until(self.inner.lost()))
            }

            /// Blocks in the same way for at most `span`; returns `None` if the lock is held until
            /// then. The span counts time that the machine sleeps only where the operating system's
            /// timers do; the deadline always does.
            ///
            /// ```no_run
            /// # use std::time::Duration;
            /// # fn example(guard: quorumlock::blocking::Guard) -> Result<(), Box<dyn std::error::Error>> {
            /// for step in ["charge", "ship"] {
            ///     println!("{step}");
            ///     // A pause between two steps that ends at once when the lock is lost.
            ///     if let Some(lost) = guard.lost_within(Duration::from_secs(1))? {
            ///         return Err(lost.into());
            ///     }
            /// }
            /// # Ok(()) }
            /// ```
            ///
            /// # Errors
            ///
            /// [`Invalid`] in async code.
            pub fn lost_within(&self, span: Duration) -> Result<Option<Lost>, Invalid> {
                wait::may_wait("lost_within()")?;
                Ok(wait::within(span, self.inner.lost()))
            }
        }

        impl $type<Fenced> {
            /// Returns the number to send along with every write, so that the protected resource
            /// can refuse a holder whose time is over. Extensions don't change it.
            #[must_use]
            pub fn fencing_token(&self) -> FencingToken {
                self.inner.fencing_token()
            }
        }
    };
}

/// The methods that guards have in common and a lease does not have.
macro_rules! hold {
    ($type:ident) => {
        impl<K: Kind> $type<K> {
            /// Moves the deadline to a full ttl from now, if a quorum of masters still holds our
            /// key. Blocks at most for the operation timeout. See
            /// [`Guard::extend`](crate::Guard::extend).
            ///
            /// # Errors
            ///
            /// [`ExtendError::Lost`] is final; [`ExtendError::Unextended`] leaves the old deadline
            /// in force.
            pub fn extend(&self) -> Result<Deadline, ExtendError> {
                wait::until(self.inner.extend())
            }

            /// Returns a read-only view of this lock for other threads.
            #[must_use]
            pub fn lease(&self) -> Lease<K> {
                Lease::new(self.inner.lease())
            }
        }
    };
}

pub(super) use {hold, view};

impl<K: Kind> Lease<K> {
    pub(super) const fn new(inner: crate::Lease<K>) -> Self {
        Self { inner }
    }
}

view!(Guard);
view!(Lease);
hold!(Guard);
