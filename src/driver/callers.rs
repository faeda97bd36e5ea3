//! The callers that wait for answers, and the locks that are held.

mod end;
mod extended;
mod refused;
mod waiting;

use super::clock::Clock;
use super::holds::Holds;
use super::lease_state::IdleLocks;
use super::readiness::{self, Unready};
use super::request::{Inspected, LockRequest, Own, Reply, Request};
use crate::failure::{ConnectError, NoRandomness};
use crate::fencing::FencingToken;
use crate::released::Released;
use crate::telemetry::{Outlet, Telemetry};
use quorumlock_core::coordinator::{
    AttemptId, Coordinator, Event, Invariant, Question, Release, RequestId,
};
use quorumlock_core::quorum::Instant;
use std::sync::Arc;
use waiting::{Releaser, Waiting, answer};

pub(crate) struct Callers {
    connecting: Option<Reply<Result<(), ConnectError>>>,
    /// An unfit master is an error.
    strict: bool,
    /// The length of the prefix before the name of a resource in its key.
    prefix: usize,
    /// A caller has received the connection.
    in_use: bool,
    waiting: Waiting,
    unready: Vec<Unready>,
    /// The holds that are not over.
    holds: Holds,
    /// The locks that callers may take by themselves.
    idle_locks: Arc<IdleLocks>,
    closers: Vec<Reply<()>>,
    closing: bool,
    /// The invariant of the machine that no longer holds, although it must.
    broken: Option<Invariant>,
    pub(super) telemetry: Telemetry,
}

impl Callers {
    /// Creates the record of all callers. `connecting` is answered when every node has answered or
    /// failed. With `strict`, it is an error if one of them is unfit. `prefix` is the length of the keys'
    /// prefix.
    pub(crate) fn new(
        connecting: Reply<Result<(), ConnectError>>,
        strict: bool,
        prefix: usize,
        telemetry: Telemetry,
        idle_locks: Arc<IdleLocks>,
    ) -> Self {
        Self {
            connecting: Some(connecting),
            strict,
            prefix,
            in_use: false,
            waiting: Waiting::default(),
            unready: Vec::new(),
            holds: Holds::default(),
            idle_locks,
            closers: Vec::new(),
            closing: false,
            broken: None,
            telemetry,
        }
    }

    /// Counts the callers and holds that are remembered.
    #[cfg(all(test, feature = "embedded"))]
    pub(super) fn entries(&self) -> usize {
        self.waiting.len() + self.unready.len() + self.holds.len() + self.closers.len()
    }

    pub(super) fn holding(&self) -> bool {
        self.holds.len() > 0
    }

    /// Returns whether a caller has ever received the connection.
    pub(super) const fn is_in_use(&self) -> bool {
        self.in_use
    }

    /// Returns when the time is over of the next caller that waits until a quorum may vote.
    pub(super) fn end_at(&self) -> Option<Instant> {
        self.unready.iter().map(|waiter| waiter.until).min()
    }

    /// Passes an acquire on to the machine, unless its caller has gone. The caller reads a dropped reply as `Closed`.
    pub(super) fn acquire(&mut self, machine: &mut Coordinator, now: Instant, asked: LockRequest) {
        self.learn_in_use();
        let LockRequest { request, terms, acquirer } = asked;
        if !self.closing && !acquirer.has_gone() {
            self.waiting.acquirers.insert(request, acquirer);
            machine.handle_acquire(now, request, terms);
        }
    }

    /// Passes any other request on to the machine. Returns `true` if the request asks for the end.
    pub(super) fn take(
        &mut self,
        machine: &mut Coordinator,
        now: Instant,
        request: Request,
    ) -> bool {
        self.learn_in_use();
        match request {
            Request::Cancel(request) => {
                self.waiting.acquirers.remove(&request);
                self.waiting.refused.remove(&request);
                machine.handle_cancel(now, request);
            }
            Request::Extend { request, attempt, reply } => {
                self.waiting.extenders.insert(request, reply);
                machine.handle_extend(now, request, attempt);
            }
            Request::Downgrade { request, from, to, reply } => {
                self.waiting.extenders.insert(request, reply);
                self.holds.succeed(now, &from, to);
                machine.handle_downgrade(now, request, from.attempt);
            }
            Request::Release { request, attempt, in_time, ends_well, reply } => {
                let hold = self.holds.remove(attempt);
                let held = hold.as_ref().map(|hold| hold.held(now));
                if ends_well {
                    machine.handle_end_well(attempt);
                }
                if ends_well && machine.handle_leave_idle(now, attempt, in_time) {
                    self.telemetry.outlet.kept(held, "idle");
                    reply.into_iter().for_each(|reply| _ = reply.send(Ok(Released::KeptWarm)));
                    return false;
                }
                self.telemetry.outlet.given_up(held, in_time);
                if reply.is_none() {
                    self.telemetry.outlet.released(held, "dropped");
                }
                let request = reply.map(|reply| {
                    self.waiting.releasers.insert(request, Releaser { reply, hold, given_up: now });
                    request
                });
                machine.handle_release(now, request, attempt, in_time);
            }
            Request::Forget(attempt) => {
                let hold = self.holds.remove(attempt);
                let held = hold.as_ref().map(|hold| hold.held(now));
                self.telemetry.outlet.kept(held, "forgotten");
                machine.handle_forget(now, attempt);
            }
            Request::Claimed(attempt) => machine.handle_claimed(now, attempt),
            Request::Detach { request, attempt, driver, reply } => {
                self.waiting.detachers.insert(request, (driver, reply));
                machine.handle_detach(now, request, attempt);
            }
            Request::Adopt { .. } if self.closing => {}
            Request::Adopt { request, lock, adopter } => {
                self.waiting.adopters.insert(request, adopter);
                machine.handle_adopt(now, request, *lock);
            }
            Request::GiveBack { lock, adopting } => {
                adopting.and_then(|request| self.waiting.adopters.remove(&request));
                machine.handle_give_back(now, *lock, adopting);
            }
            Request::Inspect { .. }
            | Request::Ask { .. }
            | Request::ForceRelease { .. }
            | Request::Look { .. }
                if self.closing => {}
            Request::Ask { request, key, channel, holders, reply } => {
                self.waiting.askers.insert(request, reply);
                machine.handle_ask(now, request, (&key, &channel), &holders);
            }
            Request::Look { request, keys, reply } => {
                self.waiting.lookers.insert(request, reply);
                machine.handle_question(now, Question::look(request, &keys, None));
            }
            Request::Inspect { request, key, beside, reply } => {
                self.waiting.inspectors.insert(request, reply);
                let question = Question::inspect(request, &key, beside.as_ref());
                machine.handle_question(now, question);
            }
            Request::ForceRelease { request, key, readers, value, reply } => {
                self.waiting.forcers.insert(request, reply);
                let question = Question::force_release(request, &key, readers.as_deref(), value);
                machine.handle_question(now, question);
            }
            Request::Listen { ear, .. } if self.closing => ear.notify_one(),
            Request::Listen { listener, channel, ear } => {
                self.waiting.listeners.insert(listener, ear);
                machine.handle_listen(now, listener, channel);
            }
            Request::Unlisten { listener, channel } => {
                self.waiting.listeners.remove(&listener);
                machine.handle_unlisten(listener, &channel);
            }
            Request::Own { .. } if self.closing => {}
            Request::Own { keys, reply } => {
                let mailbox = machine.masters().known_mailbox();
                let idle = keys.iter().map(|key| machine.idle_under(now, key)).collect();
                let _ = reply.send(Own { mailbox, idle });
            }
            Request::Connected => self.in_use = true,
            Request::Status(_) | Request::WaitUntilReady { .. } if self.closing => {}
            Request::Status(reply) => {
                let _ = reply.send(machine.masters().status(now));
            }
            Request::WaitUntilReady { within, reply } => {
                self.unready.push(Unready { since: now, until: now.after(within), reply });
            }
            Request::Shutdown(reply) => {
                self.closing = true;
                self.closers.push(reply);
                self.unready.clear();
                self.waiting.close();
                self.take_back(machine, now);
                machine.handle_shutdown(now);
                // A caller may have taken an idle lock.
                self.learn_in_use();
                self.take_back(machine, now);
                return true;
            }
        }
        false
    }

    /// Learns of guards that had an idle lock when the machine recalled it.
    fn learn_in_use(&mut self) {
        self.idle_locks.in_use().into_iter().for_each(|hold| self.holds.insert(hold));
    }

    /// Reports to callers what the machine has decided. Returns `true` if that has led to a question to
    /// the masters.
    pub(super) fn answer(&mut self, machine: &mut Coordinator, clock: Clock) -> bool {
        let (mut heard_at, mut asks) = (None, false);
        self.learn_in_use();
        while let Some(event) = machine.poll_event() {
            let now = *heard_at.get_or_insert_with(|| clock.now());
            match event {
                Event::Connected => {
                    if !self.connected(now, machine) {
                        machine.handle_withdraw(now);
                    }
                }
                Event::Acquired { request, attempt, deadline, ballot } => {
                    if let Some(acquirer) = self.waiting.acquirers.remove(&request) {
                        let token = ballot.map(FencingToken::of_win);
                        let won = (attempt, now, deadline);
                        acquirer.acquired(&mut self.holds, won, token, machine.slot(attempt));
                    } else {
                        machine.handle_release(now, None, attempt, true);
                    }
                }
                Event::NotAcquired { request, failure, waited } => {
                    asks |= self.not_acquired(machine, now, request, failure, waited);
                }
                Event::InTheWay { request, found } => self.in_the_way(machine, request, found),
                Event::NoRandomness { request } => {
                    if let Some(acquirer) = self.waiting.acquirers.remove(&request) {
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
                    let releaser = self.waiting.releasers.remove(&request);
                    if let Some(Releaser { reply, hold, given_up }) = releaser {
                        let held = hold.as_ref().map(|hold| hold.held(given_up));
                        self.telemetry.outlet.released(held, release.as_str());
                        let _ = reply.send(match release {
                            Release::Released => Ok(Released::Confirmed),
                            Release::Lost(reason) => Err(reason),
                            Release::Unconfirmed(nodes) => Ok(Released::Unconfirmed(nodes)),
                        });
                    }
                }
                Event::Inspected { request, nodes, waiting } => {
                    let membership = machine.masters().membership();
                    let inspected = Inspected { nodes, membership, waiting };
                    answer(&mut self.waiting.inspectors, request, inspected);
                }
                Event::ForceReleased { request, result } => {
                    answer(&mut self.waiting.forcers, request, result);
                }
                Event::Asked { request, heard } => {
                    answer(&mut self.waiting.askers, request, heard);
                }
                Event::Looked { request, free_in } => {
                    answer(&mut self.waiting.lookers, request, free_in);
                }
                Event::Ahead { request, ahead } => {
                    if let Some(acquirer) = self.waiting.acquirers.get(&request) {
                        acquirer.moved(ahead);
                    }
                }
                Event::Heard { listener, .. } => {
                    if let Some(ear) = self.waiting.listeners.get(&listener) {
                        ear.notify_one();
                    }
                }
                Event::Keep { attempt } => {
                    // The keeper extends no hold that its caller has not picked up.
                    if self.holds.get(attempt).is_some_and(|hold| hold.is_picked_up()) {
                        machine.handle_keep(now, attempt);
                    }
                }
                Event::Wanted { attempt } => {
                    if let Some(hold) = self.holds.get(attempt) {
                        Outlet::wanted(&hold.resource);
                        hold.want();
                    }
                }
                Event::Broken(invariant) => {
                    self.broken = Some(invariant);
                    return true;
                }
                Event::Lost { attempt, reason } => self.lost(machine, clock, attempt, reason),
                Event::Detached { request, attempt, result } => {
                    self.detached(machine, now, (request, attempt), result);
                }
                Event::Adopted { request, result } => {
                    if let Some(adopter) = self.waiting.adopters.remove(&request) {
                        let begun = (now, &mut self.holds, &self.telemetry.outlet);
                        adopter.adopted(begun, result, machine.masters().membership());
                    } else if let Ok(adopted) = result {
                        machine.handle_release(now, None, adopted.attempt, true);
                    }
                }
                Event::Observed(observation) => {
                    let acquire = |request: RequestId| {
                        let acquirer = self.waiting.acquirers.get(&request)?;
                        Some((&acquirer.span, &*acquirer.resource))
                    };
                    let hold = |attempt: AttemptId| {
                        let hold = self.holds.get(attempt)?;
                        Some((&*hold.resource, hold.deadline().since(now)))
                    };
                    let resource_of = |key: &Arc<str>| self.resource(key);
                    self.telemetry.outlet.observed(&observation, acquire, hold, resource_of);
                }
            }
        }
        asks
    }

    /// Reports the state of the nodes, after everything else has been reported.
    #[inline]
    pub(super) fn end_turn(&mut self, machine: &Coordinator, clock: Clock) {
        if !self.unready.is_empty() {
            readiness::look(&mut self.unready, machine, clock.now());
        }
        let lent = self.idle_locks.lent();
        self.telemetry.end_turn(machine, self.holds.by_kind(), lent, || clock.now());
    }

    /// Answers the `connect`. Returns `false` if the client must withdraw: there is evidence of a
    /// mistake, or no caller waits for it any more.
    fn connected(&mut self, now: Instant, machine: &Coordinator) -> bool {
        let Some(reply) = self.connecting.take() else { return true };
        let admission = machine.masters().admission(now, self.strict);
        let refusal = ConnectError::refusal(admission, machine.masters(), now);
        let result = refusal.map_or(Ok(()), Err);
        let connected = result.is_ok();
        reply.send(result).is_ok() && connected
    }
}
