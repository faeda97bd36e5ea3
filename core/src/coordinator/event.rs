//! What the machine hands out: what to do, and what has been decided.

use super::{AttemptId, Epoch, RequestId, Seen};
use crate::quorum::{Instant, Membership, NodeSet};
use crate::report::{Answer, NodeReport, Reason};
use std::sync::Arc;
use std::time::Duration;

/// What the driver is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Connect to `node`, and say `handle_connected` or `handle_dial_failed`.
    Dial { node: usize, epoch: Epoch },
    /// Drop the connection.
    Close { node: usize, epoch: Epoch },
}

/// What has been decided.
#[derive(Debug)]
pub enum Event {
    /// Every node has been reached or has failed, once.
    Settled,
    Acquired {
        request: RequestId,
        attempt: AttemptId,
        deadline: Instant,
        /// The fencing token of a fenced acquire; zero otherwise.
        ballot: u64,
    },
    NotAcquired {
        request: RequestId,
        failure: Failure,
        waited: Duration,
    },
    /// The operating system gave no random bytes for a token.
    NoRandomness {
        request: RequestId,
    },
    /// `request` is `None` for an extension of the keeper's.
    Extended {
        request: Option<RequestId>,
        attempt: AttemptId,
        result: Result<Instant, NotExtended>,
    },
    Released {
        request: RequestId,
        release: Release,
    },
    Lost {
        attempt: AttemptId,
        loss: Loss,
    },
    /// What every node said, by name; by which membership it is to be judged.
    Inspected {
        request: RequestId,
        nodes: Vec<(Arc<str>, Seen)>,
        membership: Membership,
    },
    /// Whether a quorum does not hold that key any more, and what every node said.
    ForceReleased {
        request: RequestId,
        result: Result<Vec<NodeReport>, Vec<NodeReport>>,
    },
}

/// Why an acquire failed.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub reports: Vec<NodeReport>,
    pub attempts: u32,
}

impl Failure {
    /// Somebody else in this process was in front.
    pub(super) const fn contended(attempts: u32) -> Self {
        Self { kind: FailureKind::Contended, reports: Vec::new(), attempts }
    }
}

/// What the caller can do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// Somebody else holds it.
    Contended,
    /// Too few masters could vote in time.
    NoQuorum,
    /// The same, since something that all must have in common is not.
    Disagreement(Arc<str>),
}

impl FailureKind {
    /// What a loss is due to. To another holder if a quorum could have voted for us; if it could not,
    /// it is an outage, whoever holds the lock, or a disagreement if that alone would have been enough.
    pub(super) fn of(membership: Membership, reports: &[NodeReport]) -> Self {
        let nodes = |wanted: fn(&Answer) -> bool| -> NodeSet {
            let said = reports.iter().enumerate();
            said.filter_map(|(node, report)| wanted(&report.answer).then_some(node)).collect()
        };
        let held =
            nodes(|answer| matches!(answer, Answer::Refused(Reason::Held { .. } | Reason::Stale)));
        let able =
            nodes(|answer| matches!(answer, Answer::Granted | Answer::Outstanding)).union(held);
        if held != NodeSet::EMPTY && membership.is_quorum(able) {
            return Self::Contended;
        }
        let disagreeing = nodes(|answer| {
            matches!(answer, Answer::Refused(Reason::Disagreement(_) | Reason::Barred { .. }))
        });
        if membership.can_spare(disagreeing) {
            return Self::NoQuorum;
        }
        let told = |report: &NodeReport| match &report.answer {
            Answer::Refused(Reason::Disagreement(cause)) => Some(cause.clone()),
            _ => None,
        };
        let barred = |report: &NodeReport| match &report.answer {
            Answer::Refused(reason @ Reason::Barred { .. }) => Some(reason.to_string().into()),
            _ => None,
        };
        let cause = reports.iter().find_map(told).or_else(|| reports.iter().find_map(barred));
        cause.map_or(Self::NoQuorum, Self::Disagreement)
    }
}

/// Why a hold is over.
#[derive(Clone, Debug)]
pub enum Loss {
    /// The deadline has passed.
    Lapsed,
    /// A quorum is known not to hold our token.
    QuorumGone(Arc<Vec<NodeReport>>),
    /// It was released meanwhile.
    Released,
}

/// Why a deadline did not move.
#[derive(Clone, Debug)]
pub enum NotExtended {
    /// The hold is over, as its `Lost` has said.
    Lost,
    /// The old deadline stays.
    Unconfirmed(Vec<NodeReport>),
}

/// What has come of a release.
#[derive(Clone, Debug)]
pub enum Release {
    /// A quorum has deleted our key.
    Released,
    /// It was lost before.
    Lost(Loss),
    /// No quorum has confirmed; the rest is owed.
    Unconfirmed(Vec<NodeReport>),
}
