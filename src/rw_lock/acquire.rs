//! Acquiring as a reader or as a writer: the options, and the futures that they become.

use super::{ReadGuard, WriteGuard};
use crate::acquire::{Acquire, AcquireFuture};
use crate::error::{AcquireError, RunError};
use crate::guard::Lease;
use crate::kind::{Fenced, Kind, Unfenced};
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Gives `$type` the options that a reader and a writer have.
macro_rules! delegate_rw_options {
    ($type:ident $(, $kind:ident)?) => {
        impl$(<$kind: $crate::Kind>)? $type$(<$kind>)? {
            $crate::acquire::delegate_option!(ttl);
            $crate::acquire::delegate_option!(lock_delay);
            $crate::acquire::delegate_option!(timeout);
            $crate::acquire::delegate_option!(no_timeout);
            $crate::acquire::delegate_option!(keep_alive);
            $crate::acquire::delegate_option!(keep_alive_for);
            $crate::acquire::delegate_option!(keep_alive_forever);
            $crate::acquire::delegate_option!(label);
        }
    };
}

#[cfg(feature = "blocking")]
pub(crate) use delegate_rw_options;

/// An acquisition as a reader that has not started: set its options, then await it or
/// [`run`](Self::run) a body under it.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
/// use std::time::Duration;
///
/// let table = redlock.rw_lock("table:7");
/// let guard = table.read().ttl(Duration::from_secs(30)).keep_alive().await?;
/// # drop(guard);
/// # Ok(()) }
/// ```
///
/// `Ok` proves that a quorum of masters has noted this reader, each for the full ttl, so that no
/// writer can win within the guard's time.
///
/// A reader has no fencing token:
///
/// ```compile_fail,E0599
/// # fn example(redlock: quorumlock::Redlock) {
/// let _ = redlock.rw_lock("table:7").read().fenced(); // no method of this name
/// # }
/// ```
///
/// A token is for what checks writes. With one line of numbers for both, a reader could win with the
/// number of the writer before it, so that this writer's late write passes beside the reader. Only
/// if all clients had even numbers for writers and odd ones for readers would they differ, older
/// versions included. Readers that must see a late writer refused have the *writers* fenced: the
/// store refuses the late write by the number of the next writer, though not before that one has
/// written. Nor is there `at_least`: nothing stays closed behind a reader.
///
/// # Errors
///
/// Those of [`Acquire`]. [`Contended`](crate::error::Contended) also says if a writer
/// waits for the lock, which keeps new readers out. Where the masters' user lacks a right to sorted
/// sets, that is a [`NoQuorum`](crate::error::NoQuorum) with what each master said.
///
/// # Cancel safety
///
/// As [`Acquire`]: a dropped acquire leaves nothing.
#[must_use = "nothing is asked before this is awaited"]
#[derive(Clone, Debug)]
pub struct ReadAcquire {
    inner: Acquire,
}

delegate_rw_options!(ReadAcquire);

impl ReadAcquire {
    pub(super) const fn new(inner: Acquire) -> Self {
        Self { inner }
    }

    #[cfg(feature = "blocking")]
    pub(crate) fn into_inner(self) -> Acquire {
        self.inner
    }

    /// Acquires the lock as a reader, runs `body` with the keeper on, and releases on every way out.
    /// See [`Acquire::run`](crate::Acquire::run).
    ///
    /// ```no_run
    /// # async fn sum() -> u64 { 7 }
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let total = redlock.rw_lock("table:7").read().run(async |_lease| sum().await).await?;
    /// # let _ = total;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::NotAcquired`] if the body was not run. [`RunError::Lost`] if the lock was lost
    /// before the body returned, with its result if it returned all the same.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it drops the body and releases in the background.
    pub async fn run<T, F>(self, body: F) -> Result<T, RunError<T>>
    where
        F: AsyncFnOnce(Lease) -> T,
    {
        self.inner.run(body).await
    }
}

impl IntoFuture for ReadAcquire {
    type Output = Result<ReadGuard, AcquireError>;
    type IntoFuture = ReadAcquireFuture;

    fn into_future(self) -> ReadAcquireFuture {
        ReadAcquireFuture { inner: self.inner.into_future() }
    }
}

/// The future of a [`ReadAcquire`]: asks at the first poll, cancels when dropped.
#[must_use = "futures do nothing unless polled"]
pub struct ReadAcquireFuture {
    inner: AcquireFuture,
}

impl Future for ReadAcquireFuture {
    type Output = Result<ReadGuard, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.inner).poll(cx).map_ok(ReadGuard::new)
    }
}

impl fmt::Debug for ReadAcquireFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadAcquireFuture").field("inner", &self.inner).finish()
    }
}

/// An acquisition as a writer that has not started: set its options, then await it or
/// [`run`](Self::run) a body under it.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
/// let table = redlock.rw_lock("table:7");
/// let guard = table.write().keep_alive().await?;
/// # drop(guard);
/// # Ok(()) }
/// ```
///
/// It is an ordinary lock, in one command on each master, until it is refused, or waits behind an
/// acquire of this process that was. From then on, it keeps new readers out: it sets a hint on the masters that lives for 3 s, renews that while it
/// waits, and takes it back when it wins. When it gives up or is dropped, the hint ends soon, within
/// 1.5 s. The hint is no vote. Where it is lost, or comes late, a reader may still be let in before
/// the writer.
///
/// # Errors
///
/// Those of [`Acquire`].
///
/// # Cancel safety
///
/// As [`Acquire`]: a dropped acquire leaves nothing, and readers that it has kept out
/// are notified.
#[must_use = "nothing is asked before this is awaited"]
#[derive(Clone, Debug)]
pub struct WriteAcquire<K: Kind = Unfenced> {
    inner: Acquire<K>,
}

delegate_rw_options!(WriteAcquire, K);

impl WriteAcquire {
    /// Requests a fencing token along with the lock, in the same round trip. See
    /// [`Acquire::fenced`](crate::Acquire::fenced). Readers need none.
    ///
    /// ```no_run
    /// # async fn store(_: u64) {}
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.rw_lock("table:7").write().fenced().await?;
    /// store(guard.fencing_token().as_u64()).await; // refuses a number below the greatest it has seen
    /// # Ok(()) }
    /// ```
    pub fn fenced(self) -> WriteAcquire<Fenced> {
        WriteAcquire { inner: self.inner.fenced() }
    }
}

impl<K: Kind> WriteAcquire<K> {
    pub(super) const fn new(inner: Acquire<K>) -> Self {
        Self { inner }
    }

    #[cfg(feature = "blocking")]
    pub(crate) fn into_inner(self) -> Acquire<K> {
        self.inner
    }

    /// Acquires the lock as a writer, runs `body` with the keeper on, and releases on every way out.
    /// See [`Acquire::run`](crate::Acquire::run).
    ///
    /// # Errors
    ///
    /// [`RunError::NotAcquired`] if the body was not run. [`RunError::Lost`] if the lock was lost
    /// before the body returned, with its result if it returned all the same.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it drops the body and releases in the background.
    pub async fn run<T, F>(self, body: F) -> Result<T, RunError<T>>
    where
        F: AsyncFnOnce(Lease<K>) -> T,
    {
        self.inner.run(body).await
    }
}

impl<K: Kind> IntoFuture for WriteAcquire<K> {
    type Output = Result<WriteGuard<K>, AcquireError>;
    type IntoFuture = WriteAcquireFuture<K>;

    fn into_future(self) -> WriteAcquireFuture<K> {
        WriteAcquireFuture { inner: self.inner.into_future() }
    }
}

/// The future of a [`WriteAcquire`]: asks at the first poll, cancels when dropped.
#[must_use = "futures do nothing unless polled"]
pub struct WriteAcquireFuture<K: Kind = Unfenced> {
    inner: AcquireFuture<K>,
}

impl<K: Kind> Future for WriteAcquireFuture<K> {
    type Output = Result<WriteGuard<K>, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.inner).poll(cx).map_ok(WriteGuard::new)
    }
}

impl<K: Kind> fmt::Debug for WriteAcquireFuture<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteAcquireFuture").field("inner", &self.inner).finish()
    }
}
