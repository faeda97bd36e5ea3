//! The way to the driver, which handles, guards and waiting callers share.

use super::Request;
use super::clock::Clock;
use crate::failure::ShutdownError;
use crate::telemetry::Outlet;
use quorumlock_core::coordinator::RequestId;
use quorumlock_core::quorum::Instant;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::mpsc::UnboundedSender;

/// The outcome of the driver, set once it has ended.
pub(crate) type Ended = Arc<OnceLock<Result<(), ShutdownError>>>;

/// A handle of the driver, which runs for as long as there is one. Clones share it.
#[derive(Clone)]
pub(crate) struct Handle(Arc<Shared>);

struct Shared {
    requests: UnboundedSender<Request>,
    last_request: AtomicU64,
    clock: Clock,
    ended: Ended,
    outlet: Outlet,
}

impl Handle {
    pub(crate) fn new(
        requests: UnboundedSender<Request>,
        clock: Clock,
        ended: Ended,
        outlet: Outlet,
    ) -> Self {
        let last_request = AtomicU64::new(0);
        Self(Arc::new(Shared { requests, last_request, clock, ended, outlet }))
    }

    pub(crate) fn now(&self) -> Instant {
        self.0.clock.now()
    }

    pub(crate) fn next_request(&self) -> RequestId {
        RequestId(self.0.last_request.fetch_add(1, Ordering::Relaxed))
    }

    /// Sends `request` to the driver. Never blocks and needs no runtime. If the driver is gone, the
    /// request is dropped, and the caller that waits for its reply sees that.
    pub(crate) fn send(&self, request: Request) {
        let _ = self.0.requests.send(request);
    }

    /// Returns the outlet to which events are reported.
    pub(crate) fn outlet(&self) -> &Outlet {
        &self.0.outlet
    }

    /// Returns how the driver ended; `Ok` while it runs.
    pub(crate) fn ended(&self) -> Result<(), ShutdownError> {
        self.0.ended.get().cloned().unwrap_or(Ok(()))
    }
}
