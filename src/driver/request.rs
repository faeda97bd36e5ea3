//! The requests of handles and guards to the driver.

use super::{Callers, Handle, ReleaseOnDrop};
use crate::failure::{
    AcquireError, Blocked, Contended, Disagreement, ExtendError, LossReason, NoQuorum, Overloaded,
};
use crate::fencing::FencingToken;
use crate::kind_name::KindName;
use crate::released::Released;
use crate::report::{Answer, NodeReport, Obstacle};
use crate::telemetry::Span;
use quorumlock_core::coordinator::wire::{Mailbox, Token};
use quorumlock_core::coordinator::{
    AcquireRequest, AttemptId, Coordinator, Failure, FailureKind, NotAdopted, RequestId,
};
use quorumlock_core::quorum::{Instant, Membership};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;

/// The channel through which a caller is answered.
pub(super) type Reply<T> = oneshot::Sender<T>;

/// The result for a caller that has won.
pub(crate) struct Won {
    /// The lock, which releases itself.
    pub(crate) lock: ReleaseOnDrop,
    /// Present if the acquire was fenced.
    pub(crate) token: Option<FencingToken>,
    /// Present if it is a permit of a semaphore.
    pub(crate) slot: Option<u8>,
}

/// The outcome of an acquire. An error is boxed: the memory for the answer is kept as long as the caller waits.
pub(crate) type AcquireResult = Result<Won, Box<AcquireError>>;

/// Where the new deadline of a hold comes, or the value that it becomes.
pub(crate) type Extending<T = Instant> = oneshot::Receiver<Result<T, ExtendError>>;

/// The outcome of a release, or the reason why the lock had been lost before.
pub(crate) type ReleaseResult = Result<Released, LossReason>;

/// Where the outcome of a release comes; `None` if the lock stays in this process.
pub(crate) type Releasing = Option<oneshot::Receiver<ReleaseResult>>;

/// This client's own knowledge of keys, without asking a master.
#[derive(Default)]
pub(crate) struct Own {
    /// The process in which its tokens begin.
    pub(crate) mailbox: Option<Mailbox>,
    /// For each key, the token of the hold that is kept warm under it, and idle.
    pub(crate) idle: Vec<Option<Token>>,
}

/// The answer to a caller that adopts a lock.
pub(crate) type AdoptResult = Result<ReleaseOnDrop, NotAdopted>;

/// A request for a lock. All others pass by it, the cancellation of it as well.
pub(crate) struct LockRequest {
    pub(crate) request: RequestId,
    pub(crate) terms: AcquireRequest,
    pub(crate) acquirer: Acquirer,
}

/// Any other request of a handle or a guard to the driver.
pub(crate) enum Request {
    /// The caller of an acquire has gone.
    Cancel(RequestId),
    Extend {
        request: RequestId,
        attempt: AttemptId,
        reply: Reply<Result<Instant, ExtendError>>,
    },
    /// `in_time`: the guard was given up before its deadline. `ends_well`: so did the work, and the keys stay, or
    /// the hold stays idle, if the acquire has asked for that.
    Release {
        request: RequestId,
        attempt: AttemptId,
        in_time: bool,
        ends_well: bool,
        reply: Option<Reply<ReleaseResult>>,
    },
    /// A guard has this hold, which it has taken from the shelf, and needs the machine.
    Claimed(AttemptId),
    /// Any other, which is written where it is asked. Those above are on the way of each lock, and take no memory of
    /// their own.
    Run(Run),
}

/// The driver's part of a request.
pub(super) type Run = Box<dyn FnOnce(&mut Callers, &mut Coordinator, Instant) + Send>;

/// A caller that waits for a lock, as the caller itself and the driver both see it.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) driver: Handle,
    pub(crate) resource: Arc<str>,
    pub(crate) kind: KindName,
    /// The span for everything that is reported about it.
    pub(crate) span: Span,
    /// How many are ahead of it, if it is fair.
    pub(crate) ahead: Option<Ahead>,
}

/// A caller that waits for a lock, and the channel through which it is answered.
pub(crate) struct Acquirer {
    pub(crate) caller: Caller,
    /// It goes on while another holder has the lock.
    pub(crate) waits: bool,
    pub(crate) reply: Reply<AcquireResult>,
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
        let resource = self.caller.resource.clone();
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
