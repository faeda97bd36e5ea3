//! The ways of a lock between its guard and the driver: to its caller, prolonged, given up, or handed over to another
//! process. A writer's lock becomes a reader's in the same way.

use super::callers::Answer;
use super::request::{AdoptResult, Extending, Releasing, Reply};
use super::{Callers, Handle, LeaseState, Request};
use crate::failure::{Closed, ExtendError, LossReason, Lost, Unextended};
use crate::kind_name::KindName;
use crate::report::NodeReport;
use quorumlock_core::coordinator::{
    Adopted, AttemptId, Coordinator, DetachedLock, Event, Extended, NotExtended, RequestId,
};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A lock that was won, on its way to its caller. It is released when dropped, unless the caller has
/// picked it up.
pub(crate) struct ReleaseOnDrop {
    pub(super) driver: Handle,
    pub(super) hold: Arc<LeaseState>,
}

impl ReleaseOnDrop {
    /// Hands the lock to the caller, unless it is already over. If it is, nothing stays behind: it had lapsed, or was
    /// lost, before the caller looked, which is `late`, or it was taken back, since the client was shut down or the
    /// driver is gone.
    pub(crate) fn pick_up<E: From<Closed>>(
        self,
        late: impl FnOnce() -> E,
    ) -> Result<(Handle, Arc<LeaseState>), E> {
        let Self { driver, hold } = &self;
        match hold.check(driver.now()) {
            Ok(_) if hold.claim.take() => Ok((driver.clone(), hold.clone())),
            Ok(_) | Err(Lost { reason: LossReason::Closed | LossReason::Broken(_), .. }) => {
                Err(driver.closed().into())
            }
            Err(_) => Err(late()),
        }
    }
}

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        if !self.hold.claim.is_taken() {
            let _ = self.driver.release(&self.hold, false, false);
        }
    }
}

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
    /// Extends a hold. There is no answer if the hold is over.
    pub(crate) fn extend(&self, hold: &LeaseState) -> Extending {
        let (request, (reply, answer)) = (self.next_request(), oneshot::channel());
        self.claim(hold);
        self.send(Request::Extend { request, attempt: hold.attempt, reply });
        answer
    }

    /// Sends the release of a lock, unless its guard is gone. It is on its way when this returns. The keys are deleted
    /// at once, regardless of the options of the acquire; after work that `ends_well`, as these say: the keys stay for
    /// [`min_hold`](crate::Acquire::min_hold), or the lock for [`keep_warm`](crate::Acquire::keep_warm) in this
    /// process. A caller that `waits` gets its outcome, or `None` if the lock stays, and the driver need not know.
    pub(crate) fn release(&self, hold: &LeaseState, ends_well: bool, waits: bool) -> Releasing {
        if !hold.parted.take() {
            return waits.then(|| oneshot::channel().1);
        }
        let now = self.now();
        // From here on, no lease of this guard may report that it is valid.
        let in_time = hold.give_up(now);
        let goes_back = in_time && ends_well && self.is_here();
        if goes_back && hold.lent.as_ref().is_some_and(|lent| lent.give_back(now)) {
            self.outlet().kept(Some(hold.held(now)), "idle");
            return None;
        }
        let (reply, answer) = waits.then(oneshot::channel).unzip();
        // No caller has relied on a lock that none has picked up, so no delay need be kept.
        let in_time = hold.claim.take() || in_time;
        let (request, attempt) = (self.next_request(), hold.attempt);
        self.claim(hold);
        self.send(Request::Release { request, attempt, in_time, ends_well, reply });
        answer
    }

    /// Gives a lock up and keeps its key, which stays until it expires.
    pub(crate) fn forget(&self, hold: &LeaseState) {
        if hold.parted.take() {
            hold.give_up(self.now());
            self.claim(hold);
            let attempt = hold.attempt;
            self.run(move |callers, machine, now| {
                let hold = callers.holds.remove(attempt);
                let held = hold.as_ref().map(|hold| hold.held(now));
                callers.telemetry.outlet.kept(held, "forgotten");
                machine.handle_forget(now, attempt);
            });
        }
    }

    /// Detaches the lock of a hold. There is no answer if the hold is over.
    pub(crate) fn detach(&self, hold: &LeaseState) -> Extending<InTransit> {
        let (request, attempt, driver) = (self.next_request(), hold.attempt, self.clone());
        let (reply, answer) = oneshot::channel();
        self.claim(hold);
        self.run(move |callers, machine, now| {
            // The hold ends before its caller has the value. If the caller is gone, what is not sent is dropped, and
            // so released.
            let detached: Answer = Box::new(move |callers, machine, now, event| {
                let Event::Detached { result, .. } = event else { return };
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
                        Err(unextended(hold, nodes, machine))
                    }
                };
                let _ = reply.send(answer);
            });
            callers.waiting.asked.insert(request, detached);
            machine.handle_detach(now, request, attempt);
        });
        answer
    }

    /// Releases a lock that was detached, and is in no other hands. `adopting` is the request that may still adopt
    /// it.
    pub(crate) fn give_back(&self, lock: Box<DetachedLock>, adopting: Option<RequestId>) {
        self.run(move |callers, machine, now| {
            adopting.and_then(|request| callers.waiting.wanted.remove(&request));
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
            let adopted: Answer = Box::new(move |callers, _, now, event| {
                let Event::Adopted { result, .. } = event else { return };
                let took = now.since(began);
                callers.telemetry.outlet.adopted(&resource, took, result.as_ref().err());
                let adopted = result.map(|Adopted { attempt, deadline, is_last }| {
                    let hold = Arc::new(LeaseState::new(attempt, resource, kind, now, deadline));
                    hold.extend(deadline, is_last);
                    callers.holds.keep(hold.clone());
                    ReleaseOnDrop { driver, hold }
                });
                let _ = reply.send(adopted);
            });
            callers.waiting.wanted.insert(request, adopted);
            machine.handle_adopt(now, request, *lock);
        });
    }

    /// Makes the hold of a writer a reader's. `from` is over with that, and `to` is held,
    /// unless `from` was over before.
    pub(crate) fn hand_on(&self, from: Arc<LeaseState>, to: Arc<LeaseState>) -> Extending {
        let (request, (reply, answer)) = (self.next_request(), oneshot::channel());
        self.run(move |callers, machine, now| {
            callers.waiting.extenders.insert(request, reply);
            match callers.holds.remove(from.attempt) {
                Some(held) => {
                    held.hand_on(now, &to);
                    callers.holds.keep(to);
                }
                None => from.end_too(now, &to),
            }
            machine.handle_downgrade(now, request, from.attempt);
        });
        answer
    }
}

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
            Err(NotExtended::Unconfirmed(nodes)) => Err(unextended(hold, nodes, machine)),
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
        if hold.claim.take() {
            // No caller works under it, so its keys need not stay.
            machine.handle_release(now, None, attempt, true);
        }
    }
}

/// Returns the error for a hold that too few masters have confirmed.
fn unextended(hold: &LeaseState, nodes: Vec<NodeReport>, machine: &Coordinator) -> ExtendError {
    let (resource, quorum) = (hold.resource.clone(), machine.masters().membership());
    Unextended { resource, nodes, quorum }.into()
}
