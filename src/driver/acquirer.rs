//! A caller that waits for a lock, and the answers that it gets.

use super::Handle;
use super::request::{Reply, Won};
use crate::failure::{AcquireError, Blocked, Contended, Disagreement, NoQuorum, Overloaded};
use crate::kind_name::KindName;
use crate::report::{Answer, NodeReport, Obstacle};
use crate::telemetry::Span;
use quorumlock_core::coordinator::{Failure, FailureKind};
use quorumlock_core::quorum::Membership;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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
}

/// Returns what masters said where there was no quorum. A master that was not waited for, or not even asked,
/// is not to blame.
fn available(mut nodes: Vec<NodeReport>) -> Vec<NodeReport> {
    for node in nodes.iter_mut().filter(|node| node.answer == Answer::Outstanding) {
        node.answer = Answer::Available;
    }
    nodes
}

/// How many are ahead of an acquire, for its caller to look at while it waits: one more than there are, and zero if
/// that is not known. The driver sets it, and the caller reads it.
#[derive(Clone, Default)]
pub(crate) struct Ahead(Arc<AtomicUsize>);

impl Ahead {
    pub(super) fn set(&self, ahead: Option<usize>) {
        self.0.store(ahead.map_or(0, |ahead| ahead.saturating_add(1)), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<usize> {
        self.0.load(Ordering::Relaxed).checked_sub(1)
    }
}
