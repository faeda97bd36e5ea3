//! The course of a hold: the answers to callers that extend it or downgrade it; its loss.

use super::Callers;
use crate::driver::request::Extending;
use crate::driver::{Handle, LeaseState, Request};
use crate::failure::{ExtendError, LossReason, Unextended};
use crate::report::NodeReport;
use quorumlock_core::coordinator::{AttemptId, Coordinator, Extended, NotExtended, RequestId};
use quorumlock_core::quorum::Membership;
use tokio::sync::oneshot;

impl Callers {
    pub(super) fn extended(
        &mut self,
        machine: &mut Coordinator,
        request: Option<RequestId>,
        attempt: AttemptId,
        result: Result<Extended, NotExtended>,
    ) {
        let reply = request.and_then(|request| self.waiting.extenders.remove(&request));
        // The hold is over: its guard concludes that from the dropped reply.
        let Some(hold) = self.holds.get(attempt) else { return };
        let result = match result {
            Ok(to) if hold.extend(to.deadline, to.is_last) => Ok(to.deadline),
            Ok(_) => {
                // If the holder saw the old deadline pass, that is final. If the deadline has not
                // passed, the guard was given up, and its release is on its way. The clock is read
                // after the swap: the side that made it fail had read its own clock before.
                let now = self.clock.now();
                if now >= hold.deadline() {
                    machine.handle_lapsed(now, attempt);
                }
                return;
            }
            // The caller learns it from the hold, which is over.
            Err(NotExtended::Lost) => return,
            Err(NotExtended::Unconfirmed(nodes)) => {
                Err(hold.unextended(nodes, machine.masters().membership()))
            }
        };
        if let Some(reply) = reply {
            let _ = reply.send(result);
        }
    }

    pub(super) fn lost(
        &mut self,
        machine: &mut Coordinator,
        attempt: AttemptId,
        reason: LossReason,
    ) {
        // A hold that is over need not be watched; its guard knows the rest by itself.
        let Some(hold) = self.holds.remove(attempt) else { return };
        // Not before whatever has ended it, which may be the holder's own look.
        let now = self.clock.now();
        self.telemetry.outlet.lost(hold.held(now), &reason);
        hold.end(now, reason);
        if hold.take_back() {
            // No caller works under it, so its keys need not stay.
            machine.handle_release(now, None, attempt, true);
        }
    }
}

impl Handle {
    /// Extends a hold. There is no answer if the hold is over.
    pub(crate) fn extend(&self, hold: &LeaseState) -> Extending {
        let (request, (reply, answer)) = (self.next_request(), oneshot::channel());
        self.claim(hold);
        self.send(Request::Extend { request, attempt: hold.attempt, reply });
        answer
    }
}

impl LeaseState {
    /// Returns the error for a hold that too few masters have confirmed.
    pub(in crate::driver) fn unextended(
        &self,
        nodes: Vec<NodeReport>,
        quorum: Membership,
    ) -> ExtendError {
        Unextended { resource: self.resource.clone(), nodes, quorum }.into()
    }
}
