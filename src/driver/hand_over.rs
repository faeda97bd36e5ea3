//! Locks on their way between processes: guards that become values, and values that become guards. A writer's
//! lock becomes a reader's in the same way.

use super::request::{AdoptResult, Extending, Reply};
use super::{Callers, Handle, LeaseState, ReleaseOnDrop};
use crate::failure::{ExtendError, LossReason};
use crate::kind_name::KindName;
use quorumlock_core::coordinator::{Adopted, Coordinator, DetachedLock, NotExtended, RequestId};
use quorumlock_core::quorum::Instant;
use std::sync::Arc;
use tokio::sync::oneshot;

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
            driver.give_back(lock, None);
        }
    }
}

impl Handle {
    /// Detaches the lock of a hold. There is no answer if the hold is over.
    pub(crate) fn detach(
        &self,
        hold: &LeaseState,
    ) -> oneshot::Receiver<Result<InTransit, ExtendError>> {
        let (request, attempt, driver) = (self.next_request(), hold.attempt, self.clone());
        let (reply, answer) = oneshot::channel();
        self.claim(hold);
        self.run(move |callers, machine, now| {
            // The hold ends before its caller has the value. If the caller is gone, what is not sent is dropped, and
            // so released.
            let detached = move |callers: &mut Callers, machine: &Coordinator, now, result| {
                let answer = match result {
                    Ok(lock) => {
                        let hold = callers.holds.remove(attempt);
                        let held = hold.as_ref().map(|hold| hold.held(now));
                        callers.telemetry.outlet.kept(held, "detached");
                        hold.inspect(|hold| hold.end(now, LossReason::Detached));
                        Ok(InTransit(Some((driver, lock))))
                    }
                    // The caller learns it from the hold, which is over.
                    Err(NotExtended::Lost) => return,
                    Err(NotExtended::Unconfirmed(nodes)) => {
                        let Some(hold) = callers.holds.get(attempt) else { return };
                        Err(hold.unextended(nodes, machine.masters().membership()))
                    }
                };
                let _ = reply.send(answer);
            };
            callers.waiting.detachers.insert(request, Box::new(detached));
            machine.handle_detach(now, request, attempt);
        });
        answer
    }

    /// Releases a lock that was detached, and is in no other hands. `adopting` is the request that may still adopt
    /// it.
    pub(crate) fn give_back(&self, lock: Box<DetachedLock>, adopting: Option<RequestId>) {
        self.run(move |callers, machine, now| {
            adopting.and_then(|request| callers.waiting.adopters.remove(&request));
            machine.handle_give_back(now, *lock, adopting);
        });
    }

    /// Adopts a lock. The lock itself is sent to its caller: if the caller does not pick it up, it is released.
    pub(crate) fn adopt(
        &self,
        (request, reply): (RequestId, Reply<AdoptResult>),
        lock: Box<DetachedLock>,
        (resource, kind): (Arc<str>, KindName),
    ) {
        let (driver, began) = (self.clone(), self.now());
        self.run(move |callers, machine, now| {
            if callers.closing {
                return;
            }
            let adopted = move |callers: &mut Callers, now: Instant, result: Result<_, _>| {
                let took = now.since(began);
                callers.telemetry.outlet.adopted(&resource, took, result.as_ref().err());
                let adopted = result.map(|Adopted { attempt, deadline, is_last }| {
                    let hold = LeaseState::new(attempt, resource, kind, now, deadline);
                    if is_last {
                        hold.extend(deadline, true);
                    }
                    ReleaseOnDrop::new(driver, callers.holds.insert(hold))
                });
                let _ = reply.send(adopted);
            };
            callers.waiting.adopters.insert(request, Box::new(adopted));
            machine.handle_adopt(now, request, *lock);
        });
    }

    /// Makes the hold of a writer a reader's. `from` is over with that, and `to` is held.
    pub(crate) fn hand_on(&self, from: Arc<LeaseState>, to: Arc<LeaseState>) -> Extending {
        let (request, (reply, answer)) = (self.next_request(), oneshot::channel());
        self.run(move |callers, machine, now| {
            callers.waiting.extenders.insert(request, reply);
            callers.holds.succeed(now, &from, to);
            machine.handle_downgrade(now, request, from.attempt);
        });
        answer
    }
}
