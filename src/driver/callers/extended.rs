//! The course of a hold: the answers to callers that extend it, downgrade it or detach it; its loss.

use super::Callers;
use crate::driver::clock::Clock;
use crate::driver::{InTransit, LeaseState};
use crate::failure::{ExtendError, LossReason, Unextended};
use crate::report::NodeReport;
use quorumlock_core::coordinator::{
    AttemptId, Coordinator, DetachedLock, Extended, NotExtended, RequestId,
};
use quorumlock_core::quorum::{Instant, Membership};

impl Callers {
    pub(super) fn extended(
        &mut self,
        machine: &mut Coordinator,
        request: Option<RequestId>,
        attempt: AttemptId,
        clock: Clock,
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
                let now = clock.now();
                if now >= hold.deadline() {
                    machine.handle_lapsed(now, attempt);
                }
                return;
            }
            // The caller learns it from the hold, which is over.
            Err(NotExtended::Lost) => return,
            Err(NotExtended::Unconfirmed(nodes)) => {
                Err(unextended(hold, nodes, machine.masters().membership()))
            }
        };
        if let Some(reply) = reply {
            let _ = reply.send(result);
        }
    }

    pub(super) fn lost(
        &mut self,
        machine: &mut Coordinator,
        clock: Clock,
        attempt: AttemptId,
        reason: LossReason,
    ) {
        // A hold that is over need not be watched; its guard knows the rest by itself.
        let Some(hold) = self.holds.remove(attempt) else { return };
        // Not before whatever has ended it, which may be the holder's own look.
        let now = clock.now();
        self.telemetry.outlet.lost(hold.held(now), &reason);
        hold.end(now, reason);
        if hold.take_back() {
            // No caller works under it, so its keys need not stay.
            machine.handle_release(now, None, attempt, true);
        }
    }

    /// Ends the hold of a lock that was detached, and only then sends the value to its caller.
    pub(super) fn detached(
        &mut self,
        machine: &mut Coordinator,
        now: Instant,
        (request, attempt): (RequestId, AttemptId),
        result: Result<Box<DetachedLock>, NotExtended>,
    ) {
        let detacher = self.waiting.detachers.remove(&request);
        match result {
            Ok(lock) => {
                let hold = self.holds.remove(attempt);
                let held = hold.as_ref().map(|hold| hold.held(now));
                self.telemetry.outlet.kept(held, "detached");
                if let Some(hold) = hold {
                    hold.end(now, LossReason::Detached);
                }
                match detacher {
                    // If the caller is gone, what is not sent is dropped, and so released.
                    Some((driver, reply)) => _ = reply.send(Ok(InTransit::new(driver, lock))),
                    None => machine.handle_give_back(now, *lock, None),
                }
            }
            // The caller learns it from the hold, which is over.
            Err(NotExtended::Lost) => {}
            Err(NotExtended::Unconfirmed(nodes)) => {
                if let (Some(hold), Some((_, reply))) = (self.holds.get(attempt), detacher) {
                    let _ =
                        reply.send(Err(unextended(hold, nodes, machine.masters().membership())));
                }
            }
        }
    }
}

fn unextended(hold: &LeaseState, nodes: Vec<NodeReport>, quorum: Membership) -> ExtendError {
    ExtendError::Unextended(Unextended { resource: hold.resource.clone(), nodes, quorum })
}
