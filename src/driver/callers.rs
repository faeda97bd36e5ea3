//! The callers that wait for answers, and the locks that are held.

use super::Hears;
use super::acquirer::Acquirer;
use super::by_id::ById;
use super::clock::Clock;
use super::hand_over::HandOvers;
use super::holds::Holds;
use super::outcome::released;
use super::readiness::Waiters;
use super::request::{ForceReleased, Inspected, Looked, ReleaseResult, Reply, Request};
use crate::error::{ConnectError, ExtendError, LossReason, NoRandomness, Unextended};
use crate::fencing::FencingToken;
use crate::telemetry::Telemetry;
use quorumlock_core::coordinator::{
    AttemptId, Coordinator, Event, Extended, NotExtended, RequestId,
};
use quorumlock_core::quorum::Instant;
use std::sync::Arc;

pub(crate) struct Callers {
    connecting: Option<Reply<Result<(), ConnectError>>>,
    /// No master may be unfit.
    strict: bool,
    /// A caller has received the connection.
    in_use: bool,
    acquirers: ById<RequestId, Acquirer>,
    extenders: ById<RequestId, Reply<Result<Instant, ExtendError>>>,
    releasers: ById<RequestId, Reply<ReleaseResult>>,
    inspectors: ById<RequestId, Reply<Inspected>>,
    forcers: ById<RequestId, Reply<ForceReleased>>,
    lookers: ById<RequestId, Reply<Looked>>,
    listeners: ById<RequestId, Arc<dyn Hears>>,
    hand_overs: HandOvers,
    waiters: Waiters,
    /// The holds that are not over.
    holds: Holds,
    closers: Vec<Reply<()>>,
    closing: bool,
    telemetry: Telemetry,
}

impl Callers {
    /// Creates the record of all callers. `connecting` is answered when every node has answered or
    /// failed. With `strict`, it is an error if one of them is unfit.
    pub(crate) fn new(
        connecting: Reply<Result<(), ConnectError>>,
        strict: bool,
        telemetry: Telemetry,
    ) -> Self {
        Self {
            connecting: Some(connecting),
            strict,
            in_use: false,
            acquirers: ById::default(),
            extenders: ById::default(),
            releasers: ById::default(),
            inspectors: ById::default(),
            forcers: ById::default(),
            lookers: ById::default(),
            listeners: ById::default(),
            hand_overs: HandOvers::default(),
            waiters: Waiters::default(),
            holds: Holds::default(),
            closers: Vec::new(),
            closing: false,
            telemetry,
        }
    }

    /// Counts the callers and holds that are remembered.
    #[cfg(all(test, feature = "embedded"))]
    pub(super) fn entries(&self) -> usize {
        let requests = self.acquirers.len() + self.extenders.len() + self.releasers.len();
        let requests = requests + self.inspectors.len() + self.forcers.len();
        let requests = requests + self.waiters.len() + self.listeners.len() + self.lookers.len();
        let requests = requests + self.hand_overs.len();
        requests + self.holds.len() + self.closers.len()
    }

    pub(super) fn holding(&self) -> bool {
        self.holds.len() > 0
    }

    /// Returns whether a caller has ever received the connection.
    pub(super) const fn is_in_use(&self) -> bool {
        self.in_use
    }

    /// Returns when the time of the next waiter is over.
    pub(super) fn end_at(&self) -> Option<Instant> {
        self.waiters.end_at()
    }

    /// Passes a request on to the machine. Returns `true` if the request asks for the end.
    pub(super) fn take(
        &mut self,
        machine: &mut Coordinator,
        now: Instant,
        request: Request,
    ) -> bool {
        match request {
            // The caller reads the dropped reply as `Closed`.
            Request::Acquire { .. } if self.closing => {}
            Request::Acquire { request, acquire, driver, resource, span, ahead, reply } => {
                let acquirer = Acquirer { driver, resource, span, ahead, reply };
                self.acquirers.insert(request, acquirer);
                machine.handle_acquire(now, request, acquire);
            }
            Request::Cancel(request) => {
                self.acquirers.remove(&request);
                machine.handle_cancel(now, request);
            }
            Request::Extend { request, attempt, reply } => {
                self.extenders.insert(request, reply);
                machine.handle_extend(now, request, attempt);
            }
            Request::Downgrade { request, from, to, reply } => {
                self.extenders.insert(request, reply);
                self.holds.succeed(now, &from, to);
                machine.handle_downgrade(now, request, from.attempt);
            }
            Request::Release { request, attempt, in_time, ends_well, reply } => {
                let hold = self.holds.remove(attempt);
                let request = reply.map(|reply| {
                    self.releasers.insert(request, reply);
                    request
                });
                self.telemetry.given_up(now, hold.as_deref(), request, in_time);
                if ends_well {
                    machine.handle_finish(now, request, attempt, in_time);
                } else {
                    machine.handle_release(now, request, attempt, in_time);
                }
            }
            Request::Forget(attempt) => {
                let hold = self.holds.remove(attempt);
                self.telemetry.forgotten(now, hold.as_deref());
                machine.handle_forget(now, attempt);
            }
            Request::Detach { request, attempt, driver, reply } => {
                self.hand_overs.detaches(request, driver, reply);
                machine.handle_detach(now, request, attempt);
            }
            Request::Adopt { .. } if self.closing => {}
            Request::Adopt { request, lock, driver, resource, reply } => {
                self.hand_overs.adopts(now, request, (driver, resource), &lock, reply);
                machine.handle_adopt(now, request, *lock);
            }
            Request::GiveBack { lock, adopting } => {
                adopting.into_iter().for_each(|request| self.hand_overs.cancel(request));
                machine.handle_give_back(now, *lock, adopting);
            }
            Request::Inspect { .. } | Request::ForceRelease { .. } | Request::Look { .. }
                if self.closing => {}
            Request::Look { request, keys, reply } => {
                self.lookers.insert(request, reply);
                machine.handle_look(now, request, &keys, None);
            }
            Request::Inspect { request, key, beside, reply } => {
                self.inspectors.insert(request, reply);
                machine.handle_inspect(now, request, &key, beside.as_ref());
            }
            Request::ForceRelease { request, key, readers, value, reply } => {
                self.forcers.insert(request, reply);
                machine.handle_take_away(now, request, &key, readers.as_deref(), value);
            }
            Request::Listen { ear, .. } if self.closing => ear.hear(None),
            Request::Listen { listener, channel, ear } => {
                self.listeners.insert(listener, ear);
                machine.handle_listen(now, listener, channel);
            }
            Request::Unlisten { listener, channel } => {
                self.listeners.remove(&listener);
                machine.handle_unlisten(listener, &channel);
            }
            Request::Connected => self.in_use = true,
            Request::Status(_) | Request::WaitUntilReady { .. } if self.closing => {}
            Request::Status(reply) => {
                let _ = reply.send(machine.status(now));
            }
            Request::WaitUntilReady { within, reply } => self.waiters.add(now, within, reply),
            Request::Shutdown(reply) => {
                self.closing = true;
                self.closers.push(reply);
                self.acquirers.clear();
                self.hand_overs.close();
                self.waiters.clear();
                self.end_listening();
                self.take_back(machine, now);
                machine.handle_shutdown(now);
                return true;
            }
        }
        false
    }

    /// Releases guards on their way to callers that have not looked yet, as `Closed` promises.
    fn take_back(&mut self, machine: &mut Coordinator, now: Instant) {
        for hold in self.holds.drain() {
            if hold.pick_up() {
                hold.end(now, LossReason::Closed);
                machine.handle_release(now, None, hold.attempt, true);
            } else {
                self.holds.insert(hold);
            }
        }
    }

    /// Reports to callers what the machine has decided.
    pub(super) fn answer(&mut self, machine: &mut Coordinator, clock: Clock) {
        let mut heard_at = None;
        while let Some(event) = machine.poll_event() {
            let now = *heard_at.get_or_insert_with(|| clock.now());
            match event {
                Event::Connected => {
                    if !self.connected(now, machine) {
                        machine.handle_withdraw(now);
                    }
                }
                Event::Acquired { request, attempt, deadline, ballot } => {
                    if let Some(acquirer) = self.acquirers.remove(&request) {
                        let token = ballot.map(FencingToken::new);
                        let hold = (attempt, now, deadline);
                        acquirer.acquired(&mut self.holds, hold, token, machine.slot(attempt));
                    } else {
                        machine.handle_release(now, None, attempt, true);
                    }
                }
                Event::NotAcquired { request, failure, waited } => {
                    if let Some(acquirer) = self.acquirers.remove(&request) {
                        acquirer.failed(failure, waited, machine.quorum());
                    }
                }
                Event::NoRandomness { request } => {
                    if let Some(acquirer) = self.acquirers.remove(&request) {
                        acquirer.refused(NoRandomness.into());
                    }
                }
                Event::Extended { request, attempt, result } => {
                    self.extended(machine, request, attempt, clock, result);
                }
                Event::Downgraded { request, attempt, result } => {
                    self.extended(machine, Some(request), attempt, clock, result);
                }
                Event::Released { request, release } => {
                    self.telemetry.released(request, release.as_str());
                    if let Some(reply) = self.releasers.remove(&request) {
                        let _ = reply.send(released(release));
                    }
                }
                Event::Inspected { request, nodes, membership, waiting } => {
                    if let Some(reply) = self.inspectors.remove(&request) {
                        let _ = reply.send(Inspected { nodes, membership, waiting });
                    }
                }
                Event::ForceReleased { request, result } => {
                    if let Some(reply) = self.forcers.remove(&request) {
                        let _ = reply.send(result);
                    }
                }
                Event::Looked { request, free_in } => {
                    if let Some(reply) = self.lookers.remove(&request) {
                        let _ = reply.send(free_in);
                    }
                }
                Event::Ahead { request, ahead } => {
                    if let Some(acquirer) = self.acquirers.get(&request) {
                        acquirer.moved(ahead);
                    }
                }
                Event::Heard { listener, message } => {
                    if let Some(ear) = self.listeners.get(&listener) {
                        ear.hear(message.as_deref());
                    }
                }
                Event::Lost { attempt, reason } => {
                    // A hold that is over need not be watched; its guard knows the rest by itself.
                    if let Some(hold) = self.holds.remove(attempt) {
                        // Not before whatever has ended it, which may be the holder's own look.
                        let now = clock.now();
                        self.telemetry.lost(now, &hold, &reason);
                        hold.end(now, reason);
                    }
                }
                Event::Detached { request, attempt, result } => {
                    let ended = (now, &mut self.holds, &self.telemetry);
                    self.hand_overs.detached(machine, ended, (request, attempt), result);
                }
                Event::Adopted { request, result } => {
                    let begun = (now, &mut self.holds, &self.telemetry);
                    self.hand_overs.adopted(machine, begun, request, result);
                }
                Event::Observed(observation) => {
                    let acquire = |request: RequestId| {
                        let acquirer = self.acquirers.get(&request)?;
                        Some((&acquirer.span, &*acquirer.resource))
                    };
                    let hold = |attempt: AttemptId| self.holds.get(attempt).map(|hold| &**hold);
                    self.telemetry.observed(now, &observation, acquire, hold);
                }
            }
        }
    }

    /// Reports the state of the nodes, after everything else has been reported.
    #[inline]
    pub(super) fn end_turn(&mut self, machine: &Coordinator, clock: Clock) {
        if !self.waiters.is_empty() {
            self.waiters.look(machine, clock.now());
        }
        self.telemetry.end_turn(machine, || clock.now());
    }

    #[inline]
    pub(super) fn begin_turn(&mut self, machine: &mut Coordinator) {
        self.telemetry.begin_turn(machine);
    }

    /// Answers the `connect`. Returns `false` if the client must withdraw: there is evidence of a
    /// mistake, or no caller waits for it any more.
    fn connected(&mut self, now: Instant, machine: &Coordinator) -> bool {
        let Some(reply) = self.connecting.take() else { return true };
        let admission = machine.admission(now, self.strict);
        let refusal = ConnectError::refusal(admission, &machine.status(now));
        let result = refusal.map_or(Ok(()), Err);
        let connected = result.is_ok();
        reply.send(result).is_ok() && connected
    }

    fn extended(
        &mut self,
        machine: &mut Coordinator,
        request: Option<RequestId>,
        attempt: AttemptId,
        clock: Clock,
        result: Result<Extended, NotExtended>,
    ) {
        let reply = request.and_then(|request| self.extenders.remove(&request));
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
                let resource = hold.resource.clone();
                let quorum = machine.quorum();
                Err(ExtendError::Unextended(Unextended { resource, nodes, quorum }))
            }
        };
        if let Some(reply) = reply {
            let _ = reply.send(result);
        }
    }

    /// Lets all listeners look for themselves from now on: they find that the driver ends.
    fn end_listening(&mut self) {
        self.listeners.drain().for_each(|(_, ear)| ear.hear(None));
    }

    /// Ends all holds. The driver ends, and nothing looks after them any more.
    pub(super) fn end_holds(&mut self, now: Instant) {
        self.end_listening();
        for hold in self.holds.drain() {
            self.telemetry.lost(now, &hold, &LossReason::Closed);
            hold.end(now, LossReason::Closed);
        }
    }
}
