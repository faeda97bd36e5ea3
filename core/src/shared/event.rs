//! The output of the machine: what to do, and what has been decided.

use super::{AttemptId, Invariant, Keys, Observation, RequestId};
use crate::escape::OneLine;
use crate::lock::{Adopted, DetachedLock, NotAdopted};
use crate::master::Epoch;
use crate::obstacle::Obstacle;
use crate::questions::Seen;
use crate::quorum::{Instant, Membership, NodeSet};
use crate::report::{Answer, LossReason, NodeReport, Refusal, UnknownCause};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// An action for the driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Connect to `node`, then call `handle_connected` or `handle_closed`.
    Dial { node: usize, epoch: Epoch },
    /// Drop the connection.
    Close { node: usize, epoch: Epoch },
    /// Ask for credentials once more, then call `handle_credentials`.
    Renew { node: usize, epoch: Epoch },
}

/// The outcome of an extension.
type ExtendResult = Result<Extended, NotExtended>;

/// The outcome of a detachment.
type DetachResult = Result<Box<DetachedLock>, NotExtended>;

/// The fencing token of an acquire that has won, if it is fenced.
type WonBallot = Option<NonZeroU64>;

/// A decision of the machine.
#[derive(Debug)]
pub enum Event {
    /// Every node has been reached or has failed once.
    Connected,
    /// The lock is held. `ballot` is the fencing token of a fenced acquire.
    Acquired { request: RequestId, attempt: AttemptId, deadline: Instant, ballot: WonBallot },
    /// The lock is not held, and no attempt at it is left.
    NotAcquired { request: RequestId, failure: Failure, waited: Duration },
    /// The operating system gave no random bytes for a token.
    NoRandomness { request: RequestId },
    /// The end of an extension. `request` is `None` if the keeper has asked for it.
    Extended { request: Option<RequestId>, attempt: AttemptId, result: ExtendResult },
    /// The end of a release.
    Released { request: RequestId, release: Release },
    /// This no longer holds: the client has to end, and all its holds are lost.
    Broken(Invariant),
    /// A hold is over that was not released.
    Lost { attempt: AttemptId, reason: LossReason },
    /// `Ok`: the hold is over here, and a client with the value may adopt it.
    Detached { request: RequestId, attempt: AttemptId, result: DetachResult },
    /// `Ok`: the hold of another process has become one of ours.
    Adopted { request: RequestId, result: Result<Adopted, NotAdopted> },
    /// `Ok`: the hold of a writer has become a reader's. `Unconfirmed`: it is a writer's still.
    Downgraded { request: RequestId, attempt: AttemptId, result: ExtendResult },
    /// Every node's answer, by name. `waiting`: how many wait in the longest list; `None` if no master has said.
    Inspected { request: RequestId, nodes: Vec<(Arc<str>, Seen)>, waiting: Option<u64> },
    /// The outcome of a forced release, with every node's answer: `Ok` if a quorum no longer holds
    /// that key.
    ForceReleased { request: RequestId, result: Result<Vec<NodeReport>, Vec<NodeReport>> },
    /// For each key of a look, the time until it may be free; `None` if that is unknown.
    Looked { request: RequestId, free_in: Vec<Option<Duration>> },
    /// What is under each of the keys that have refused an acquire; `None` if most masters have nothing there,
    /// or none has answered.
    InTheWay { request: RequestId, found: Vec<Option<Obstacle>> },
    /// How many are ahead of an acquire, whenever the master of its list tells something new; `None`: it has left the
    /// list.
    Ahead { request: RequestId, ahead: Option<usize> },
    /// A message on a channel that `listener` listens to; `None`: one may have been missed.
    Heard { listener: RequestId, message: Option<Arc<str>> },
    /// How many processes have the message that asks them for a lock.
    Asked { request: RequestId, heard: u64 },
    /// The keeper's extension of a hold is due. It begins with
    /// [`handle_keep`](crate::coordinator::Coordinator::handle_keep), once the caller has picked the hold up.
    Keep { attempt: AttemptId },
    /// A client elsewhere has asked for a hold that is in use.
    Wanted { attempt: AttemptId },
    /// No decision, and only there if the machine is watched.
    Observed(Observation),
}

impl Event {
    /// Returns whether it answers the machine itself.
    pub(crate) const fn is_own(&self) -> bool {
        match self {
            Self::Acquired { request, .. }
            | Self::NotAcquired { request, .. }
            | Self::NoRandomness { request }
            | Self::Looked { request, .. } => request.is_own(),
            _ => false,
        }
    }
}

/// The reason for the failure of an acquire.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub reports: Vec<NodeReport>,
    pub attempts: u32,
    /// How many wait before it, as the master of its list says.
    pub ahead: Option<usize>,
    /// The keys that were in the way, if it is not known which of them, or what is under them.
    pub unnamed: Option<Keys>,
}

impl Failure {
    /// Creates the failure of an acquire that has asked no master: `obstacle` is in this process.
    pub(crate) const fn contended(obstacle: Obstacle, attempts: u32) -> Self {
        let kind = FailureKind::Contended(obstacle);
        Self { kind, reports: Vec::new(), attempts, ahead: None, unnamed: None }
    }

    /// Creates the failure of an acquire that could begin no attempt: this client had too many.
    pub(crate) const fn overloaded() -> Self {
        let kind = FailureKind::Overloaded;
        Self { kind, reports: Vec::new(), attempts: 0, ahead: None, unnamed: None }
    }

    /// Creates the failure of an acquire that could begin no attempt, since masters answer none in time.
    pub(crate) fn unanswered<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Self {
        let report = |node: &Arc<str>| NodeReport {
            node: node.clone(),
            answer: Answer::Unknown(UnknownCause::TimedOut),
            latency: Duration::ZERO,
        };
        Self {
            kind: FailureKind::NoQuorum,
            reports: names.map(report).collect(),
            ..Self::overloaded()
        }
    }

    /// Adds the keys of the acquire, if a holder that no node has `named` has refused it.
    pub(crate) fn unless_named(self, named: bool, keys: &Keys) -> Self {
        let unnamed = !named && self.kind == FailureKind::Contended(Obstacle::Holder(None));
        Self { unnamed: unnamed.then(|| keys.clone()), ..self }
    }
}

/// The kind of a failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// A quorum could have voted for us, and did not.
    Contended(Obstacle),
    /// Too few masters could vote in time.
    NoQuorum,
    /// A quorum granted when no validity was left.
    TooLate,
    /// Too few masters could vote, because something that all must have in common differs.
    Disagreement(Arc<str>),
    /// No master was asked: this client had as many rounds open as its masters answer in time.
    Overloaded,
}

impl FailureKind {
    /// Returns the kind in a word, as events name it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Contended(_) => "contended",
            Self::NoQuorum => "no_quorum",
            Self::TooLate => "too_late",
            Self::Disagreement(_) => "disagreement",
            Self::Overloaded => "overloaded",
        }
    }

    /// Returns whether other clients kept us from a quorum that could vote.
    pub const fn is_contended(&self) -> bool {
        matches!(self, Self::Contended(_))
    }

    /// Returns the cause of a loss, where `named` is the holder that most of the masters have named.
    /// It is another holder if a quorum could have voted for us. If no quorum could, it is an outage,
    /// even if the lock is held. It is a disagreement instead if the disagreement alone would have
    /// been enough to prevent a quorum.
    pub(crate) fn of(membership: Membership, reports: &[NodeReport], named: Obstacle) -> Self {
        use Refusal::{Barred, Behind, Disagreement, Held, Stale, Wanted};
        let refused = |with: fn(&Refusal) -> bool| {
            let is_refused = |answer: &Answer| matches!(answer, Answer::Refused(why) if with(why));
            NodeSet::places(reports, |report| is_refused(&report.answer))
        };
        let held =
            refused(|why| matches!(why, Held { .. } | Wanted { .. } | Behind { .. } | Stale));
        let is_able =
            |report: &NodeReport| matches!(report.answer, Answer::Granted | Answer::Outstanding);
        let able = NodeSet::places(reports, is_able).union(held);
        if held != NodeSet::EMPTY && membership.is_quorum(able) {
            return Self::Contended(Obstacle::of(membership, reports, named));
        }
        let disagreeing = refused(|why| matches!(why, Disagreement(_) | Barred { .. }));
        if membership.can_spare(disagreeing) {
            return Self::NoQuorum;
        }
        let disagrees = |report: &NodeReport| match &report.answer {
            Answer::Refused(Disagreement(cause)) => Some(cause.clone()),
            _ => None,
        };
        let barred = |report: &NodeReport| {
            let Answer::Refused(reason @ Barred { by }) = &report.answer else { return None };
            let cause = format!(
                "{reason}: stop that client, which `quorumlock doctor` shows with its list at \
                 {}, or name both lists with joint_with",
                OneLine(by)
            );
            Some(cause.into())
        };
        let cause = reports.iter().find_map(disagrees).or_else(|| reports.iter().find_map(barred));
        cause.map_or(Self::NoQuorum, Self::Disagreement)
    }
}

/// A deadline that an extension has moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extended {
    pub deadline: Instant,
    /// Whether it is the end of the keep-alive, so that no extension moves it any further.
    pub is_last: bool,
}

/// The reason for a deadline that did not move.
#[derive(Clone, Debug)]
pub enum NotExtended {
    /// The hold is over, as its `Lost` event has reported.
    Lost,
    /// The old deadline still applies.
    Unconfirmed(Vec<NodeReport>),
}

/// The outcome of a release.
#[derive(Clone, Debug)]
pub enum Release {
    /// A quorum has deleted our key.
    Released,
    /// The lock was lost before.
    Lost(LossReason),
    /// No quorum has confirmed the release. The rest is owed.
    Unconfirmed(Vec<NodeReport>),
}

impl Release {
    /// Returns the outcome in a word, as events and metrics name it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Lost(_) => "lost",
            Self::Unconfirmed(_) => "unconfirmed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_added_unless_a_node_has_named_the_holder() {
        let keys = Keys::from("r");
        let failed =
            |obstacle, named| Failure::contended(obstacle, 1).unless_named(named, &keys).unnamed;
        assert_eq!(failed(Obstacle::Holder(None), false), Some(keys.clone()));
        assert_eq!(failed(Obstacle::Holder(None), true), None);
        assert_eq!(failed(Obstacle::OwnGuard, false), None);
    }
}
