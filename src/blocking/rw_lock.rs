//! A read-write lock for code without `async`.

use super::acquire::Acquire;
use super::redlock::Redlock;
use super::wait;
use crate::error::{AcquireError, ExtendError, Lost, NotDowngraded, RunError};
use crate::guard::{Deadline, Lease};
use crate::kind::{Fenced, Kind, Unfenced};
use crate::released::Released;
use crate::resource::IntoResource;
use crate::rw_lock::{delegate_guard, delegate_rw_options};
use std::future::IntoFuture;

/// A read-write lock on a resource: any number of readers at a time, or one writer.
///
/// It is [`quorumlock::RwLock`](crate::RwLock) for code without `async`. See there for the
/// guarantees.
///
/// ```no_run
/// # fn example(redlock: quorumlock::blocking::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let table = redlock.rw_lock("table:7");
/// let read = table.read().lock()?; // beside other readers
/// read.release()?;
/// let write = table.write().lock()?; // alone
/// let read = write.downgrade()?;
/// # drop(read);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct RwLock {
    inner: crate::RwLock,
}

/// A pending acquisition as a reader: set options, then call [`lock`](Self::lock) or
/// [`run`](Self::run). See [`quorumlock::ReadAcquire`](crate::ReadAcquire).
#[must_use = "nothing is asked before `lock` or `run`"]
#[derive(Clone, Debug)]
pub struct ReadAcquire {
    inner: crate::ReadAcquire,
}

/// A pending acquisition as a writer: set options, then call [`lock`](Self::lock) or
/// [`run`](Self::run). See [`quorumlock::WriteAcquire`](crate::WriteAcquire).
#[must_use = "nothing is asked before `lock` or `run`"]
#[derive(Clone, Debug)]
pub struct WriteAcquire<K: Kind = Unfenced> {
    inner: crate::WriteAcquire<K>,
}

/// The lock, held by a reader. See [`quorumlock::ReadGuard`](crate::ReadGuard).
#[must_use = "a guard that is dropped releases its lock: bind it to a name, if only `_guard`"]
#[derive(Debug)]
pub struct ReadGuard {
    guard: crate::ReadGuard,
}

/// The lock, held by a writer. See [`quorumlock::WriteGuard`](crate::WriteGuard).
#[must_use = "a guard that is dropped releases its lock: bind it to a name, if only `_guard`"]
#[derive(Debug)]
pub struct WriteGuard<K: Kind = Unfenced> {
    guard: crate::WriteGuard<K>,
}

impl Redlock {
    /// Returns the read-write lock on `resource`. See
    /// [`Redlock::rw_lock`](crate::Redlock::rw_lock).
    pub fn rw_lock(&self, resource: impl IntoResource) -> RwLock {
        RwLock { inner: self.inner().rw_lock(resource) }
    }
}

impl RwLock {
    /// Acquires the lock as a reader. No master is asked before [`lock`](ReadAcquire::lock) or
    /// [`run`](ReadAcquire::run).
    pub fn read(&self) -> ReadAcquire {
        ReadAcquire { inner: self.inner.read() }
    }

    /// Makes one attempt as a reader, and does not wait. See
    /// [`RwLock::try_read`](crate::RwLock::try_read).
    pub fn try_read(&self) -> ReadAcquire {
        ReadAcquire { inner: self.inner.try_read() }
    }

    /// Acquires the lock as a writer. No master is asked before [`lock`](WriteAcquire::lock) or
    /// [`run`](WriteAcquire::run).
    pub fn write(&self) -> WriteAcquire {
        WriteAcquire { inner: self.inner.write() }
    }

    /// Makes one attempt as a writer, and does not wait. See
    /// [`RwLock::try_write`](crate::RwLock::try_write).
    pub fn try_write(&self) -> WriteAcquire {
        WriteAcquire { inner: self.inner.try_write() }
    }

    /// Returns the resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.inner.resource()
    }
}

impl WriteAcquire {
    /// Requests a fencing token along with the lock. See
    /// [`WriteAcquire::fenced`](crate::WriteAcquire::fenced).
    pub fn fenced(self) -> WriteAcquire<Fenced> {
        WriteAcquire { inner: self.inner.fenced() }
    }
}

delegate_rw_options!(ReadAcquire);
delegate_rw_options!(WriteAcquire, K);

/// Gives an acquisition the calls that make it.
macro_rules! delegate_calls {
    ($type:ident $(, $kind:ident)? => $guard:ty, $lease:ty) => {
        impl$(<$kind: Kind>)? $type$(<$kind>)? {
            /// Acquires the lock, and blocks this thread in the meantime: for as long as
            /// [`timeout`](Self::timeout) allows, plus an operation timeout.
            ///
            /// # Errors
            ///
            /// Those of the async acquisition; none leaves a lock behind. Also
            /// [`AcquireError::WrongContext`], in async code.
            pub fn lock(self) -> Result<$guard, AcquireError> {
                wait::may_wait("lock()")?;
                wait::until(self.inner.into_future()).map(<$guard>::new)
            }

            /// Acquires the lock, runs `body` on this thread with the keeper on, and releases on
            /// every way out. See [`Acquire::run`](super::Acquire::run).
            ///
            /// # Errors
            ///
            /// [`RunError::NotAcquired`] if the body was not run. [`RunError::Lost`] if the lock was
            /// lost before the body returned, with its result.
            pub fn run<T>(self, body: impl FnOnce($lease) -> T) -> Result<T, RunError<T>> {
                Acquire::new(self.inner.into_inner()).run(body)
            }
        }
    };
}

delegate_calls!(ReadAcquire => ReadGuard, Lease);
delegate_calls!(WriteAcquire, K => WriteGuard<K>, Lease<K>);

/// Gives a guard the calls that block.
macro_rules! delegate_blocking {
    ($type:ident $(, $kind:ident)?) => {
        impl$(<$kind: Kind>)? $type$(<$kind>)? {
            const fn new(guard: crate::$type$(<$kind>)?) -> Self {
                Self { guard }
            }

            /// Moves the deadline to a full ttl from now, if a quorum of masters still has this
            /// holder. Blocks at most for the operation timeout. See
            /// [`Guard::extend`](crate::Guard::extend).
            ///
            /// # Errors
            ///
            /// [`ExtendError::Lost`] is final; [`ExtendError::Unextended`] leaves the old deadline
            /// in force.
            pub fn extend(&self) -> Result<Deadline, ExtendError> {
                wait::until(self.guard.extend())
            }

            /// Releases the lock, and blocks until a quorum of masters has confirmed, at most for
            /// the operation timeout. See [`Guard::release`](crate::Guard::release).
            ///
            /// # Errors
            ///
            /// [`Lost`] if the lock had been lost before.
            pub fn release(self) -> Result<Released, Lost> {
                wait::until(self.guard.release())
            }
        }
    };
}

delegate_guard!(ReadGuard);
delegate_guard!(WriteGuard, K);
delegate_blocking!(ReadGuard);
delegate_blocking!(WriteGuard, K);

impl<K: Kind> WriteGuard<K> {
    /// Becomes a reader, without a moment in between. Blocks at most for the operation timeout. See
    /// [`WriteGuard::downgrade`](crate::WriteGuard::downgrade).
    ///
    /// # Errors
    ///
    /// [`NotDowngraded`], with this guard.
    pub fn downgrade(self) -> Result<ReadGuard, NotDowngraded<Self>> {
        let downgraded = wait::until(self.guard.downgrade());
        downgraded.map(ReadGuard::new).map_err(|refused| refused.map(Self::new))
    }
}
