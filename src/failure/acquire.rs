//! The errors of an acquire.

use super::blocked::Blocked;
use super::{Closed, InvalidSetting, NoRandomness, WrongContext, count, if_slow, listed};
use crate::report::{Answer, Escaped, NodeReport, Obstacle, OneLine, Refusal, Span};
use quorumlock_core::pace::readiness::quorum_in;
use quorumlock_core::quorum::{Membership, NodeSet};
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
#[derive(Clone, PartialEq, Eq, Error)]
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
    /// This client asks for more locks at once than its masters answer in time, and no master was asked:
    /// ask for fewer at once, or wait longer.
    #[error(transparent)]
    Overloaded(#[from] Overloaded),
    /// The call cannot succeed as it is: fix it.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The call cannot succeed in this context: make it in another.
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
    /// [`Obstacle::Holder`].
    ///
    /// ```no_run
    /// # async fn example(redlock: quorumlock::Redlock) {
    /// if let Err(error) = redlock.acquire("shard:7").await {
    ///     println!("ask {}", error.holder().unwrap_or("again later"));
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        match self {
            Self::Contended(error) => error.obstacle.holder(),
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
            _ => &[],
        }
    }
}

/// A quorum of masters could have voted for us, and did not: an [`Obstacle`] was in the way.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct Contended {
    /// The resource that was to be locked.
    pub resource: Arc<str>,
    /// The time from the call to the answer.
    pub waited: Duration,
    /// The number of attempts that were made.
    pub attempts: u32,
    /// The obstacle. Of several resources, that of the first in [`blocked`](Self::blocked).
    pub obstacle: Obstacle,
    pub(crate) blocked: Option<Box<Blocked>>,
    /// How many waiters were ahead when this acquire last asked, as the master of their list says: see
    /// [`Acquire::fair`](crate::Acquire::fair). `None` if it was in no list, or gave up before it had a place.
    pub ahead: Option<u16>,
    /// The answer of every master to the last attempt. Empty if no master was asked.
    pub nodes: Vec<NodeReport>,
    pub(crate) quorum: Membership,
}

/// Too few masters could vote in time for any client to win.
#[derive(Clone, PartialEq, Eq, Error)]
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
    pub(crate) quorum: Option<Membership>,
}

/// Too few masters could vote because something that all must have in common differs.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("no quorum for {:?}: {}", Escaped(resource), OneLine(cause))]
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

/// An acquire that could not begin in its time: this very client had as many rounds open as its masters answer in
/// time, and others of its acquires came first. It says nothing about the lock, which may be free, and no master was
/// asked.
///
/// A client has a window of such rounds, which follows from how long masters take to answer. Acquires beyond it wait
/// in this process. Holding, extending or releasing a lock does not wait for it.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "{:?} was not asked for (after {}): this client asks for more locks at once than its masters answer in \
     time: ask for fewer, or wait longer",
    Escaped(resource),
    Span(*waited)
)]
#[non_exhaustive]
pub struct Overloaded {
    /// The resource that was to be locked.
    pub resource: Arc<str>,
    /// The time from the call to the answer.
    pub waited: Duration,
}

impl NoQuorum {
    /// Checks whether a quorum did grant, but so late that no validity was left.
    #[must_use]
    pub fn is_too_late(&self) -> bool {
        let granted = NodeSet::places(&self.nodes, |node| node.answer == Answer::Granted);
        self.quorum.is_none_or(|quorum| quorum.is_quorum(granted))
    }

    /// Returns the time until a quorum may vote, if only masters that warm up are missing.
    #[must_use]
    pub fn ready_in(&self) -> Option<Duration> {
        let waits = self.nodes.iter().map(|node| match &node.answer {
            Answer::Refused(Refusal::WarmingUp { remaining }) => Some(*remaining),
            Answer::Granted
            | Answer::Available
            | Answer::Refused(
                Refusal::Held { .. } | Refusal::Wanted { .. } | Refusal::Behind { .. },
            ) => Some(Duration::ZERO),
            _ => None,
        });
        let left = quorum_in(self.quorum?, &waits.collect::<Vec<_>>());
        left.filter(|left| !left.is_zero())
    }

    /// Returns the number of masters that may vote, if too few may: `None` if a master has granted,
    /// or has left it open.
    fn may_vote(&self) -> Option<usize> {
        let able = |node: &NodeReport| match &node.answer {
            Answer::Granted | Answer::Unknown(_) | Answer::Refused(Refusal::Server(_)) => None,
            answer => Some(usize::from(*answer == Answer::Available || refuses_the_lock(answer))),
        };
        self.nodes.iter().map(able).sum()
    }

    /// Returns the error for a lock that was won, but that the caller's task picked up only after
    /// the deadline. The answers of the masters are gone with the guard.
    pub(crate) const fn picked_up_late(resource: Arc<str>, waited: Duration) -> Self {
        Self { resource, waited, attempts: 1, nodes: Vec::new(), quorum: None }
    }
}

impl Contended {
    /// Writes one thing that is in the way, and the time that this took if no quorum refused.
    fn fmt_obstacle(
        &self,
        f: &mut fmt::Formatter<'_>,
        resource: &str,
        obstacle: &Obstacle,
    ) -> fmt::Result {
        let (resource, waited) = (Escaped(resource), Span(self.waited));
        match obstacle {
            Obstacle::OwnGuard => write!(f, "{resource:?} is held by this client"),
            Obstacle::LocalQueue => write!(
                f,
                "{resource:?} is waited for by other callers of this client (after {waited})"
            ),
            Obstacle::Permits { all, free_in } => {
                match all {
                    1 => write!(f, "the only permit of {resource:?} is taken")?,
                    all => write!(f, "all {all} permits of {resource:?} are taken")?,
                }
                if let Some(left) = free_in {
                    write!(f, ", the first expires in {}", Span(*left))?;
                }
                match self.attempts {
                    0 => write!(f, " (after {waited}, behind other callers of this client)"),
                    1 => write!(f, " (after {waited}, 1 slot tried)"),
                    n => write!(f, " (after {waited}, {n} slots tried)"),
                }
            }
            Obstacle::Holder(Some(label)) if !label.is_empty() => {
                write!(f, "{resource:?} is held by {}", Escaped(label))
            }
            Obstacle::Readers => write!(f, "{resource:?} is held by readers"),
            Obstacle::Writer => write!(f, "{resource:?} is wanted by a writer that waits"),
            Obstacle::Reserved => {
                write!(f, "{resource:?} is reserved for the next waiter in the queue")
            }
            Obstacle::Queue => write!(f, "{resource:?} is waited for by others"),
            Obstacle::Ended { free_in } => {
                write!(f, "{resource:?} is locked")?;
                if let Some(left) = free_in {
                    write!(f, " for {} more", Span(*left))?;
                }
                f.write_str(" (min_hold), since its work has ended well")
            }
            Obstacle::GreaterToken => {
                write!(f, "a greater fencing token was already granted for {resource:?}")
            }
            // One without a label, or of a kind that is newer than this text.
            _ => write!(f, "{resource:?} is held by another client"),
        }
    }
}

impl fmt::Display for Contended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = [(self.resource.clone(), self.obstacle.clone())];
        let all = if self.blocked().is_empty() { &whole } else { self.blocked() };
        for (place, (resource, obstacle)) in all.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            self.fmt_obstacle(f, resource, obstacle)?;
        }
        // That is a fact, and no verdict: most of it has nothing to do with the contended lock.
        let held = self.held_meanwhile();
        for (place, resource) in held.iter().enumerate() {
            let before = if place == 0 { ", this client held " } else { ", " };
            write!(f, "{before}{:?}", Escaped(resource))?;
        }
        f.write_str(if held.is_empty() { "" } else { " meanwhile" })?;
        if self.obstacle == Obstacle::OwnGuard {
            let waited = Span(self.waited);
            write!(f, " (after {waited}): to nest, acquire through one Redlock::reentrant()")?;
        }
        if self.nodes.is_empty() || matches!(self.obstacle, Obstacle::Permits { .. }) {
            return Ok(());
        }
        match self.ahead {
            None => {}
            Some(0) => f.write_str(", next in the queue")?,
            Some(ahead) => write!(f, ", {ahead} ahead in the queue")?,
        }
        let refused = self.nodes.iter().filter(|node| refuses_the_lock(&node.answer)).count();
        write!(
            f,
            ": {refused} of {} masters refused, {} granted, {} needed{}",
            self.nodes.len(),
            count(&self.nodes, &Answer::Granted),
            self.quorum,
            tail(self.waited, self.attempts, &self.nodes)
        )
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
            if let Some(left) = self.ready_in() {
                write!(f, "masters are warming up, enough may vote in {}: ", Span(left))?;
            }
            let all = self.nodes.len();
            match self.may_vote() {
                Some(able) => write!(f, "{able} of {all} masters may vote, {quorum} needed")?,
                None => {
                    let granted = count(&self.nodes, &Answer::Granted);
                    write!(f, "{granted} of {all} masters granted, {quorum} needed")?;
                }
            }
        }
        f.write_str(&tail(self.waited, self.attempts, &self.nodes))?;
        let warming =
            |node: &NodeReport| matches!(node.answer, Answer::Refused(Refusal::WarmingUp { .. }));
        if self.nodes.iter().any(warming) {
            f.write_str(WARMING_UP)?;
        }
        if self.is_too_late() {
            f.write_str("; if neither masters nor this process were held up, raise ttl")?;
        }
        f.write_str(if_slow(&self.nodes))
    }
}

/// The advice about masters that have just started.
const WARMING_UP: &str = "; a master that has just started may have forgotten what it had granted: \
                          wait, or see restart_guard";

/// Checks whether a master that may vote refused, because of what it knows of the lock.
const fn refuses_the_lock(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::Refused(
            Refusal::Held { .. } | Refusal::Wanted { .. } | Refusal::Behind { .. } | Refusal::Stale
        )
    )
}

/// Returns what an acquire has cost, and what every master said.
fn tail(waited: Duration, attempts: u32, nodes: &[NodeReport]) -> String {
    let more = if attempts == 1 { "" } else { "s" };
    format!(" (after {}, {attempts} attempt{more}){}", Span(waited), listed(nodes))
}
