//! The callers that wait for an answer of the machine, by their requests.

use super::refused::Refused;
use crate::driver::acquirer::Acquirer;
use crate::driver::hand_over::Adopter;
use crate::driver::request::{DetachReply, ForceReleased, Inspected, Looked, ReleaseResult, Reply};
use crate::driver::{Handle, LeaseState};
use crate::failure::ExtendError;
use quorumlock_core::coordinator::RequestId;
use quorumlock_core::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Notify;

/// The callers that wait for answers of the same type.
type ByRequest<T> = BTreeMap<RequestId, T>;

/// The ways of answers to all callers. Dropped without an answer if the hold it is about is over, or the driver
/// ends.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) acquirers: ByRequest<Acquirer>,
    /// They have failed, and what was in the way is being asked.
    pub(super) refused: ByRequest<Refused>,
    pub(super) extenders: ByRequest<Reply<Result<Instant, ExtendError>>>,
    pub(super) releasers: ByRequest<Releaser>,
    pub(super) detachers: ByRequest<(Handle, DetachReply)>,
    pub(super) adopters: ByRequest<Adopter>,
    pub(super) inspectors: ByRequest<Reply<Inspected>>,
    pub(super) forcers: ByRequest<Reply<ForceReleased>>,
    pub(super) askers: ByRequest<Reply<u64>>,
    pub(super) lookers: ByRequest<Reply<Looked>>,
    /// Notified for as long as they listen.
    pub(super) listeners: ByRequest<Arc<Notify>>,
}

/// A caller that has given a guard up, and waits for the outcome.
pub(super) struct Releaser {
    pub(super) reply: Reply<ReleaseResult>,
    /// `None` if its loss has been reported before.
    pub(super) hold: Option<Arc<LeaseState>>,
    /// When that was.
    pub(super) given_up: Instant,
}

impl Waiting {
    #[cfg(all(test, feature = "embedded"))]
    pub(super) fn len(&self) -> usize {
        let asked = self.inspectors.len() + self.forcers.len() + self.askers.len();
        let held = self.extenders.len() + self.releasers.len() + self.detachers.len();
        let wanted = self.acquirers.len() + self.refused.len() + self.adopters.len();
        asked + self.lookers.len() + held + wanted + self.listeners.len()
    }

    /// Drops the callers that get no answer once the client is closed. All listeners look for themselves
    /// from now on: they find that the driver ends.
    pub(super) fn close(&mut self) {
        self.acquirers.clear();
        self.refused.clear();
        self.adopters.clear();
        std::mem::take(&mut self.listeners).into_values().for_each(|ear| ear.notify_one());
    }
}

/// Answers the caller of this request, if it waits.
pub(super) fn answer<T>(waiting: &mut ByRequest<Reply<T>>, request: RequestId, answer: T) {
    if let Some(reply) = waiting.remove(&request) {
        let _ = reply.send(answer);
    }
}
