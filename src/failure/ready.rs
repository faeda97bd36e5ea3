//! The errors of a wait for enough masters.

use super::{Closed, WrongContext, behind};
use crate::report::Span;
use quorumlock_core::status::Status;
use std::time::Duration;
use thiserror::Error;

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
