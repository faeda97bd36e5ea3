//! The errors of an acquire.

use super::{Closed, InvalidSetting, NoRandomness, WrongContext, list};
use crate::report::{Answer, Escaped, NodeReport, OneLine, Quorum, Refusal, Span};
use quorumlock_core::coordinator::wire::{DONE, NEXT};
use quorumlock_core::coordinator::{Full, SHARED};
use quorumlock_core::quorum::readiness::quorum_in;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The reason why there is no lock.
///
/// Whichever it is, nothing stays behind as long as the runtime lives. The attempt has been rolled
/// back on every master it may have reached, or that rollback is owed and will be made.
///
/// ```no_run
/// # async fn example(redlock: quorumlock::Redlock) {
/// use quorumlock::AcquireError;
///
/// match redlock.acquire("orders:42").await {
///     Ok(guard) => drop(guard),
///     Err(AcquireError::Contended(held)) => println!("busy for {:?} by now", held.waited),
///     Err(error) => println!("{error}"), // one line, with what every master said
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AcquireError {
    /// Another holder has the lock: wait longer, or do without.
    #[error(transparent)]
    Contended(#[from] Contended),
    /// Too few masters could vote in time: an outage, whichever client holds the lock.
    #[error(transparent)]
    NoQuorum(#[from] NoQuorum),
    /// Too few masters could vote because clients, or the masters' clocks, disagree: fix the
    /// configuration.
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    /// The call cannot succeed as it is: fix it.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The call cannot succeed where it is made: make it elsewhere.
    #[error(transparent)]
    WrongContext(#[from] WrongContext),
    /// The operating system provides no random bytes for a token: try again, and fix the system if
    /// it persists.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// This `Redlock` was shut down, or its runtime is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

impl AcquireError {
    /// Checks whether another holder has the lock.
    #[must_use]
    pub const fn is_contended(&self) -> bool {
        matches!(self, Self::Contended(_))
    }

    /// Checks whether too few masters could vote.
    #[must_use]
    pub const fn is_no_quorum(&self) -> bool {
        matches!(self, Self::NoQuorum(_))
    }

    /// Returns the label of the holder, if another client has the lock and masters have named it: see
    /// [`Contended::holder`].
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        match self {
            Self::Contended(error) => error.holder(),
            _ => None,
        }
    }

    /// Returns what every master said to the last attempt, in the order of the configuration.
    #[must_use]
    pub fn nodes(&self) -> &[NodeReport] {
        match self {
            Self::Contended(error) => &error.nodes,
            Self::NoQuorum(error) => &error.nodes,
            Self::Disagreement(error) => &error.nodes,
            Self::InvalidSetting(_)
            | Self::WrongContext(_)
            | Self::NoRandomness(_)
            | Self::Closed(_) => &[],
        }
    }
}

/// Another holder has the lock: a quorum of masters could have voted for us, and did not. For a
/// fenced acquire, another client may also have been just ahead of us: a greater token has been
/// there. That lasts if the masters' clocks were set back. For a reader of a
/// [`RwLock`](crate::RwLock), a writer may also wait for the lock: the text says so if no master has
/// another reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contended {
    /// The resource that was to be locked.
    pub resource: Arc<str>,
    /// The time from the call to the answer.
    pub waited: Duration,
    /// The number of attempts that were made.
    pub attempts: u32,
    /// The answer of every master to the last attempt. Empty if another caller in this process had
    /// the lock or was before us, and no master was asked.
    pub nodes: Vec<NodeReport>,
    /// Whether a guard of this very client had the lock, so that no master was asked. If it was
    /// the caller's own, the acquire has waited for itself: acquisitions that nest go through a
    /// [`reentrant`](crate::Redlock::reentrant) handle.
    pub held_here: bool,
    pub(crate) holder: Option<Arc<str>>,
    pub(crate) quorum: Quorum,
    /// It was a permit that was asked for.
    pub(crate) full: Option<Box<Full>>,
    /// A queue is bounded on the masters; errors are moved around.
    pub(crate) ahead: Option<u16>,
}

impl Contended {
    /// Returns how many others waited in turn before this one when it last asked, as a quorum of masters
    /// says: see [`Acquire::fair`](crate::Acquire::fair). One that has just died, or has just won, counts for
    /// up to 3 s. `None` if it did not wait in turn, or gave up before it had a place.
    #[must_use]
    pub fn ahead(&self) -> Option<usize> {
        self.ahead.map(usize::from)
    }

    /// Returns the label of the holder, as most of the masters have named it that refused the last
    /// attempt. It is what they said then; another client may hold the lock by now. To ask once
    /// more, [`inspect`](crate::Redlock::inspect).
    ///
    /// `None` if the holder has no label or is another kind of client, if two are named as often, if
    /// [readers](Self::is_shared) keep a writer out or a waiting writer a reader, if the lock is kept
    /// for one that waits [in turn](crate::Acquire::fair) or [stays closed](Self::has_ended), or if no
    /// master was asked: the first attempt of an acquire does not ask, so that it is no slower, and neither does a fenced one, nor one of
    /// several resources.
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) {
    /// use quorumlock::AcquireError;
    ///
    /// if let Err(AcquireError::Contended(held)) = redlock.acquire("shard:7").await {
    ///     println!("ask {}", held.holder().unwrap_or("again later"));
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        self.holder.as_deref().filter(|label| ![SHARED, NEXT, DONE].contains(label))
    }

    /// Checks whether readers had the lock, as most of the masters said that refused the last attempt
    /// and named a holder: see [`RwLock::read`](crate::RwLock::read). Who they are,
    /// [`inspect`](crate::Redlock::inspect) says.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.holder.as_deref() == Some(SHARED)
    }

    /// Checks whether the work of the last holder has ended well and only keeps the resource closed, as
    /// most of the masters said that refused the last attempt and named a holder: see
    /// [`Acquire::at_least`](crate::Acquire::at_least).
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.holder.as_deref() == Some(DONE)
    }

    /// Returns the time until a quorum may be free, as far as masters have said how long they are not.
    fn free_in(&self) -> Option<Duration> {
        let waits = self.nodes.iter().map(|node| match &node.answer {
            Answer::Granted | Answer::Outstanding => Some(Duration::ZERO),
            Answer::Refused(Refusal::Held { remaining }) => *remaining,
            _ => None,
        });
        quorum_in(self.quorum.membership(), &waits.collect::<Vec<_>>())
    }

    /// Returns the holder as a text may name it.
    pub(crate) fn named(&self) -> Option<&str> {
        self.holder().filter(|label| !label.is_empty())
    }
}

/// Too few masters could vote in time for any client to win.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoQuorum {
    /// The resource that was to be locked.
    pub resource: Arc<str>,
    /// The time from the call to the answer.
    pub waited: Duration,
    /// The number of attempts that were made.
    pub attempts: u32,
    /// The answer of every master to the last attempt.
    pub nodes: Vec<NodeReport>,
    /// `None`: won in time, but picked up late.
    pub(crate) quorum: Option<Quorum>,
}

/// Too few masters could vote because something that all must have in common differs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// The resource that was to be locked.
    pub resource: Arc<str>,
    /// The time from the call to the answer.
    pub waited: Duration,
    /// The number of attempts that were made.
    pub attempts: u32,
    /// The difference, with both sides of it.
    pub cause: Arc<str>,
    /// The answer of every master to the last attempt.
    pub nodes: Vec<NodeReport>,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no quorum for {:?}: {}", Escaped(&self.resource), OneLine(&self.cause))
    }
}

impl std::error::Error for Disagreement {}

impl NoQuorum {
    /// Checks whether a quorum did grant, but so late that no validity was left.
    #[must_use]
    pub fn is_too_late(&self) -> bool {
        self.quorum.is_none_or(|quorum| quorum.is_met(&self.nodes, &Answer::Granted))
    }

    /// Returns the time until a quorum may vote, if masters that warm up are all it lacks.
    fn warm_in(&self, quorum: Quorum) -> Option<Duration> {
        let waits = self.nodes.iter().map(|node| match &node.answer {
            Answer::Refused(Refusal::WarmingUp { remaining }) => Some(*remaining),
            Answer::Granted
            | Answer::Outstanding
            | Answer::Refused(
                Refusal::Held { .. } | Refusal::Wanted { .. } | Refusal::Behind { .. },
            ) => Some(Duration::ZERO),
            _ => None,
        });
        let left = quorum_in(quorum.membership(), &waits.collect::<Vec<_>>());
        left.filter(|left| !left.is_zero())
    }

    /// Returns the error for a lock that was won, but that the caller's task picked up only after
    /// the deadline. What the masters said is gone with the guard.
    pub(crate) const fn picked_up_late(resource: Arc<str>, waited: Duration) -> Self {
        Self { resource, waited, attempts: 1, nodes: Vec::new(), quorum: None }
    }
}

impl Contended {
    /// Writes that all permits of a semaphore are taken.
    fn fmt_full(&self, f: &mut fmt::Formatter<'_>, full: &Full) -> fmt::Result {
        let Full { permits, free_in } = *full;
        let resource = Escaped(&self.resource);
        match permits {
            1 => write!(f, "the only permit of {resource:?} is taken")?,
            all => write!(f, "all {all} permits of {resource:?} are taken")?,
        }
        if let Some(left) = free_in {
            write!(f, ", the first expires in {}", Span(left))?;
        }
        let waited = Span(self.waited);
        match self.attempts {
            0 => write!(f, " (after {waited}, behind other callers of this client)"),
            1 => write!(f, " (after {waited}, 1 slot tried)"),
            n => write!(f, " (after {waited}, {n} slots tried)"),
        }
    }
}

impl fmt::Display for Contended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(full) = &self.full {
            return self.fmt_full(f, full);
        }
        if self.nodes.is_empty() {
            let (resource, waited) = (Escaped(&self.resource), Span(self.waited));
            return if self.held_here {
                write!(
                    f,
                    "{resource:?} is held by a guard of this client (after {waited}): to nest, \
                     acquire through one Redlock::reentrant()"
                )
            } else {
                write!(
                    f,
                    "{resource:?} is waited for by other callers of this client (after {waited})"
                )
            };
        }
        let refused = |for_that: fn(&Refusal) -> bool| {
            let answers = self.nodes.iter().map(|node| &node.answer);
            answers.filter(|it| matches!(it, Answer::Refused(why) if for_that(why))).count()
        };
        let held = refused(|why| matches!(why, Refusal::Held { .. }));
        let wanted = refused(|why| matches!(why, Refusal::Wanted { .. }));
        let behind = refused(|why| matches!(why, Refusal::Behind { .. }));
        let stale = refused(|why| matches!(why, Refusal::Stale));
        write!(f, "{:?} ", Escaped(&self.resource))?;
        match self.named() {
            _ if held == 0 && wanted > 0 => f.write_str("is wanted by a writer that waits")?,
            _ if held == 0 && behind > 0 => f.write_str("is waited for by others")?,
            _ if held == 0 => f.write_str("has had a greater fencing token")?,
            Some(label) => write!(f, "is held by {}", Escaped(label))?,
            None if self.is_shared() => f.write_str("is held by readers")?,
            None if self.has_ended() => {
                f.write_str("is closed")?;
                if let Some(left) = self.free_in() {
                    write!(f, " for {}", Span(left))?;
                }
                f.write_str(", since its work has ended well")?;
            }
            None if self.holder.as_deref() == Some(NEXT) => {
                f.write_str("is kept for one that waits in turn")?;
            }
            None => f.write_str("is held by somebody else")?,
        }
        match self.ahead {
            None => {}
            Some(0) => f.write_str(", first in the queue")?,
            Some(ahead) => write!(f, ", {ahead} ahead in the queue")?,
        }
        write!(
            f,
            ": {} of {} masters refused, {} granted, {} needed",
            held + wanted + behind + stale,
            self.nodes.len(),
            granted(&self.nodes),
            self.quorum,
        )?;
        tail(f, self.waited, self.attempts, &self.nodes)
    }
}

impl fmt::Display for NoQuorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(quorum) = self.quorum else {
            let waited = Span(self.waited);
            let resource = Escaped(&self.resource);
            return write!(
                f,
                "{resource:?} was won, but not picked up before its deadline (after {waited}): is the task that \
                 waits for it held up?"
            );
        };
        if self.is_too_late() {
            write!(f, "{:?} was granted too late to be used", Escaped(&self.resource))?;
        } else {
            write!(f, "no quorum for {:?}: ", Escaped(&self.resource))?;
            if let Some(left) = self.warm_in(quorum) {
                write!(f, "masters are warming up, enough may vote in {}: ", Span(left))?;
            }
            let (granted, all) = (granted(&self.nodes), self.nodes.len());
            write!(f, "{granted} of {all} masters granted, {quorum} needed")?;
        }
        tail(f, self.waited, self.attempts, &self.nodes)?;
        let warming =
            |node: &NodeReport| matches!(node.answer, Answer::Refused(Refusal::WarmingUp { .. }));
        if self.nodes.iter().any(warming) {
            f.write_str(WARMING_UP)?;
        }
        Ok(())
    }
}

/// The advice about masters that have just started.
const WARMING_UP: &str = "; a master that has just started may have forgotten what it had granted: \
                          wait, or see RedlockBuilder::restart_guard";

impl std::error::Error for Contended {}
impl std::error::Error for NoQuorum {}

fn granted(nodes: &[NodeReport]) -> usize {
    nodes.iter().filter(|node| node.answer == Answer::Granted).count()
}

fn tail(
    f: &mut fmt::Formatter<'_>,
    waited: Duration,
    attempts: u32,
    nodes: &[NodeReport],
) -> fmt::Result {
    let waited = Span(waited);
    match attempts {
        1 => write!(f, " (after {waited}, 1 attempt)")?,
        n => write!(f, " (after {waited}, {n} attempts)")?,
    }
    list(f, nodes)
}
