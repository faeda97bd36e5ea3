//! What the machine is configured with.

use super::{Agreement, RestartGuard};
use crate::quorum::{Backoff, Drift, Membership, Window};
use std::sync::Arc;
use std::time::Duration;

/// What the machine is configured with.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) membership: Membership,
    pub(crate) drift: Drift,
    pub(crate) backoff: Backoff,
    pub(crate) operation_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) restart_guard: RestartGuard,
    /// For how long a master that has started does not vote.
    pub(crate) quarantine: Duration,
    pub(crate) agreement: Agreement,
    /// How far a ballot may be from a node's clock.
    pub(crate) window: Window,
    /// Whoever waits is told when a lock becomes free, and asks one node first.
    pub(crate) wakes_up: bool,
    /// Who acquires, for whoever inspects: behind each token.
    pub(crate) label: Option<Arc<str>>,
}

impl Settings {
    pub(super) fn round_timeout(&self, ttl: Duration) -> Duration {
        round_timeout(self.operation_timeout, ttl)
    }
}

/// How long a round waits for answers: never more than a tenth of the ttl, or one slow node would
/// eat the validity.
pub(crate) fn round_timeout(operation_timeout: Duration, ttl: Duration) -> Duration {
    operation_timeout.min(ttl / 10).max(Duration::from_millis(1))
}
