//! A caller that waits for a lock, and the answers that it gets.

use super::holds::Holds;
use super::request::{Reply, Won};
use super::{Ahead, Handle, LeaseState, ReleaseOnDrop};
use crate::failure::{AcquireError, Blocked, Contended, Disagreement, NoQuorum, Overloaded};
use crate::fencing::FencingToken;
use crate::kind_name::KindName;
use crate::report::{Answer, NodeReport, Obstacle};
use crate::telemetry::Span;
use quorumlock_core::coordinator::{AttemptId, Failure, FailureKind};
use quorumlock_core::quorum::{Instant, Membership};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct Acquirer {
    pub(crate) driver: Handle,
    pub(crate) resource: Arc<str>,
    pub(crate) kind: KindName,
    /// It goes on while another holder has the lock.
    pub(crate) waits: bool,
    /// The span for everything that is reported about it.
    pub(crate) span: Span,
    /// Where to note how many are ahead of it, if it is fair.
    pub(crate) ahead: Option<Ahead>,
    /// An error is boxed: the memory for the answer is kept as long as the caller waits.
    pub(crate) reply: Reply<Result<Won, Box<AcquireError>>>,
}

impl Acquirer {
    /// Returns whether the caller has gone. Its cancellation comes after that.
    pub(super) fn has_gone(&self) -> bool {
        self.reply.is_closed()
    }

    /// Sends the lock itself to its caller: if the caller does not pick it up, it is released.
    pub(super) fn acquired(
        self,
        holds: &mut Holds,
        (attempt, now, deadline): (AttemptId, Instant, Instant),
        token: Option<FencingToken>,
        slot: Option<u8>,
    ) {
        let hold = LeaseState::new(attempt, self.resource, self.kind, now, deadline);
        let hold = Arc::new(hold);
        holds.insert(hold.clone());
        let lock = ReleaseOnDrop::new(self.driver, hold);
        let _ = self.reply.send(Ok(Won { lock, token, slot }));
    }

    /// `blocked`: those of several resources that are in the way, and their obstacles. `held`: the
    /// resources that this client held meanwhile.
    pub(super) fn failed(
        self,
        failure: Failure,
        waited: Duration,
        quorum: Membership,
        blocked: Vec<(Arc<str>, Obstacle)>,
        mut held: Vec<Arc<str>>,
    ) {
        held.retain(|held| blocked.iter().all(|(resource, _)| resource != held));
        let Failure { kind, reports: nodes, attempts, ahead, .. } = failure;
        let resource = self.resource.clone();
        self.refused(match kind {
            FailureKind::Contended(obstacle) => Contended {
                resource,
                waited,
                attempts,
                nodes,
                obstacle,
                blocked: Blocked::of(blocked, held),
                ahead: ahead.map(|ahead| u16::try_from(ahead).unwrap_or(u16::MAX)),
                quorum,
            }
            .into(),
            FailureKind::NoQuorum => {
                let (quorum, nodes) = (Some(quorum), available(nodes));
                NoQuorum { resource, waited, attempts, nodes, quorum }.into()
            }
            FailureKind::TooLate => {
                NoQuorum { resource, waited, attempts, nodes, quorum: Some(quorum) }.into()
            }
            FailureKind::Overloaded => Overloaded { resource, waited }.into(),
            FailureKind::Disagreement(cause) => {
                Disagreement { resource, waited, attempts, cause, nodes }.into()
            }
        });
    }

    pub(super) fn refused(self, error: AcquireError) {
        let _ = self.reply.send(Err(error.into()));
    }

    /// Shows how many are ahead of it.
    pub(super) fn moved(&self, ahead: Option<usize>) {
        if let Some(shown) = &self.ahead {
            shown.set(ahead);
        }
    }
}

/// Returns what masters said where there was no quorum. A master that was not waited for, or not even asked,
/// is not to blame.
fn available(mut nodes: Vec<NodeReport>) -> Vec<NodeReport> {
    for node in nodes.iter_mut().filter(|node| node.answer == Answer::Outstanding) {
        node.answer = Answer::Available;
    }
    nodes
}
