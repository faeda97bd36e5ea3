//! Locks on their way between processes: guards that become values, and values that become guards.

use super::by_id::ById;
use super::request::{AdoptReply, DetachReply, Won};
use super::{Handle, Holds, LeaseState, ReleaseOnDrop, Request};
use crate::error::{ExtendError, LossReason, Unextended};
use crate::fencing::FencingToken;
use crate::telemetry::Telemetry;
use quorumlock_core::coordinator::{
    Adopted, AttemptId, Coordinator, DetachedLock, NotAdopted, NotExtended, RequestId,
};
use quorumlock_core::quorum::Instant;
use std::sync::Arc;

/// A lock that was detached, on its way to its caller. It is released when dropped, unless the
/// caller has picked it up: it is in no other hands.
pub(crate) struct InTransit(Option<(Handle, Box<DetachedLock>)>);

impl InTransit {
    /// Hands the value to the caller.
    pub(crate) fn pick_up(mut self) -> Option<Box<DetachedLock>> {
        self.0.take().map(|(_, lock)| lock)
    }
}

impl Drop for InTransit {
    fn drop(&mut self) {
        if let Some((driver, lock)) = self.0.take() {
            driver.send(Request::GiveBack { lock, adopting: None });
        }
    }
}

struct Adopter {
    driver: Handle,
    resource: Arc<str>,
    token: Option<FencingToken>,
    began: Instant,
    reply: AdoptReply,
}

/// The callers that wait for a detachment or an adoption.
#[derive(Default)]
pub(super) struct HandOvers {
    detachers: ById<RequestId, (Handle, DetachReply)>,
    adopters: ById<RequestId, Adopter>,
}

impl HandOvers {
    #[cfg(all(test, feature = "embedded"))]
    pub(super) fn len(&self) -> usize {
        self.detachers.len() + self.adopters.len()
    }

    /// Notes the caller of a detachment.
    pub(super) fn detaches(&mut self, request: RequestId, driver: Handle, reply: DetachReply) {
        self.detachers.insert(request, (driver, reply));
    }

    /// Notes the caller of an adoption.
    pub(super) fn adopts(
        &mut self,
        now: Instant,
        request: RequestId,
        (driver, resource): (Handle, Arc<str>),
        lock: &DetachedLock,
        reply: AdoptReply,
    ) {
        let token = lock.fenced.as_ref().map(|(_, number)| FencingToken::new(*number));
        let adopter = Adopter { driver, resource, token, began: now, reply };
        self.adopters.insert(request, adopter);
    }

    /// Removes an adopter that is gone.
    pub(super) fn cancel(&mut self, request: RequestId) {
        self.adopters.remove(&request);
    }

    /// Drops all adopters: the client is closed, and the values stay with their callers.
    pub(super) fn close(&mut self) {
        self.adopters.clear();
    }

    /// Ends the hold of a lock that was detached, and only then sends the value to its caller.
    pub(super) fn detached(
        &mut self,
        machine: &mut Coordinator,
        (now, holds, telemetry): (Instant, &mut Holds, &Telemetry),
        (request, attempt): (RequestId, AttemptId),
        result: Result<Box<DetachedLock>, NotExtended>,
    ) {
        let detacher = self.detachers.remove(&request);
        match result {
            Ok(lock) => {
                let hold = holds.remove(attempt);
                telemetry.detached(now, hold.as_deref());
                if let Some(hold) = hold {
                    hold.end(now, LossReason::Detached);
                }
                match detacher {
                    // If the caller is gone, what is not sent is dropped, and so released.
                    Some((driver, reply)) => {
                        let _ = reply.send(Ok(InTransit(Some((driver, lock)))));
                    }
                    None => machine.handle_give_back(now, *lock, None),
                }
            }
            // The caller learns it from the hold, which is over.
            Err(NotExtended::Lost) => {}
            Err(NotExtended::Unconfirmed(nodes)) => {
                if let (Some(hold), Some((_, reply))) = (holds.get(attempt), detacher) {
                    let (resource, quorum) = (hold.resource.clone(), machine.quorum());
                    let error = ExtendError::Unextended(Unextended { resource, nodes, quorum });
                    let _ = reply.send(Err(error));
                }
            }
        }
    }

    /// Sends the lock itself to its caller: if the caller does not pick it up, it is released.
    pub(super) fn adopted(
        &mut self,
        machine: &mut Coordinator,
        (now, holds, telemetry): (Instant, &mut Holds, &Telemetry),
        request: RequestId,
        result: Result<Adopted, NotAdopted>,
    ) {
        let Some(Adopter { driver, resource, token, began, reply }) =
            self.adopters.remove(&request)
        else {
            if let Ok(adopted) = result {
                machine.handle_release(now, None, adopted.attempt, true);
            }
            return;
        };
        telemetry.adopted(&resource, now.since(began), result.as_ref().err());
        let answer = result.map(|Adopted { attempt, deadline, is_last }| {
            let hold = Arc::new(LeaseState::new(attempt, resource, now, deadline));
            if is_last {
                hold.extend(deadline, true);
            }
            holds.insert(hold.clone());
            Won { lock: ReleaseOnDrop::new(driver, hold), token, slot: None }
        });
        let _ = reply.send(answer.map_err(|why| (why, machine.quorum())));
    }
}
