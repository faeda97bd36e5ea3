//! The errors of connecting, of asking beforehand, of a wait for enough masters, and of listing locks.

use super::{Closed, InvalidSetting, NoRandomness, WrongContext, behind};
use crate::report::{Folded, OneLine, Said, Span, fold};
use quorumlock_core::coordinator::Masters;
use quorumlock_core::quorum::{Admission, Instant};
use quorumlock_core::status::{NodeStanding, Status};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The reason why there is no connection to the masters. Masters that are down or warming up are
/// not an error: they are redialled in the background, and an acquire reports whether enough
/// masters may vote. Nor are unfit masters an error if the rest is a quorum without them, unless
/// [`strict`](crate::RedlockBuilder::strict) asks for that.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// A setting cannot work: fix it.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// There is no tokio runtime, or no thread, to run on; or the runtime is missing a driver.
    #[error(transparent)]
    WrongContext(#[from] WrongContext),
    /// The operating system provides no random bytes for tokens.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// Masters answered, and what they said is evidence of a mistake. The others are too few, or no
    /// master may be unfit. Contains the masters that cannot be used as configured: credentials,
    /// rights, a certificate that is not accepted, a replica or a promoted replica, eviction, one
    /// server under two names, less persistence than is trusted.
    #[error("nodes: {}", listed(["cannot be used", "cannot be used"], .0))]
    Unfit(Vec<NodeProblem>),
    /// Another client of these masters is configured with other settings: another `max_ttl`, another
    /// fencing window, or lists of masters that have no list in common. Both could win, or the masters
    /// that do not know it are too few, so the later one is refused. Contains the masters that
    /// reported it, with the settings of both clients.
    #[error("nodes: {}", listed(["disagrees", "disagree"], .0))]
    Disagreement(Vec<NodeProblem>),
    /// The runtime went away in the meantime.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// A master, and its problem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeProblem {
    /// The master's address as configured, without credentials.
    pub node: Arc<str>,
    /// The problem there, and what to do about it.
    pub problem: Arc<str>,
}

/// The reason why no master was asked whether it is fit.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PreflightError {
    /// A setting cannot work: fix it.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// There is no tokio runtime, or no thread, to run on; or the runtime is missing a driver.
    #[error(transparent)]
    WrongContext(#[from] WrongContext),
}

/// The reason why [`wait_until_ready`](crate::Redlock::wait_until_ready) ended without a quorum.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadyError {
    /// Too few masters may vote, and the time is over.
    #[error(transparent)]
    NotReady(#[from] NotReady),
    /// The call cannot succeed in this context: make it in another.
    #[error(transparent)]
    WrongContext(#[from] WrongContext),
    /// This `Redlock` was shut down, or its runtime is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// Too few masters may vote, after a wait for more of them.
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "not ready after {}: {}{}",
    Span(*waited),
    status.count(),
    behind(status.nodes().iter().map(ToString::to_string))
)]
#[non_exhaustive]
pub struct NotReady {
    /// The time spent waiting.
    pub waited: Duration,
    /// The status of the masters.
    pub status: Status,
}

/// The reason why a list of locks ended early, or is incomplete. Masters that are down are no
/// error as long as the others are enough.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListError {
    /// The call cannot succeed as it is: fix it.
    #[error(transparent)]
    InvalidSetting(#[from] InvalidSetting),
    /// The call cannot succeed in this context: make it in another.
    #[error(transparent)]
    WrongContext(#[from] WrongContext),
    /// Too few masters could be scanned, or may vote: locks may be held that were not listed.
    /// Contains each master that could not be used, and what to do about it.
    #[error("the list may lack locks, too few masters can be scanned{}", also(.0))]
    Incomplete(Vec<NodeProblem>),
    /// The runtime that the list was made on is gone.
    #[error(transparent)]
    Closed(#[from] Closed),
}

fn also(nodes: &[NodeProblem]) -> String {
    behind(folded(nodes).iter().map(Folded::to_string))
}

/// `what` is said of one master, and of several.
fn listed(what: [&str; 2], nodes: &[NodeProblem]) -> String {
    let folded = folded(nodes);
    let problems = folded.iter().map(|Folded { masters, count, words }| {
        format!("{masters} {}: {words}", what[usize::from(*count > 1)])
    });
    problems.collect::<Vec<_>>().join("; ")
}

/// Returns each problem once, with the names of the masters that have it.
fn folded(nodes: &[NodeProblem]) -> Vec<Folded> {
    let reports = nodes.iter().map(|NodeProblem { node, problem }| Said {
        master: OneLine(node).to_string(),
        words: OneLine(problem).to_string(),
        span: None,
        latency: None,
    });
    fold(reports, None)
}

impl ConnectError {
    /// Returns the reason to refuse a client that has met the masters in this state, if it is not
    /// admitted.
    pub(crate) fn refusal(admission: Admission, masters: &Masters, now: Instant) -> Option<Self> {
        let problem = |node: &Arc<str>, problem: &Arc<str>| NodeProblem {
            node: node.clone(),
            problem: problem.clone(),
        };
        match admission {
            Admission::Granted => None,
            Admission::Unfit => {
                let status = masters.status(now);
                let unfit = status.nodes().iter().filter_map(|status| match &status.standing {
                    NodeStanding::Unfit(cause) | NodeStanding::Rejected(cause) => {
                        Some(problem(&status.node, cause))
                    }
                    _ => None,
                });
                Some(Self::Unfit(unfit.collect()))
            }
            // Each master with a report: one that has no vote may be the only one that knows.
            Admission::Disagreement => {
                let problems = masters.reports().map(|(node, cause)| problem(node, cause));
                Some(Self::Disagreement(problems.collect()))
            }
        }
    }
}
