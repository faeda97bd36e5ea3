//! The requests of handles and guards to the driver.

use super::acquirer::Acquirer;
use super::hand_over::Adopter;
use super::{Handle, InTransit, LeaseState, ReleaseOnDrop};
use crate::failure::{ExtendError, LossReason, NotReady};
use crate::fencing::FencingToken;
use crate::released::Released;
use crate::report::NodeReport;
use quorumlock_core::coordinator::wire::{Mailbox, Token};
use quorumlock_core::coordinator::{
    AcquireRequest, AttemptId, Beside, DetachedLock, Mark, NotAdopted, RequestId, Seen,
};
use quorumlock_core::quorum::{Instant, Membership};
use quorumlock_core::status::Status;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

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

/// The outcome of a release, or the reason why the lock had been lost before.
pub(crate) type ReleaseResult = Result<Released, LossReason>;

/// The answers of all nodes to an inspection, and the membership by which they are judged.
pub(crate) struct Inspected {
    pub(crate) nodes: Vec<(Arc<str>, Seen)>,
    pub(crate) membership: Membership,
    /// How many wait in its list.
    pub(crate) waiting: Option<u64>,
}

/// This client's own knowledge of keys, without asking a master.
#[derive(Default)]
pub(crate) struct Own {
    /// The process in which its tokens begin.
    pub(crate) mailbox: Option<Mailbox>,
    /// For each key, the token of the hold that is kept warm under it, and idle.
    pub(crate) idle: Vec<Option<Token>>,
}

/// The time until each key may be free; `None` if that is unknown.
pub(super) type Looked = Vec<Option<Duration>>;

/// The answers of all nodes to a forced release; `Ok` if a quorum does not hold that key any more.
pub(crate) type ForceReleased = Result<Vec<NodeReport>, Vec<NodeReport>>;

/// The way of a lock that was detached to its caller. Dropped if the lock is lost.
pub(super) type DetachReply = Reply<Result<InTransit, ExtendError>>;

/// The answer to a caller that adopts a lock.
pub(crate) type AdoptResult = Result<Won, (NotAdopted, Membership)>;

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
    /// Make the hold of a writer a reader's. `from` is over with that, and `to` is held.
    Downgrade {
        request: RequestId,
        from: Arc<LeaseState>,
        to: Arc<LeaseState>,
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
    Forget(AttemptId),
    /// A guard has this hold, which it has taken from the shelf, and needs the machine.
    Claimed(AttemptId),
    Detach {
        request: RequestId,
        attempt: AttemptId,
        driver: Handle,
        reply: DetachReply,
    },
    Adopt {
        request: RequestId,
        lock: Box<DetachedLock>,
        adopter: Adopter,
    },
    /// Release what was detached, and is in no other hands. `adopting` is the request that may still
    /// adopt it.
    GiveBack {
        lock: Box<DetachedLock>,
        adopting: Option<RequestId>,
    },
    Inspect {
        request: RequestId,
        key: Arc<str>,
        beside: Option<Beside>,
        reply: Reply<Inspected>,
    },
    ForceRelease {
        request: RequestId,
        key: Arc<str>,
        /// The key of the readers, if the value is one of them.
        readers: Option<Arc<str>>,
        value: Mark,
        reply: Reply<ForceReleased>,
    },
    /// Ask the processes of these holders to give `key` back, by messages at the master of `channel`.
    Ask {
        request: RequestId,
        key: Arc<str>,
        channel: Arc<str>,
        holders: Vec<Mark>,
        reply: Reply<u64>,
    },
    /// Report what this client itself knows of `keys`.
    Own {
        keys: Vec<Arc<str>>,
        reply: Reply<Own>,
    },
    /// When each of `keys` is free, as all masters say.
    Look {
        request: RequestId,
        keys: Vec<Arc<str>>,
        reply: Reply<Looked>,
    },
    /// `ear` is notified of the messages of a channel, until `listener` no longer listens.
    Listen {
        listener: RequestId,
        channel: Arc<str>,
        ear: Arc<Notify>,
    },
    Unlisten {
        listener: RequestId,
        channel: Arc<str>,
    },
    /// A caller has the connection. This takes the way of all requests, so that the driver
    /// knows of it before it can see that the last handle is gone.
    Connected,
    Status(Reply<Status>),
    WaitUntilReady {
        within: Duration,
        reply: Reply<Result<(), NotReady>>,
    },
    /// The reply is dropped when the driver has ended.
    Shutdown(Reply<()>),
}
