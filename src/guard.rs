//! What the caller holds after a win.

use crate::driver::Message;
use crate::error::{ExtendError, Lost, LostReason};
use crate::fencing::FencingToken;
use crate::held::Held;
use crate::hold::Hold;
use crate::kind::{Fenced, Kind, Unfenced};
use crate::quorum::Instant;
use crate::redlock::Redlock;
use crate::report::NodeReport;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A held lock. Dropping it releases in the background, from any thread, inside a runtime or out.
///
/// The lock is held until the [deadline](Guard::deadline) and not a moment longer: nobody extends
/// it but you. Ask [`check`](Guard::check) before each side effect, and watch
/// [`lost`](Guard::lost) beside long work.
///
/// A guard is bound to no task or thread: send it where the work is.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let guard = redlock.acquire("orders:42").await?;
/// guard.check()?; // the time left, or the error to stop with
/// guard.release().await;
/// # Ok(()) }
/// ```
///
/// The guard of a [fenced](crate::Acquire::fenced) acquire is a [`FencedGuard`]: the same, with a
/// [`fencing_token`](Guard::fencing_token).
#[must_use = "dropping the guard releases the lock"]
pub struct Guard<K = Unfenced> {
    held: Held,
    kind: K,
}

/// A [`Guard`] with a fencing token.
pub type FencedGuard = Guard<Fenced>;

/// A [`Lease`] with a fencing token.
pub type FencedLease = Lease<Fenced>;

/// What has come of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Released {
    /// A quorum of masters has deleted our key, within its validity.
    Released,
    /// The lock had been lost before: the work done since then may have overlapped with another's.
    /// [`LostReason::QuorumGone`] if that only shows now: too many masters for a quorum had our key no
    /// more, though its time was not over.
    Lost(LostReason),
    /// No quorum has confirmed in time, and nothing says that it was lost. The rest is owed and made up for in the background; at
    /// worst the keys expire with their ttl. What every master said is inside; nothing, if the
    /// `Redlock` was shut down before.
    Unconfirmed(Vec<NodeReport>),
}

/// An instant until which a lock may be relied on, on a clock that counts suspend.
///
/// Ordered, and otherwise opaque: no type of the standard library counts suspend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Deadline(Instant);

impl<K: Kind> Guard<K> {
    pub(crate) const fn new(held: Held, kind: K) -> Self {
        Self { held, kind }
    }

    /// Moves the deadline to a full ttl from now, if a quorum of masters still holds our key.
    ///
    /// `Ok` proves that a quorum prolonged our key before the old deadline. It never acquires
    /// anew: a lock that was lost in between stays lost.
    ///
    /// A lock with a keeper is not extended beyond its [`max_hold`](crate::Acquire::max_hold): what
    /// comes back is the deadline as it then stands, in the end the same each time.
    ///
    /// # Errors
    ///
    /// - [`ExtendError::Lost`]: the deadline has passed, or a quorum is known not to hold our key.
    ///   For good.
    /// - [`ExtendError::Unextended`]: too few masters confirmed within the operation timeout. The
    ///   old deadline stands, nothing is destroyed, and you may try again.
    ///
    /// # Cancel safety
    ///
    /// Safe: once polled, the round goes on without you, and the deadline moves if it is won.
    pub async fn extend(&self) -> Result<Deadline, ExtendError> {
        let (reply, answer) = oneshot::channel();
        let Held { redlock, hold, .. } = &self.held;
        let (request, attempt) = (redlock.next_request(), hold.attempt);
        redlock.send(Message::Extend { request, attempt, reply });
        match answer.await {
            Ok(result) => result.map(Deadline),
            // The hold is over: it was lost meanwhile, or the driver has ended.
            Err(_) => Err(ExtendError::Lost(self.lost().await)),
        }
    }

    /// Releases the lock: deletes our key, compared by its token, on every master.
    ///
    /// Returns when a quorum has deleted it, or after the operation timeout; what is left is made
    /// up for in the background. There is no error to handle: the outcome says what happened, and
    /// cannot hide an error of yours.
    ///
    /// # Cancel safety
    ///
    /// Safe: the release is made whether or not you wait for it.
    pub async fn release(self) -> Released {
        outcome(self.begin_release()).await
    }

    /// [`release`](Self::release), before its first await.
    pub(crate) fn begin_release(self) -> oneshot::Receiver<Released> {
        self.held.release()
    }

    /// Gives the guard up and keeps the key until it expires, so that nobody else gets the lock
    /// before: a job that must not run again on a host whose clock is behind, for example.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = redlock.try_acquire("hourly").ttl(Duration::from_secs(30)).await?;
    /// // the job, done well before the half minute is over
    /// guard.leave();
    /// # Ok(()) }
    /// ```
    pub fn leave(self) {
        self.held.leave();
    }

    /// A read-only view of this lock for subtasks.
    #[must_use]
    pub fn lease(&self) -> Lease<K> {
        let Held { redlock, hold, .. } = &self.held;
        Lease { redlock: redlock.clone(), hold: hold.clone(), kind: self.kind }
    }

    fn redlock(&self) -> &Redlock {
        &self.held.redlock
    }

    fn hold(&self) -> &Hold {
        &self.held.hold
    }
}

/// What has come of a release that was begun.
pub(crate) async fn outcome(answer: oneshot::Receiver<Released>) -> Released {
    answer.await.unwrap_or(Released::Unconfirmed(Vec::new()))
}

/// A read-only view of a held lock, for subtasks. Cloned at will: the lock is the guard's, and ends
/// with it.
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
pub struct Lease<K = Unfenced> {
    redlock: Redlock,
    hold: Arc<Hold>,
    kind: K,
}

impl<K> Lease<K> {
    const fn redlock(&self) -> &Redlock {
        &self.redlock
    }

    fn hold(&self) -> &Hold {
        &self.hold
    }
}

/// What a guard and its lease have in common.
macro_rules! view {
    ($type:ident) => {
        impl<K: Kind> $type<K> {
            /// What is locked; several resources with a comma between them.
            #[must_use]
            pub fn resource(&self) -> &str {
                &self.hold().resource
            }

            /// The instant until which the lock may be relied on.
            #[must_use]
            pub fn deadline(&self) -> Deadline {
                Deadline(self.hold().deadline())
            }

            /// The time left until the deadline; zero once the lock is lost.
            ///
            /// The answer ages at once: leave a margin for what you do with it.
            #[must_use]
            pub fn remaining(&self) -> Duration {
                self.check().unwrap_or(Duration::ZERO)
            }

            /// Whether the lock may still be relied on. Once `false`, always `false`.
            #[must_use]
            pub fn is_valid(&self) -> bool {
                self.check().is_ok()
            }

            /// The time left, or the error to stop with: use it with `?` before each side effect.
            ///
            /// # Errors
            ///
            /// [`Lost`] from the deadline on, or as soon as a quorum is known to be gone.
            pub fn check(&self) -> Result<Duration, Lost> {
                self.hold().check(self.redlock().now())
            }

            /// Completes when the lock must no longer be relied on: at the deadline, or as soon
            /// as a quorum is known to be gone. It does not wait for an extension to fail.
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
                self.hold().lost().await
            }

            /// A token that is cancelled when [`lost`](Self::lost) completes, for code that takes
            /// one. Cancelling it yourself has no effect on the lock.
            #[must_use]
            pub fn cancellation_token(&self) -> CancellationToken {
                self.hold().token()
            }
        }

        impl $type<Fenced> {
            /// The number to send along with every write, so that the written-to can refuse a
            /// holder whose time is over: greater than that of every fenced win of this resource
            /// before. Extensions don't change it.
            #[must_use]
            pub const fn fencing_token(&self) -> FencingToken {
                self.kind.token()
            }
        }

        impl<K: Kind> fmt::Debug for $type<K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type))
                    .field("resource", &self.hold().resource)
                    .field("remaining", &self.remaining())
                    .field("kind", &self.kind)
                    .finish_non_exhaustive()
            }
        }
    };
}

view!(Guard);
view!(Lease);
