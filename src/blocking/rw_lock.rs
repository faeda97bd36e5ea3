//! A read-write lock for code without `async`.

use super::acquire::Acquire;
use super::guard::Guard;
use super::redlock::Redlock;
use super::wait;
use crate::guard::DowngradeError;
use crate::kind::{Kind, Reading, Unfenced, Writing};
use crate::resource::IntoResource;

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

/// The lock, held by a reader. See [`quorumlock::ReadGuard`](crate::ReadGuard).
pub type ReadGuard = Guard<Reading>;

/// The lock, held by a writer. See [`quorumlock::WriteGuard`](crate::WriteGuard).
pub type WriteGuard<K = Unfenced> = Guard<Writing<K>>;

impl Redlock {
    /// Returns the read-write lock on `resource`. See
    /// [`Redlock::rw_lock`](crate::Redlock::rw_lock).
    pub fn rw_lock(&self, resource: impl IntoResource) -> RwLock {
        RwLock { inner: self.inner().rw_lock(resource) }
    }
}

impl RwLock {
    /// Acquires the lock as a reader. No master is asked before [`lock`](Acquire::lock) or
    /// [`run`](Acquire::run).
    pub fn read(&self) -> Acquire<ReadGuard> {
        Acquire::new(self.inner.read())
    }

    /// Makes one attempt as a reader, and does not wait. See
    /// [`RwLock::try_read`](crate::RwLock::try_read).
    pub fn try_read(&self) -> Acquire<ReadGuard> {
        Acquire::new(self.inner.try_read())
    }

    /// Acquires the lock as a writer. No master is asked before [`lock`](Acquire::lock) or
    /// [`run`](Acquire::run).
    pub fn write(&self) -> Acquire<WriteGuard> {
        Acquire::new(self.inner.write())
    }

    /// Makes one attempt as a writer, and does not wait. See
    /// [`RwLock::try_write`](crate::RwLock::try_write).
    pub fn try_write(&self) -> Acquire<WriteGuard> {
        Acquire::new(self.inner.try_write())
    }

    /// Returns the resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.inner.resource()
    }
}

impl<K: Kind> Guard<Writing<K>> {
    /// Becomes a reader, without a moment in between. Blocks at most for the operation timeout. See
    /// [`WriteGuard::downgrade`](crate::WriteGuard::downgrade).
    ///
    /// # Errors
    ///
    /// [`DowngradeError`], with this guard.
    pub fn downgrade(self) -> Result<ReadGuard, DowngradeError<Self>> {
        let downgraded = wait::until(self.inner.downgrade());
        downgraded.map(Guard::new).map_err(|refused| refused.map(Self::new))
    }
}
