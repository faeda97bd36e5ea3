//! A caller that waits for a lock, and what it is told.

use super::holds::Holds;
use super::outcome::not_acquired;
use super::request::{Reply, Won};
use super::{Ahead, Handle, LeaseState, ReleaseOnDrop};
use crate::error::AcquireError;
use crate::fencing::FencingToken;
use crate::report::Quorum;
use crate::telemetry::Span;
use quorumlock_core::coordinator::{AttemptId, Failure};
use quorumlock_core::quorum::Instant;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Acquirer {
    pub(super) driver: Handle,
    pub(super) resource: Arc<str>,
    pub(super) span: Span,
    pub(super) ahead: Option<Ahead>,
    pub(super) reply: Reply<Result<Won, Box<AcquireError>>>,
}

impl Acquirer {
    /// Sends the lock itself to its caller: if the caller does not pick it up, it is released.
    pub(super) fn acquired(
        self,
        holds: &mut Holds,
        (attempt, now, deadline): (AttemptId, Instant, Instant),
        token: Option<FencingToken>,
        slot: Option<u8>,
    ) {
        let hold = Arc::new(LeaseState::new(attempt, self.resource, now, deadline));
        holds.insert(hold.clone());
        let lock = ReleaseOnDrop::new(self.driver, hold);
        let _ = self.reply.send(Ok(Won { lock, token, slot }));
    }

    pub(super) fn failed(self, failure: Failure, waited: Duration, quorum: Quorum) {
        let error = not_acquired(self.resource, failure, waited, quorum);
        let _ = self.reply.send(Err(error.into()));
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
