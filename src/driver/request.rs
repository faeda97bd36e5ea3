//! The requests of handles and guards to the driver.

use super::acquirer::Acquirer;
use super::{Callers, ReleaseOnDrop};
use crate::failure::{ExtendError, LossReason};
use crate::fencing::FencingToken;
use crate::released::Released;
use quorumlock_core::coordinator::wire::{Mailbox, Token};
use quorumlock_core::coordinator::{AcquireRequest, AttemptId, Coordinator, NotAdopted, RequestId};
use quorumlock_core::quorum::Instant;
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

/// Where the new deadline of a hold comes.
pub(crate) type Extending = oneshot::Receiver<Result<Instant, ExtendError>>;

/// The outcome of a release, or the reason why the lock had been lost before.
pub(crate) type ReleaseResult = Result<Released, LossReason>;

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
