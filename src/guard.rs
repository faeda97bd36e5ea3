//! The guard that the caller holds after a win.

mod detach_error;
mod downgrade;
mod passed_on;

pub use detach_error::DetachError;
pub use downgrade::DowngradeError;

use crate::detached::Detached;
use crate::driver::{Extending, Handle, LeaseState, Releasing};
use crate::failure::{ExtendError, Lost};
use crate::fencing::FencingToken;
use crate::kind::{Detachable, Fenced, Kind, Numbered, Unfenced};
use crate::released::Released;
use quorumlock_core::quorum::Instant;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// A held lock. It ends in one of these ways:
///
/// - [`release`](Self::release) says that the work has ended well. It deletes the keys, or does what the acquire has
///   asked for: with [`min_hold`](crate::Acquire::min_hold) they stay until then, and with
///   [`keep_warm`](crate::Acquire::keep_warm) the lock stays in this process.
/// - A guard that is dropped deletes the keys at once, whatever the acquire has asked for: the state that the work
///   has left is not known, and the next holder is to begin anew. This goes on in the background, from any thread,
///   inside or outside a runtime.
/// - [`forget`](Self::forget) leaves the keys until they expire, and [`detach`](Self::detach) gives the lock away.
///
/// The lock is held until the [deadline](Lease::deadline) and not a moment longer: only the caller
/// extends it. Call [`check`](Lease::check) before each side effect, and watch
/// [`lost`](Lease::lost) during long work: a guard has all methods of a [`Lease`].
///
/// A guard is not bound to a task or a thread: send it to where the work is.
///
/// It dereferences to its [`Lease`], as a `String` does to `str`: the lease is the part that reads, and functions that
/// only look take a `&Lease`. A guard adds what ends or prolongs the lock.
///
/// Bind it to a name, such as `guard` or `_guard`. `let _ = redlock.acquire("r").await?;` drops the
/// guard at the end of that line, and the lock is free again. rustc finds that with this lint:
///
/// ```compile_fail
/// #![deny(let_underscore_drop)]
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::AcquireError> {
/// let _ = redlock.acquire("r").await?;
/// # Ok(()) }
/// ```
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let guard = redlock.acquire("orders:42").await?;
/// guard.check()?; // the time left, or the error to stop with
/// guard.release().await?;
/// # Ok(()) }
/// ```
///
/// The guard of a [fenced](crate::Acquire::fenced) acquire is a [`FencedGuard`]: the same, with a
/// [`fencing_token`](Lease::fencing_token).
#[must_use = "a guard that is dropped releases its lock: bind it to a name, if only `_guard`"]
#[derive(Debug)]
pub struct Guard<K: Kind = Unfenced> {
    lease: Lease<K>,
}

/// A [`Guard`] with a fencing token.
pub type FencedGuard = Guard<Fenced>;

/// A [`Lease`] with a fencing token.
pub type FencedLease = Lease<Fenced>;

/// An instant until which a lock may be relied on, on a clock that counts time spent in suspend.
///
/// It is ordered, and otherwise opaque: standard library types do not count suspend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Deadline(Instant);

impl<K: Kind> Guard<K> {
    pub(crate) const fn new(
        driver: Handle,
        hold: Arc<LeaseState>,
        token: Option<FencingToken>,
        slot: Option<u8>,
    ) -> Self {
        Self { lease: Lease { driver, hold, token, slot, kind: PhantomData } }
    }

    /// Moves the deadline to a full ttl from now, if a quorum of masters still holds our key.
    ///
    /// `Ok` proves that a quorum extended our key before the old deadline. This never acquires
    /// again: a lock that was lost in between stays lost.
    ///
    /// A lock with a keeper is not extended beyond the end of its
    /// [`keep_alive`](crate::Acquire::keep_alive). The returned deadline is the current one; once
    /// that limit is reached, it is the same each time.
    ///
    /// # Errors
    ///
    /// - [`ExtendError::Lost`]: the deadline has passed, or a quorum is known not to hold our key.
    ///   This is final.
    /// - [`ExtendError::Unextended`]: too few masters confirmed within the operation timeout. The
    ///   old deadline remains in force, nothing is destroyed, and you may try again.
    ///
    /// # Cancel safety
    ///
    /// Safe: once polled, the round continues even if this future is dropped. The deadline moves if
    /// the round is won.
    #[doc(alias("renew", "refresh", "heartbeat"))]
    pub async fn extend(&self) -> Result<Deadline, ExtendError> {
        let Lease { driver, hold, .. } = &self.lease;
        self.answer(driver.extend(hold)).await.map(Deadline)
    }

    async fn answer<T>(&self, answer: Extending<T>) -> Result<T, ExtendError> {
        match answer.await {
            Ok(result) => result,
            // The hold is over: it was lost in the meantime, or the driver has ended.
            Err(_) => Err(ExtendError::Lost(self.lost().await)),
        }
    }

    /// Releases the lock after work that has ended well: deletes our key, compared by its token, on every master.
    ///
    /// Returns when a quorum has deleted it, or after the operation timeout. The remaining
    /// deletions are retried in the background.
    ///
    /// If the acquire has asked for [`min_hold`](crate::Acquire::min_hold), the key is not deleted before that time:
    /// instead of deleting it, the masters shorten its life. If it has asked for
    /// [`keep_warm`](crate::Acquire::keep_warm), the lock stays in this process, and this returns at once. To open
    /// the lock at once in either case, drop the guard.
    ///
    /// # Errors
    ///
    /// [`Lost`] if the lock had been lost before: the work done since then may have overlapped with
    /// that of another holder. It is the error of [`check`](Lease::check), unless the loss only
    /// shows now. The reason is then [`LossReason::QuorumGone`](crate::error::LossReason): so many
    /// masters no longer had our key that they left no quorum, though its time was not over.
    ///
    /// # Cancel safety
    ///
    /// Safe: the lock is released whether or not you wait for it.
    #[doc(alias = "unlock")]
    pub async fn release(self) -> Result<Released, Lost> {
        let answer = self.begin_release(true);
        self.end_release(answer).await
    }

    /// Begins a [`release`](Self::release): the part before its first await. After work that has failed, the keys are
    /// deleted at once, whatever the options of the acquire.
    pub(crate) fn begin_release(&self, ends_well: bool) -> Releasing {
        self.lease.driver.release(&self.lease.hold, ends_well, true)
    }

    /// Waits for the outcome of a release that was begun.
    pub(crate) async fn end_release(&self, answer: Releasing) -> Result<Released, Lost> {
        let Lease { driver, hold, .. } = &self.lease;
        let Some(answer) = answer else { return Ok(Released::KeptWarm) };
        match answer.await {
            Err(_) if !driver.is_here() => Err(hold.forked(driver.now())),
            answer => hold.released(answer.ok()),
        }
    }

    /// Gives the guard up and keeps the key until it expires, so that no other client gets the lock
    /// sooner. For a job that must not run again soon,
    /// [`min_hold`](crate::Acquire::min_hold) counts from the start, and is kept in a crash, too.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.try_acquire("hourly").ttl(Duration::from_secs(30)).await?;
    /// // the job, done well before the half minute is over
    /// guard.forget();
    /// # Ok(()) }
    /// ```
    pub fn forget(self) {
        self.lease.driver.forget(&self.lease.hold);
    }

    /// Gives the lock away, as a value that [`Redlock::adopt`](crate::Redlock::adopt) turns into a
    /// guard again, in this process or in another. The keys stay; this guard is over. Its leases
    /// report [`LossReason::Detached`](crate::error::LossReason::Detached) before you have the value.
    ///
    /// The lock is extended once more for that, and the answers of all masters are waited for, at
    /// most for the operation timeout. So the client that adopts it has a ttl, less the drift, from the
    /// start of this call. A late command of this client cannot set the keys again behind its back.
    ///
    /// ```no_run
    /// # async fn example(
    /// #     redlock: quorumlock::Redlock, worker: quorumlock::Redlock,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.acquire("orders:42").await?;
    /// let detached = guard.detach().await?; // send it to the worker: see the feature `serde`
    /// let guard = worker.adopt(detached).keep_alive().await?;
    /// # drop(guard);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`DetachError`], with this guard and an [`ExtendError`]. If the lock is lost, so is the guard.
    /// If too few masters have confirmed, the guard is as it was, and you may try again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it releases the lock, as a guard does: the value has gone to no other hands.
    pub async fn detach(self) -> Result<Detached<K>, DetachError<Self>>
    where
        K: Detachable,
    {
        let Lease { driver, hold, .. } = &self.lease;
        let error = match self.answer(driver.detach(hold)).await {
            Ok(in_transit) => {
                // Nothing is left to release. It is over already.
                hold.parted.take();
                match in_transit.pick_up() {
                    Some(lock) => return Ok(Detached::new(hold.resource.clone(), lock)),
                    None => ExtendError::Lost(self.lost().await),
                }
            }
            Err(error) => error,
        };
        Err(DetachError { guard: self, error })
    }

    /// Returns a read-only view of this lock for subtasks.
    #[must_use]
    pub fn lease(&self) -> Lease<K> {
        self.lease.clone()
    }
}

impl<K: Kind> Drop for Guard<K> {
    fn drop(&mut self) {
        let _ = self.lease.driver.release(&self.lease.hold, false, false);
    }
}

impl<K: Kind> Deref for Guard<K> {
    type Target = Lease<K>;

    fn deref(&self) -> &Lease<K> {
        &self.lease
    }
}

/// A read-only view of a held lock, for subtasks. Clone it at will: the lock belongs to the guard,
/// and ends with it.
///
/// ```no_run
/// # async fn example(guard: quorumlock::Guard) {
/// let lease = guard.lease();
/// let subtask = tokio::spawn(async move {
///     lease.check()?; // before the subtask's own side effect
///     Ok::<(), quorumlock::Lost>(())
/// });
/// # let _ = subtask.await;
/// # }
/// ```
#[derive(Clone)]
pub struct Lease<K: Kind = Unfenced> {
    driver: Handle,
    hold: Arc<LeaseState>,
    /// A fenced win has a token, and a permit a slot.
    token: Option<FencingToken>,
    pub(crate) slot: Option<u8>,
    kind: PhantomData<K>,
}

impl<K: Kind> Lease<K> {
    /// Returns the locked resource; several are separated by commas.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.hold.resource
    }

    /// Returns the instant until which the lock may be relied on.
    #[must_use]
    pub fn deadline(&self) -> Deadline {
        Deadline(self.hold.deadline())
    }

    /// Returns whether the deadline is the end of the keep-alive
    /// ([`max_hold`](crate::RedlockBuilder::max_hold), or
    /// [`keep_alive_for`](crate::Acquire::keep_alive_for) of the call), so that no extension moves
    /// it any further. Once `true`, always `true`. The work must end by then, or the lock is lost.
    ///
    /// ```no_run
    /// # fn example(guard: &quorumlock::Guard) {
    /// if guard.is_deadline_final() {
    ///     println!("save what is done: {:?} left", guard.remaining());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn is_deadline_final(&self) -> bool {
        self.hold.last_extension.is_taken()
    }

    /// Returns the time left until the deadline; zero once the lock is lost.
    ///
    /// The answer ages at once: leave a margin for what you do with it.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.check().unwrap_or(Duration::ZERO)
    }

    /// Checks whether the lock may still be relied on. Once `false`, always `false`.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.check().is_ok()
    }

    /// Returns the time left, or the error to stop with: use it with `?` before each side effect.
    ///
    /// It asks no master, and takes far less than a microsecond: it reads a clock and what the client knows.
    ///
    /// # Errors
    ///
    /// [`Lost`] from the deadline on, or as soon as a quorum is known to be gone. In a fork, always.
    pub fn check(&self) -> Result<Duration, Lost> {
        let (hold, now) = (&self.hold, self.driver.now());
        if self.driver.is_here() { hold.check(now) } else { Err(hold.forked(now)) }
    }

    /// Completes when the lock must no longer be relied on: at the deadline, or as soon as a quorum
    /// is known to be gone. It does not wait for an extension to fail.
    ///
    /// ```no_run
    /// # async fn work() {}
    /// # async fn example(guard: quorumlock::Guard) -> Result<(), quorumlock::Lost> {
    /// tokio::select! {
    ///     lost = guard.lost() => return Err(lost), // drops the work
    ///     () = work() => {}
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Safe: it only watches. Works on any executor.
    pub async fn lost(&self) -> Lost {
        let (hold, driver) = (&self.hold, &self.driver);
        if driver.is_here() { hold.lost().await } else { hold.forked(driver.now()) }
    }

    /// Returns a token that is cancelled when [`lost`](Self::lost) completes, for code that takes
    /// one. Cancelling it yourself has no effect on the lock. Feature `tokio-util`.
    #[cfg(feature = "tokio-util")]
    #[must_use]
    pub fn cancellation_token(&self) -> tokio_util::sync::CancellationToken {
        self.hold.token(self.driver.is_here())
    }
}

impl<K: Numbered> Lease<K> {
    /// Returns the number to send along with every write. With it, the protected resource can refuse
    /// a holder whose time is over. It is greater than that of every earlier fenced win of this
    /// resource. Extensions don't change it.
    #[must_use]
    pub fn fencing_token(&self) -> FencingToken {
        // The least token would be refused.
        self.token.unwrap_or(FencingToken::MIN)
    }
}

debug_fields!({ K: Kind } Lease<K>, lease {
    resource: lease.hold.resource,
    remaining: lease.remaining(),
    kind: K::NAME,
    token: lease.token,
    slot: lease.slot,
});
