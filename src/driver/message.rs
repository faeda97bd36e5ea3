//! What handles and guards say to the driver.

use super::{Handle, ReleaseOnDrop};
use crate::error::{AcquireError, ExtendError, NotReady};
use crate::released::Released;
use crate::report::NodeReport;
use crate::status::Status;
use crate::telemetry::Span;
use quorumlock_core::coordinator::{Acquire, AttemptId, Mark, RequestId, Seen};
use quorumlock_core::quorum::{Instant, Membership};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// What a caller hands over to be answered through.
pub(super) type Reply<T> = oneshot::Sender<T>;

/// What a caller has won: the lock, which releases itself, and the ballot (zero if it is unfenced).
pub(crate) type Won = (ReleaseOnDrop, u64);

/// What every node said to an inspection, and by which membership it is judged.
pub(super) type Inspected = (Vec<(Arc<str>, Seen)>, Membership);

/// Whether a quorum does not hold that key any more, and what every node said.
pub(super) type ForceReleased = Result<Vec<NodeReport>, Vec<NodeReport>>;

/// What handles and guards say to the driver.
pub(crate) enum Message {
    Acquire {
        request: RequestId,
        acquire: Acquire,
        driver: Handle,
        resource: Arc<str>,
        /// What is told about it belongs there.
        span: Span,
        /// An error is boxed: the room for the answer waits as long as the caller.
        reply: Reply<Result<Won, Box<AcquireError>>>,
    },
    Cancel(RequestId),
    Extend {
        request: RequestId,
        attempt: AttemptId,
        reply: Reply<Result<Instant, ExtendError>>,
    },
    /// `in_time`: the guard was given up before its deadline.
    Release {
        request: RequestId,
        attempt: AttemptId,
        in_time: bool,
        reply: Option<Reply<Released>>,
    },
    Leave(AttemptId),
    Inspect {
        request: RequestId,
        key: Arc<str>,
        reply: Reply<Inspected>,
    },
    ForceRelease {
        request: RequestId,
        key: Arc<str>,
        value: Mark,
        reply: Reply<ForceReleased>,
    },
    /// Somebody has the connection. It goes the way of all requests, so that the driver knows of it
    /// before it can see that the last handle has gone.
    Connected,
    Status(Reply<Status>),
    WaitUntilReady {
        within: Duration,
        reply: Reply<Result<(), NotReady>>,
    },
    /// Dropped when the driver has ended.
    Shutdown(Reply<()>),
}

impl Message {
    /// It proposes a ballot, by the wall clock.
    pub(super) const fn is_fenced(&self) -> bool {
        matches!(self, Self::Acquire { acquire, .. } if acquire.fences.is_some())
    }
}
