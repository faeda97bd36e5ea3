//! The callers that wait for an answer of the machine, by their requests.

use super::refused::Refused;
use crate::driver::acquirer::Acquirer;
use crate::driver::by_id::ById;
use crate::driver::hand_over::Adopter;
use crate::driver::request::{DetachReply, ForceReleased, Inspected, Looked, ReleaseResult, Reply};
use crate::driver::{Handle, Hears};
use crate::failure::ExtendError;
use quorumlock_core::coordinator::RequestId;
use quorumlock_core::quorum::Instant;
use std::sync::Arc;

/// The way of an answer to its caller. Dropped without an answer if the hold it is about is over, or
/// the driver ends.
pub(super) enum Caller {
    Acquirer(Acquirer),
    /// It has failed, and what was in the way is being asked. Boxed, since it is rare.
    Refused(Box<Refused>),
    Extender(Reply<Result<Instant, ExtendError>>),
    Releaser(Reply<ReleaseResult>),
    Detacher(Handle, DetachReply),
    /// Boxed: the entry of each caller is as large as the largest of these.
    Adopter(Box<Adopter>),
    Inspector(Reply<Inspected>),
    Forcer(Reply<ForceReleased>),
    Asker(Reply<u64>),
    Looker(Reply<Looked>),
    /// Answered for as long as it listens.
    Listener(Arc<dyn Hears>),
}

#[derive(Default)]
pub(super) struct Waiting(ById<RequestId, Caller>);

impl Waiting {
    #[cfg(all(test, feature = "embedded"))]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn insert(&mut self, request: RequestId, caller: Caller) {
        self.0.insert(request, caller);
    }

    pub(super) fn get(&self, request: RequestId) -> Option<&Caller> {
        self.0.get(&request)
    }

    pub(super) fn remove(&mut self, request: RequestId) -> Option<Caller> {
        self.0.remove(&request)
    }

    /// Drops the callers that get no answer once the client is closed. All listeners look for themselves
    /// from now on: they find that the driver ends.
    pub(super) fn close(&mut self) {
        self.0.retain(|_, caller| {
            if let Caller::Listener(ear) = caller {
                ear.hear(None);
            }
            !matches!(
                caller,
                Caller::Acquirer(_) | Caller::Refused(_) | Caller::Adopter(_) | Caller::Listener(_)
            )
        });
    }
}
