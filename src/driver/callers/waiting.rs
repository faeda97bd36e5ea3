//! The callers that wait for an answer of the machine, by their requests.

use super::Callers;
use crate::driver::LeaseState;
use crate::driver::acquirer::Acquirer;
use crate::driver::request::{ReleaseResult, Reply};
use crate::failure::ExtendError;
use crate::report::Obstacle;
use quorumlock_core::coordinator::{
    Adopted, Coordinator, DetachedLock, Event, NotAdopted, NotExtended, RequestId,
};
use quorumlock_core::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Notify;

/// The callers that wait for answers of the same type.
type ByRequest<T> = BTreeMap<RequestId, T>;

/// The answer to a caller that has failed, from the obstacle under each key.
type RefusedAnswer = Box<dyn FnOnce(&Callers, &Coordinator, Vec<Option<Obstacle>>) + Send>;

/// The answer to a caller that detaches a lock.
type DetachAnswer = Box<
    dyn FnOnce(&mut Callers, &Coordinator, Instant, Result<Box<DetachedLock>, NotExtended>) + Send,
>;

/// The answer to a caller that adopts a lock.
type AdoptAnswer = Box<dyn FnOnce(&mut Callers, Instant, Result<Adopted, NotAdopted>) + Send>;

/// The ways of answers to all callers. Dropped without an answer if the hold it is about is over, or the driver
/// ends.
#[derive(Default)]
pub(in crate::driver) struct Waiting {
    pub(super) acquirers: ByRequest<Acquirer>,
    /// They have failed, and what was in the way is being asked.
    pub(super) refused: ByRequest<RefusedAnswer>,
    pub(in crate::driver) extenders: ByRequest<Reply<Result<Instant, ExtendError>>>,
    pub(super) releasers: ByRequest<Releaser>,
    pub(in crate::driver) detachers: ByRequest<DetachAnswer>,
    pub(in crate::driver) adopters: ByRequest<AdoptAnswer>,
    /// The callers of questions to the masters, whose answer is the event itself.
    pub(in crate::driver) asked: ByRequest<Reply<Event>>,
    /// Notified for as long as they listen.
    pub(in crate::driver) listeners: ByRequest<Arc<Notify>>,
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
        let held = self.extenders.len() + self.releasers.len() + self.detachers.len();
        let wanted = self.acquirers.len() + self.refused.len() + self.adopters.len();
        held + wanted + self.asked.len() + self.listeners.len()
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
