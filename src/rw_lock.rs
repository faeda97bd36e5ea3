//! Read-write locks: many readers at a time, or one writer.

use crate::acquire::Acquire;
use crate::guard::Guard;
use crate::kind::{Reading, Unfenced, Writing};
use crate::redlock::Redlock;
use crate::resource::Resources;
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
/// A writer that dies while it waits keeps new readers out for 3 s, a writer that gives up for
/// 1.5 s; a reader that dies keeps writers out until its key expires. Among readers there is no
/// order.
///
/// A task that has a [`ReadGuard`] and asks for another one of the same resource deadlocks if a
/// writer has come to wait in between: that writer waits for the first guard, and the second one
/// waits for the writer. There is no upgrade: two readers that both wait for one would wait for
/// each other. Release the reader, acquire as a writer, and look again at what was read.
#[derive(Clone, Debug)]
pub struct RwLock {
    redlock: Redlock,
    resource: Arc<str>,
}

/// The lock, held by a reader: writers cannot hold it, and other readers may. It has all methods of a
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
/// A read guard cannot be detached.
pub type ReadGuard = Guard<Reading>;

/// The lock, held by a writer: other clients cannot hold it. It has all methods of a [`Lease`](crate::Lease), and
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
/// A write guard cannot be detached.
pub type WriteGuard<K = Unfenced> = Guard<Writing<K>>;

impl Redlock {
    /// Returns the read-write lock on `resource`, and sends nothing yet.
    ///
    /// A reader costs a round trip to the masters, and another one when it ends. So lock for as long as what
    /// is read has to stay the same, and not for each read of a request: for that, keep a copy and its
    /// version.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
    /// let guard = redlock.rw_lock("table:7").read().await?;
    /// # drop(guard);
    /// # Ok(()) }
    /// ```
    #[doc(alias("read_lock", "write_lock"))]
    pub fn rw_lock(&self, resource: impl AsRef<str>) -> RwLock {
        RwLock { redlock: self.clone(), resource: resource.as_ref().into() }
    }
}

impl RwLock {
    /// Acquires the lock as a reader, beside others. Waits while a writer has it or waits for it, or
    /// too few masters answer, but not indefinitely (10 s unless configured). Options for this call
    /// are set on the returned value; await it to begin, or [`run`](Acquire::run) a body under it.
    ///
    /// `Ok` proves that a quorum of masters has noted this reader, each for the full ttl, so that no
    /// writer can win within the guard's time. A reader has no fencing token:
    /// [`Fenceable`](crate::kind::Fenceable) says why.
    ///
    /// # Errors
    ///
    /// Those of [`Acquire`]. [`Contended`](crate::error::Contended) also says if a writer waits for
    /// the lock, which keeps new readers out. If the masters' user is missing a right to sorted
    /// sets, that is a [`NoQuorum`](crate::error::NoQuorum) with what each master said: the page on
    /// permissions lists the rights.
    ///
    /// # Cancel safety
    ///
    /// As [`Acquire`]: a dropped acquire leaves nothing.
    ///
    /// ```no_run
    /// # async fn sum() -> u64 { 7 }
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    ///
    /// let table = redlock.rw_lock("table:7");
    /// let guard = table.read().ttl(Duration::from_secs(30)).keep_alive().await?;
    /// let total = table.read().run(async |_lease| sum().await).await?;
    /// # drop((guard, total));
    /// # Ok(()) }
    /// ```
    pub fn read(&self) -> Acquire<ReadGuard> {
        Acquire::new((), self.redlock.clone(), Resources::Read(self.resource.clone()))
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
    pub fn try_read(&self) -> Acquire<ReadGuard> {
        self.read().timeout(Duration::ZERO)
    }

    /// Acquires the lock as a writer, alone. Waits while others have it or too few masters answer,
    /// but not indefinitely (10 s unless configured). Options for this call are set on the returned
    /// value; await it to begin, or [`run`](Acquire::run) a body under it.
    ///
    /// It is an ordinary lock, in one command on each master, until it is refused, or waits behind an
    /// acquire of this process that was. From then on, it keeps new readers out: it sets a hint on
    /// the masters that lives for 3 s, renews that while it waits, and takes it back when it wins.
    /// When it gives up or is dropped, the hint ends soon, within 1.5 s. The hint is no vote. Where it
    /// is lost, or comes late, a reader may still be let in before the writer.
    ///
    /// # Errors
    ///
    /// Those of [`Acquire`].
    ///
    /// # Cancel safety
    ///
    /// As [`Acquire`]: a dropped acquire leaves nothing, and readers that it has kept out are
    /// notified.
    ///
    /// ```no_run
    /// # async fn store(_: u64) {}
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.rw_lock("table:7").write().fenced().keep_alive().await?;
    /// store(guard.fencing_token().as_u64()).await; // refuses a number below the greatest it has seen
    /// # Ok(()) }
    /// ```
    pub fn write(&self) -> Acquire<WriteGuard> {
        Acquire::new((), self.redlock.clone(), Resources::Write(self.resource.clone()))
    }

    /// Makes one attempt as a writer, and does not wait. It keeps no reader out unless it wins.
    pub fn try_write(&self) -> Acquire<WriteGuard> {
        self.write().timeout(Duration::ZERO)
    }

    /// Returns the resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }
}
