//! Read-write locks: many readers at a time, or one writer.

mod acquire;
mod guard;

#[cfg(feature = "blocking")]
pub(crate) use acquire::delegate_rw_options;
pub use acquire::{ReadAcquire, ReadAcquireFuture, WriteAcquire, WriteAcquireFuture};
#[cfg(feature = "blocking")]
pub(crate) use guard::delegate_guard;
pub use guard::{ReadGuard, WriteGuard};

use crate::acquire::Acquire;
use crate::redlock::Redlock;
use crate::resource::{IntoResource, Resources};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A read-write lock on a resource: any number of readers at a time, or one writer. Clones are the
/// same lock.
///
/// Each reader has a ttl of its own, expires by itself if its process dies, and is lost alone. A
/// writer holds the ordinary lock on the resource: [`Redlock::acquire`] of the same name, older
/// versions and other Redlock clients are writers to readers, and are kept out by them.
///
/// ```no_run
/// # async fn rebuild() {}
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let table = redlock.rw_lock("table:7");
/// let read = table.read().await?; // beside other readers
/// read.check()?; // before each use of what was read, as with any lock
/// read.release().await?;
///
/// let write = table.write().await?; // alone
/// rebuild().await;
/// let read = write.downgrade().await?; // no other writer in between
/// # drop(read);
/// # Ok(()) }
/// ```
///
/// Writers come first: while one waits, no new reader is let in. So readers that overlap do not
/// keep a writer out, and readers wait while writers follow one another without a pause.
/// A writer that dies while it waits keeps new readers out for 3 s, one that gives up for 1.5 s; a
/// reader that dies keeps writers out until its key expires. Among readers there is no order.
///
/// A task that has a [`ReadGuard`] and asks for another one of the same resource deadlocks if a
/// writer has come to wait in between: that writer waits for the first guard, and the second one
/// waits for the writer. There is no upgrade: two readers that both wait for one would wait for
/// each other. Release the reader, acquire as a writer, and look again at what was read.
#[derive(Clone)]
pub struct RwLock {
    redlock: Redlock,
    resource: Arc<str>,
}

impl Redlock {
    /// Returns the read-write lock on `resource`. Nothing is sent yet.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let guard = redlock.rw_lock("table:7").read().await?;
    /// # drop(guard);
    /// # Ok(()) }
    /// ```
    pub fn rw_lock(&self, resource: impl IntoResource) -> RwLock {
        RwLock { redlock: self.clone(), resource: resource.into_resource() }
    }
}

impl RwLock {
    /// Acquires the lock as a reader, beside others. Waits while a writer has it or waits for it, or
    /// too few masters answer, but not indefinitely (10 s unless configured). Await the returned
    /// value to begin.
    ///
    /// The masters' user needs the rights to sorted sets that the page on permissions lists. See
    /// [`ReadAcquire`] for errors and cancel safety.
    pub fn read(&self) -> ReadAcquire {
        ReadAcquire::new(self.acquire(Resources::read, self.redlock.options().acquire_timeout))
    }

    /// Makes one attempt as a reader, and does not wait while a writer has the lock or waits for it.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// use quorumlock::AcquireError;
    ///
    /// match redlock.rw_lock("table:7").try_read().await {
    ///     Ok(guard) => println!("no writer for {:?}", guard.remaining()),
    ///     Err(AcquireError::Contended(busy)) => println!("{busy}"), // held, or wanted by a writer
    ///     Err(outage) => return Err(outage),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn try_read(&self) -> ReadAcquire {
        ReadAcquire::new(self.acquire(Resources::read, Duration::ZERO))
    }

    /// Acquires the lock as a writer, alone. Waits while others have it or too few masters answer,
    /// but not indefinitely (10 s unless configured), and keeps new readers out meanwhile. Await the
    /// returned value to begin.
    ///
    /// See [`WriteAcquire`] for errors and cancel safety.
    pub fn write(&self) -> WriteAcquire {
        WriteAcquire::new(self.acquire(Resources::write, self.redlock.options().acquire_timeout))
    }

    /// Makes one attempt as a writer, and does not wait. It keeps no reader out unless it wins.
    pub fn try_write(&self) -> WriteAcquire {
        WriteAcquire::new(self.acquire(Resources::write, Duration::ZERO))
    }

    /// Returns the resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    fn acquire(&self, locked: fn(Arc<str>) -> Resources, timeout: Duration) -> Acquire {
        Acquire::new(self.redlock.clone(), locked(self.resource.clone()), timeout)
    }
}

impl fmt::Debug for RwLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").field("resource", &self.resource).finish_non_exhaustive()
    }
}
