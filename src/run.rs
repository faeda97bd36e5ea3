//! A body run under a lock.

use crate::acquire::{Acquire, Held};
use crate::failure::{AcquireError, RunError};
use crate::guard::{Guard, Lease};
use crate::kind::Kind;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

impl<G: Held<Error = AcquireError>> Acquire<G> {
    /// Acquires the lock, runs `body` with the keeper on, and releases on every way out: when the
    /// body returns, is dropped, or panics.
    ///
    /// The body is dropped at its next await when the lock is lost. Its work between two awaits
    /// is not interrupted, so check the lease before each side effect all the same.
    ///
    /// ```no_run
    /// # async fn charge() -> Result<u64, std::io::Error> { Ok(7) }
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let receipt = redlock
    ///     .acquire("pay:7")
    ///     .run(async |lease| {
    ///         lease.check().map_err(std::io::Error::other)?;
    ///         charge().await
    ///     })
    ///     .await??; // first the lock, then the body's own result
    /// # Ok(()) }
    /// ```
    ///
    /// The lease of a [fenced](Acquire::fenced) acquire has its
    /// [`fencing_token`](Lease::fencing_token).
    ///
    /// `Ok` proves that the lock was held until the body had returned. It contains the body's
    /// result, even if that is an error: a release that is not confirmed in time does not hide it. So a body that
    /// returns a `Result` is awaited with `.await??`, as tokio's `JoinHandle` is: the first `?` is for the lock, the
    /// second for the body.
    /// With [`min_hold`](Self::min_hold) or [`keep_warm`](Self::keep_warm), a body that returns has ended well,
    /// whatever it returns; [`Once::run`](crate::Once::run) opens the resource if that is an error.
    ///
    /// # Errors
    ///
    /// [`RunError::NotAcquired`] if the body was not run. [`RunError::Lost`] if the lock was lost
    /// before the body returned, with its result if it returned all the same.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it drops the body and releases in the background.
    #[doc(alias("with_lock", "using", "watchdog"))]
    pub async fn run<T, F>(self, body: F) -> Result<T, RunError<T>>
    where
        F: AsyncFnOnce(Lease<G::Kind>) -> T,
    {
        let (_, acquire) = self.kept_alive().into_parts();
        let guard = acquire.await.map_err(RunError::NotAcquired)?;
        guard.run_under(|lease| body(lease), |_| true).await
    }
}

impl<K: Kind> Guard<K> {
    /// Runs `body` until it returns or the lock is lost, and releases: at once, unless it `ends_well`.
    /// The release fails, too, if the lock was lost by now, or if it turns out to have been.
    pub(crate) async fn run_under<T, L>(
        self,
        body: impl FnOnce(Lease<K>) -> L,
        ends_well: impl FnOnce(&T) -> bool,
    ) -> Result<T, RunError<T>>
    where
        L: Future<Output = T>,
    {
        let body = body(self.lease());
        let lost = async { Err(RunError::Lost { lost: self.lost().await, result: None }) };
        // The loss first, so that a body is no longer polled once the lock is lost.
        let ran: Result<T, RunError<T>> = either(lost, async { Ok(body.await) }).await;
        let result = ran?;
        let answer = self.begin_release(ends_well(&result));
        match self.end_release(answer).await {
            Ok(_) => Ok(result),
            Err(lost) => Err(RunError::Lost { lost, result: Some(result) }),
        }
    }
}

/// Returns the output of the future that ends first; of `first`, if both have ended.
pub(crate) async fn either<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|cx| match one.as_mut().poll(cx) {
        Poll::Pending => other.as_mut().poll(cx),
        ended => ended,
    })
    .await
}
