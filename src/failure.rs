//! The errors that hold no handle, guard or value of the crate. [`crate::error`] has all of them.

mod acquire;
mod blocked;
mod call;
#[cfg(feature = "config")]
mod config;
mod connect;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use crate::report::listed;
pub use acquire::{AcquireError, Contended, Disagreement, NoQuorum, Overloaded};
pub(crate) use blocked::Blocked;
pub(crate) use call::Checked;
pub use call::{InvalidSetting, NoRandomness, WrongContext};
#[cfg(feature = "config")]
pub use config::ConfigError;
pub use connect::{ConnectError, ListError, NodeProblem, NotReady, PreflightError, ReadyError};
pub use quorumlock_core::report::LossReason;
pub use run::{OnceError, ReentrantError, RunError};

use crate::report::{Answer, Escaped, NodeReport, Span, UnknownCause, behind};
use quorumlock_core::quorum::Membership;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Returns how many masters gave this answer.
fn count(nodes: &[NodeReport], answer: &Answer) -> usize {
    nodes.iter().filter(|node| node.answer == *answer).count()
}

/// Returns the advice about masters that have not answered in time, if there are any.
fn if_slow(nodes: &[NodeReport]) -> &'static str {
    let timed_out = |node: &NodeReport| node.answer == Answer::Unknown(UnknownCause::TimedOut);
    match nodes.iter().any(timed_out) {
        true => "; if a master is only slow, raise operation_timeout, and ttl to ten times that",
        false => "",
    }
}

/// This `Redlock` was shut down, or the runtime it was connected on is gone, or this process is a fork of the process
/// that has connected: a fork has to connect for itself. Or the client has found a fault of its own, and has ended.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("closed: {why}")]
#[non_exhaustive]
pub struct Closed {
    pub(crate) why: Why,
}

impl Closed {
    /// The driver has ended, in this process.
    pub(crate) const ENDED: Self = Self { why: Why::Ended };
}

/// The reason why a client can do nothing any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum Why {
    /// It has ended, in this process.
    #[error(
        "this Redlock was shut down, or the runtime it was connected on is gone; connect again"
    )]
    Ended,
    #[error("this process is a fork of the one that has connected; connect after the fork")]
    Forked,
    /// This is so in it, although it must not.
    #[error("{0}, a fault of quorumlock: report it, and connect again")]
    Broken(&'static str),
}

/// The lock is lost for good: it can no longer be relied on. Another client may hold it now, so the
/// work done since the loss may have overlapped with that of another holder.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct Lost {
    /// The resource that was locked.
    pub resource: Arc<str>,
    /// The reason.
    pub reason: LossReason,
    /// The time from the win to the loss. The loss is the deadline, or the moment when a quorum was
    /// known to be gone, which may have been some time after it went. If only the release has shown
    /// that, it is the moment when the guard was given up.
    pub held_for: Duration,
    /// Whether its deadline was the end of its keep-alive:
    /// [`max_hold`](crate::RedlockBuilder::max_hold), or
    /// [`keep_alive_for`](crate::Acquire::keep_alive_for) of the call. If a lock that is kept alive
    /// has lapsed before that, too few masters had confirmed its extensions.
    pub at_max_hold: bool,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = Span(self.held_for);
        write!(f, "lost {:?} {held} after it was acquired: ", Escaped(&self.resource))?;
        match &self.reason {
            LossReason::Lapsed if self.at_max_hold => f.write_str("it has reached its max_hold"),
            LossReason::Lapsed => f.write_str("its deadline has passed"),
            LossReason::QuorumGone(nodes) => {
                write!(f, "a quorum no longer has its key{}", listed(nodes))
            }
            LossReason::Released => f.write_str("its guard was given up"),
            LossReason::Downgraded => f.write_str("it was downgraded, and others may read"),
            LossReason::Detached => f.write_str("it was detached, for another to adopt"),
            LossReason::Forked => Why::Forked.fmt(f),
            LossReason::Broken(what) => Why::Broken(what).fmt(f),
            // `Closed`.
            _ => Why::Ended.fmt(f),
        }
    }
}

/// The reason why an extension did not move the deadline.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExtendError {
    /// The lock is lost, for good.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// Too few masters answered: the lock is held until its old deadline, nothing is destroyed,
    /// and another extension may succeed.
    /// After `SCRIPT FLUSH`, the first extension, detachment or adoption may fail in this way: each master is
    /// given its scripts again at once, and the next one succeeds.
    #[error(transparent)]
    Unextended(#[from] Unextended),
}

/// Too few masters confirmed an extension in time. The old deadline remains in force.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "{:?} was not extended, its deadline stands: {} of {} masters confirmed, {quorum} needed{}{}",
    Escaped(resource),
    count(nodes, &Answer::Held),
    nodes.len(),
    listed(nodes),
    if_slow(nodes)
)]
#[non_exhaustive]
pub struct Unextended {
    /// The locked resource.
    pub resource: Arc<str>,
    /// The answer of every master.
    pub nodes: Vec<NodeReport>,
    pub(crate) quorum: Membership,
}

/// [`Redlock::shutdown`](crate::Redlock::shutdown) ran out of time, or was called in a fork.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct ShutdownError {
    /// Unconfirmed deletions, counted once per master. Zero in a fork, where nothing was shut down.
    pub owed: usize,
}

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.owed {
            0 => write!(f, "not shut down: {}", Why::Forked),
            owed => write!(
                f,
                "{owed} releases and rollbacks were not confirmed in time: their keys expire with their ttl"
            ),
        }
    }
}

/// The reason why a lock was not adopted.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AdoptErrorKind {
    /// It came too late, and is lost for good.
    #[error(transparent)]
    TooLate(#[from] TooLate),
    /// Too few masters confirmed: another try may succeed.
    #[error(transparent)]
    Unadopted(#[from] Unadopted),
    /// This client has a guard of it, or of one of its resources.
    #[error(transparent)]
    HeldHere(#[from] HeldHere),
    /// The call cannot succeed as it is: fix it. It sent nothing.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// This `Redlock` was shut down, or its runtime is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// The lock is lost for good. Another client may hold it now, or may have held it since it was
/// detached.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub struct TooLate {
    /// The resource.
    pub resource: Arc<str>,
    /// The reason: [`LossReason::QuorumGone`], with what every master said, or
    /// [`LossReason::Lapsed`] if its keep-alive is over, or if it was adopted and then not picked up
    /// before its deadline.
    pub reason: LossReason,
}

impl fmt::Display for TooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is lost: ", Escaped(&self.resource))?;
        match &self.reason {
            LossReason::QuorumGone(nodes) => {
                write!(f, "too few masters have held its key all along{}", listed(nodes))
            }
            _ => f.write_str("its time was over"),
        }
    }
}

/// Too few masters confirmed in time that they hold the key. The masters that did confirm have
/// given it another ttl.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "{} of {} masters confirmed {:?}, {quorum} needed{}{}",
    count(nodes, &Answer::Held),
    nodes.len(),
    Escaped(resource),
    listed(nodes),
    if_slow(nodes)
)]
#[non_exhaustive]
pub struct Unadopted {
    /// The resource.
    pub resource: Arc<str>,
    /// The answer of every master.
    pub nodes: Vec<NodeReport>,
    pub(crate) quorum: Membership,
}

/// This client has a guard of the lock, or of one of its resources: it was adopted already, or it is
/// another lock, and the one to be adopted is lost.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{:?} is held by this client", Escaped(resource))]
#[non_exhaustive]
pub struct HeldHere {
    /// The resource.
    pub resource: Arc<str>,
}

debug_is_display!(
    AcquireError,
    AdoptErrorKind,
    Closed,
    ConnectError,
    Contended,
    Disagreement,
    ExtendError,
    HeldHere,
    InvalidSetting,
    ListError,
    Lost,
    NoQuorum,
    NoRandomness,
    NotReady,
    Overloaded,
    PreflightError,
    ReadyError,
    ReentrantError,
    { T } RunError<T>,
    ShutdownError,
    TooLate,
    Unadopted,
    Unextended,
    WrongContext,
);
#[cfg(feature = "config")]
debug_is_display!(ConfigError);

/// The body's own error is shown in its own form.
impl<T, E: fmt::Debug> fmt::Debug for OnceError<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAcquired(error) => fmt::Display::fmt(error, f),
            Self::Failed(error) => error.fmt(f),
            Self::Lost { lost, result } => {
                write!(f, "{lost}; the work {}", run::ended(result.as_ref()))
            }
        }
    }
}
