//! Elections: one leader at a time, known to all, in terms that never go back.

mod watch;

pub use watch::Leaders;
pub(crate) use watch::Watch;

use crate::acquire::Acquire;
use crate::failure::{AcquireError, Lost, RunError};
use crate::fencing::FencingToken;
use crate::guard::{FencedGuard, FencedLease};
use crate::inspect::{Holder, InspectError, LockState};
use crate::redlock::Redlock;
use crate::released::Released;
use crate::report::Escaped;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

impl Redlock {
    /// Returns the election of this name, and sends nothing yet.
    ///
    /// It is the lock on the resource of that name, always fenced, kept alive without an end and
    /// waited for without a limit: a client that holds that lock in another way keeps candidates out.
    #[doc(alias("leader_election", "LeaderLatch"))]
    pub fn election(&self, name: impl AsRef<str>) -> Election {
        let name = Arc::from(name.as_ref());
        let acquire = self.acquire(&name).timeout(Duration::MAX).keep_alive_for(Duration::MAX);
        Election { name, acquire: acquire.fenced() }
    }
}

/// An election: candidates campaign, one of them leads, and observers see the leader. Clones are the
/// same.
///
/// ```no_run
/// # async fn lead(_: quorumlock::FencedLease) {}
/// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
/// let election = redlock.election("scheduler");
///
/// // On each host: lead whenever it is this host's turn, until `lead` returns.
/// election.run("10.0.0.7:8080", async |lease| lead(lease).await).await?;
///
/// // Anywhere: the current leader, if there is one.
/// if let Some(leader) = election.leader().await? {
///     println!("{} in term {}", leader.value, leader.term);
/// }
/// # Ok(()) }
/// ```
///
/// The *term* is the fencing token of the leader's win, and greater than that of every earlier
/// leader. At most one leadership is valid at any time, by the guarantees of the lock. Each leader
/// has to [`check`](crate::Lease::check) its own before each side effect. A leader that is
/// *seen* may have a successor by now: send the term along, and let the receiver refuse a lower one.
#[derive(Clone, Debug)]
#[must_use = "an election does nothing by itself"]
pub struct Election {
    name: Arc<str>,
    /// That of any candidate.
    acquire: Acquire<FencedGuard>,
}

/// A leader, as a quorum of masters names it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Leader {
    /// The value with which it campaigned: usually its address.
    pub value: String,
    /// Its term.
    pub term: FencingToken,
}

impl Leader {
    /// Returns the leader, if this holder is one.
    pub(crate) fn of(holder: &Holder) -> Option<Self> {
        Some(Self { term: holder.term()?, value: holder.label().unwrap_or_default().to_owned() })
    }
}

impl fmt::Display for Leader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in term {}", Escaped(&self.value), self.term)
    }
}

impl Election {
    /// Sets how long a leader that has crashed, or that masters do not hear of, keeps the others
    /// out. Observers look each third of it. At most
    /// [`max_ttl`](crate::RedlockBuilder::max_ttl); default: the builder's
    /// [`ttl`](crate::RedlockBuilder::ttl).
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.acquire.terms.ttl = ttl;
        self
    }

    /// Keeps the others out for this much longer after a crash or a loss, while effects of the
    /// leader may still be in flight: see [`Acquire::lock_delay`](crate::Acquire::lock_delay).
    /// Default: the builder's.
    pub const fn lock_delay(mut self, lock_delay: Duration) -> Self {
        self.acquire.terms.lock_delay = lock_delay;
        self
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits until this candidate leads, however long that takes, outages included. The leadership
    /// is kept alive until it is [resigned](Leadership::resign), dropped or lost.
    ///
    /// `candidate` is the value that others see: at most 512 bytes without control characters, not
    /// ending like a term (`;term=7`), and never a secret.
    ///
    /// ```no_run
    /// # async fn work() {}
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// let leadership = redlock.election("scheduler").campaign("10.0.0.7:8080").await?;
    /// tokio::select! {
    ///     lost = leadership.lost() => return Err(lost.into()),
    ///     () = work() => {}
    /// }
    /// leadership.resign().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AcquireError::InvalidSetting`] for a name, a value or a ttl that cannot work,
    /// [`AcquireError::NoRandomness`], and [`AcquireError::Closed`] after a shutdown. Another
    /// leader and an outage are no errors; [`Redlock::status`] shows the latter.
    ///
    /// # Cancel safety
    ///
    /// As for an [`Acquire`]: dropped, the campaign leaves nothing behind. It sends nothing before
    /// its first poll.
    pub fn campaign<C>(
        &self,
        candidate: C,
    ) -> impl Future<Output = Result<Leadership, AcquireError>> + use<C>
    where
        C: Into<String>,
    {
        let acquire = self.acquire.clone().candidate(&candidate.into());
        async move {
            loop {
                match acquire.clone().await {
                    Ok(guard) => return Ok(Leadership { guard }),
                    // It was won, and picked up only after its deadline. Nothing else ends without a
                    // timeout.
                    Err(AcquireError::NoQuorum(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Campaigns, and runs `body` while it leads; again after each loss, with the next term, until
    /// the body returns while it leads. Then it resigns.
    ///
    /// The body is dropped at its next await when the leadership is lost. It is not interrupted
    /// between two awaits, so check the lease before each side effect all the same. The lease has
    /// the term as its [`fencing_token`](crate::Lease::fencing_token).
    ///
    /// A body that has learned of the loss by itself may return whatever it likes: after a loss it
    /// campaigns again, and what the body has returned is dropped. So this is no way to lead once:
    /// for that, [campaign](Self::campaign).
    ///
    /// ```no_run
    /// # async fn schedule(_: u64) {}
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), Box<dyn std::error::Error>> {
    /// redlock
    ///     .election("scheduler")
    ///     .run("10.0.0.7:8080", async |lease| loop {
    ///         if lease.check().is_err() {
    ///             break; // it is lost: campaigns again
    ///         }
    ///         schedule(lease.fencing_token().as_u64()).await; // refused where a greater one was seen
    ///     })
    ///     .await?;
    /// # Ok(()) }
    /// ```
    ///
    /// A body that is to own something clones it for each term: `|lease| { let pool = pool.clone();
    /// async move { .. } }`.
    ///
    /// # Errors
    ///
    /// The errors of [`campaign`](Self::campaign). A loss is none.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it drops the body and resigns in the background.
    pub fn run<T, C, F, L>(
        &self,
        candidate: C,
        mut body: F,
    ) -> impl Future<Output = Result<T, AcquireError>> + use<T, C, F, L>
    where
        C: Into<String>,
        // Not `AsyncFnMut`: what borrows from such a closure cannot be spawned (rust#110338).
        F: FnMut(FencedLease) -> L,
        L: Future<Output = T>,
    {
        let (election, candidate) = (self.clone(), candidate.into());
        async move {
            loop {
                let led = election.campaign(candidate.as_str()).await?;
                match led.guard.run_under(&mut body, |_| true).await {
                    Ok(result) => return Ok(result),
                    Err(RunError::NotAcquired(error)) => return Err(error),
                    Err(RunError::Lost { .. }) => {}
                }
            }
        }
    }

    /// Asks every master for the leader: `None` if a quorum has no leader. That was so a moment ago, and
    /// may no longer be. Each call looks by itself: for terms that never go back,
    /// [observe](Self::observe).
    ///
    /// # Errors
    ///
    /// [`InspectError::Unclear`] if no quorum says one or the other: masters are down or warming
    /// up, or the leader is changing right now. [`InspectError::InvalidSetting`],
    /// [`InspectError::Closed`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it changes nothing.
    pub async fn leader(&self) -> Result<Option<Leader>, InspectError> {
        let inspection = self.acquire.terms.redlock.inspect(&self.name).await?;
        match inspection.state() {
            LockState::Held(holder) => Ok(Leader::of(holder)),
            LockState::Free => Ok(None),
            LockState::Unclear => Err(InspectError::Unclear(Box::new(inspection))),
        }
    }

    /// Follows the leader: the first look, and then each change, as a `Stream`. `None` means no
    /// leader.
    ///
    /// It looks each third of the ttl, and at once when a leader has resigned and masters pass that
    /// on. It is lossy: a leader whose term was short may never be seen, and neither a vacancy
    /// between two leaders. Terms never go back, with one exception. A term that was seen is
    /// forgotten once it is known to be gone for as long as a master that has lost its memory does
    /// not vote (half a minute by default): a foreign value that looks like a great term silences no
    /// observer for longer. While the leader is not known, nothing comes.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) -> Result<(), quorumlock::InspectError> {
    /// let mut leaders = redlock.election("scheduler").observe();
    /// while let Some(leader) = leaders.next().await {
    ///     match leader? {
    ///         Some(leader) => println!("{leader}"), // 10.0.0.7:8080 in term 1795158604154900
    ///         None => println!("no leader"),
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn observe(&self) -> Leaders {
        Leaders { looking: Some(watch::look(Watch::new(self.clone()))) }
    }
}

/// A leadership, until it is [resigned](Self::resign), dropped or lost. It has all methods of a
/// [`Lease`](crate::Lease): [`check`](crate::Lease::check) before each side effect, and
/// [`lost`](crate::Lease::lost) during long work.
///
/// Dropping it resigns in the background.
#[must_use = "a leadership that is dropped is resigned: bind it to a name"]
#[derive(Debug)]
pub struct Leadership {
    guard: FencedGuard,
}

impl Leadership {
    /// Returns its term: greater than that of every earlier leader of this election. Send it along
    /// with every write, as the [fencing token](crate::Lease::fencing_token) that it is.
    #[must_use]
    pub fn term(&self) -> FencingToken {
        self.guard.fencing_token()
    }

    /// Returns a read-only view of it for subtasks.
    #[must_use]
    pub fn lease(&self) -> FencedLease {
        self.guard.lease()
    }

    /// Lets another candidate lead. Returns when a quorum has deleted the key, or after the
    /// operation timeout; the rest follows in the background.
    ///
    /// # Errors
    ///
    /// [`Lost`] if the leadership had been lost before.
    ///
    /// # Cancel safety
    ///
    /// Safe: it is resigned whether or not you wait for it.
    pub async fn resign(self) -> Result<Released, Lost> {
        self.guard.release().await
    }
}

impl Deref for Leadership {
    type Target = FencedLease;

    fn deref(&self) -> &FencedLease {
        &self.guard
    }
}
