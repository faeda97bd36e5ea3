//! The callers that wait for answers, and the locks that are held.

mod end;
mod extended;
mod refused;
mod waiting;

use super::acquirer::Acquirer;
use super::clock::Clock;
use super::hand_over::Adopter;
use super::holds::Holds;
use super::lease_state::IdleLocks;
use super::readiness::Readiness;
use super::request::{Inspected, Own, Reply, Request};
use crate::failure::{ConnectError, NoRandomness};
use crate::fencing::FencingToken;
use crate::released::Released;
use crate::telemetry::{Outlet, Telemetry};
use quorumlock_core::coordinator::{AttemptId, Coordinator, Event, Invariant, Release, RequestId};
use quorumlock_core::quorum::{Instant, Nanos};
use std::sync::Arc;
use waiting::{Caller, Waiting};

pub(crate) struct Callers {
    connecting: Option<Reply<Result<(), ConnectError>>>,
    /// An unfit master is an error.
    strict: bool,
    /// The length of the prefix before the name of a resource in its key.
    prefix: usize,
    /// A caller has received the connection.
    in_use: bool,
    waiting: Waiting,
    readiness: Readiness,
    /// The holds that are not over.
    holds: Holds,
    /// The locks that callers may take by themselves.
    idle_locks: Arc<IdleLocks>,
    closers: Vec<Reply<()>>,
    closing: bool,
    /// The invariant of the machine that no longer holds, although it must.
    broken: Option<Invariant>,
    telemetry: Telemetry,
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
            readiness: Readiness::default(),
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
        self.waiting.len() + self.readiness.len() + self.holds.len() + self.closers.len()
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
        self.readiness.end_at()
    }

    /// Passes a request on to the machine. Returns `true` if the request asks for the end.
    pub(super) fn take(
        &mut self,
        machine: &mut Coordinator,
        now: Instant,
        request: Request,
    ) -> bool {
        self.learn_in_use();
        match request {
            // The caller reads the dropped reply as `Closed`.
            Request::Acquire { .. } if self.closing => {}
            Request::Acquire { request, acquire, driver, resource, kind, span, ahead, reply } => {
                let waits = acquire.wait != Nanos::ZERO;
                let acquirer = Acquirer { driver, resource, kind, waits, span, ahead, reply };
                self.waiting.insert(request, Caller::Acquirer(acquirer));
                machine.handle_acquire(now, request, acquire);
            }
            Request::Cancel(request) => {
                self.waiting.remove(request);
                machine.handle_cancel(now, request);
            }
            Request::Extend { request, attempt, reply } => {
                self.waiting.insert(request, Caller::Extender(reply));
                machine.handle_extend(now, request, attempt);
            }
            Request::Downgrade { request, from, to, reply } => {
                self.waiting.insert(request, Caller::Extender(reply));
                self.holds.succeed(now, &from, to);
                machine.handle_downgrade(now, request, from.attempt);
            }
            Request::Release { request, attempt, in_time, ends_well, reply } => {
                let hold = self.holds.remove(attempt);
                let held = hold.as_ref().map(|hold| hold.held(now));
                if ends_well && machine.handle_leave_idle(now, attempt, in_time) {
                    self.telemetry.outlet.kept(held, "idle");
                    reply.into_iter().for_each(|reply| _ = reply.send(Ok(Released::KeptWarm)));
                    return false;
                }
                let request = reply.map(|reply| {
                    self.waiting.insert(request, Caller::Releaser(reply));
                    request
                });
                self.telemetry.given_up(held, request, in_time);
                if ends_well {
                    machine.handle_finish(now, request, attempt, in_time);
                } else {
                    machine.handle_release(now, request, attempt, in_time);
                }
            }
            Request::Forget(attempt) => {
                let hold = self.holds.remove(attempt);
                let held = hold.as_ref().map(|hold| hold.held(now));
                self.telemetry.outlet.kept(held, "forgotten");
                machine.handle_forget(now, attempt);
            }
            Request::Claimed(hold) => {
                let attempt = hold.attempt;
                self.holds.insert(hold);
                machine.handle_claimed(now, attempt);
            }
            Request::PickedUp(attempt) => machine.handle_picked_up(now, attempt),
            Request::HearAsks(attempt) => machine.handle_hear_asks(now, attempt),
            Request::Detach { request, attempt, driver, reply } => {
                self.waiting.insert(request, Caller::Detacher(driver, reply));
                machine.handle_detach(now, request, attempt);
            }
            Request::Adopt { .. } if self.closing => {}
            Request::Adopt { request, lock, driver, resource, kind, reply } => {
                let token = lock.fenced.as_ref().map(|fenced| FencingToken::of_win(fenced.number));
                let adopter = Adopter { driver, resource, kind, token, began: now, reply };
                self.waiting.insert(request, Caller::Adopter(adopter.into()));
                machine.handle_adopt(now, request, *lock);
            }
            Request::GiveBack { lock, adopting } => {
                adopting.and_then(|request| self.waiting.remove(request));
                machine.handle_give_back(now, *lock, adopting);
            }
            Request::Inspect { .. }
            | Request::Ask { .. }
            | Request::ForceRelease { .. }
            | Request::Look { .. }
                if self.closing => {}
            Request::Ask { request, key, channel, holders, reply } => {
                self.waiting.insert(request, Caller::Asker(reply));
                machine.handle_ask(now, request, (&key, &channel), &holders);
            }
            Request::Look { request, keys, reply } => {
                self.waiting.insert(request, Caller::Looker(reply));
                machine.handle_look(now, request, &keys, None);
            }
            Request::Inspect { request, key, beside, reply } => {
                self.waiting.insert(request, Caller::Inspector(reply));
                machine.handle_inspect(now, request, &key, beside.as_ref());
            }
            Request::ForceRelease { request, key, readers, value, reply } => {
                self.waiting.insert(request, Caller::Forcer(reply));
                machine.handle_force_release(now, request, &key, readers.as_deref(), value);
            }
            Request::Listen { ear, .. } if self.closing => ear.hear(None),
            Request::Listen { listener, channel, ear } => {
                self.waiting.insert(listener, Caller::Listener(ear));
                machine.handle_listen(now, listener, channel);
            }
            Request::Unlisten { listener, channel } => {
                self.waiting.remove(listener);
                machine.handle_unlisten(listener, &channel);
            }
            Request::Own { .. } if self.closing => {}
            Request::Own { keys, reply } => {
                let mailbox = machine.masters().known_mailbox();
                let idle = keys.iter().map(|key| machine.idle_under(key)).collect();
                let _ = reply.send(Own { mailbox, idle });
            }
            Request::Connected => self.in_use = true,
            Request::Status(_) | Request::WaitUntilReady { .. } if self.closing => {}
            Request::Status(reply) => {
                let _ = reply.send(machine.masters().status(now));
            }
            Request::WaitUntilReady { within, reply } => self.readiness.add(now, within, reply),
            Request::Shutdown(reply) => {
                self.closing = true;
                self.closers.push(reply);
                self.readiness.clear();
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
        if self.idle_locks.has_in_use() {
            self.idle_locks.in_use().into_iter().for_each(|hold| self.holds.insert(hold));
        }
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
                    if let Some(Caller::Acquirer(acquirer)) = self.waiting.remove(request) {
                        let token = ballot.map(FencingToken::of_win);
                        let hold = (attempt, now, deadline);
                        let holds = (&mut self.holds, &*self.idle_locks);
                        acquirer.acquired(holds, hold, token, machine.slot(attempt));
                        machine.handle_on_its_way(attempt);
                    } else {
                        machine.handle_release(now, None, attempt, true);
                    }
                }
                Event::NotAcquired { request, failure, waited } => {
                    asks |= self.not_acquired(machine, now, request, failure, waited);
                }
                Event::InTheWay { request, found } => self.in_the_way(machine, request, found),
                Event::NoRandomness { request } => {
                    if let Some(Caller::Acquirer(acquirer)) = self.waiting.remove(request) {
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
                    if let Some(Caller::Releaser(reply)) = self.waiting.remove(request) {
                        let _ = reply.send(match release {
                            Release::Released => Ok(Released::Confirmed),
                            Release::Lost(reason) => Err(reason),
                            Release::Unconfirmed(nodes) => Ok(Released::Unconfirmed(nodes)),
                        });
                    }
                }
                Event::Inspected { request, nodes, waiting } => {
                    if let Some(Caller::Inspector(reply)) = self.waiting.remove(request) {
                        let membership = machine.masters().quorum().membership();
                        let _ = reply.send(Inspected { nodes, membership, waiting });
                    }
                }
                Event::ForceReleased { request, result } => {
                    if let Some(Caller::Forcer(reply)) = self.waiting.remove(request) {
                        let _ = reply.send(result);
                    }
                }
                Event::Asked { request, heard } => {
                    if let Some(Caller::Asker(reply)) = self.waiting.remove(request) {
                        let _ = reply.send(heard);
                    }
                }
                Event::Looked { request, free_in } => {
                    if let Some(Caller::Looker(reply)) = self.waiting.remove(request) {
                        let _ = reply.send(free_in);
                    }
                }
                Event::Ahead { request, ahead } => {
                    if let Some(Caller::Acquirer(acquirer)) = self.waiting.get(request) {
                        acquirer.moved(ahead);
                    }
                }
                Event::Heard { listener, message } => {
                    if let Some(Caller::Listener(ear)) = self.waiting.get(listener) {
                        ear.hear(message.as_deref());
                    }
                }
                Event::Keep { attempt } => self.keep(machine, now, attempt),
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
                    if let Some(Caller::Adopter(adopter)) = self.waiting.remove(request) {
                        if let Ok(adopted) = &result {
                            machine.handle_on_its_way(adopted.attempt);
                        }
                        let begun = (now, &mut self.holds, &self.telemetry.outlet);
                        adopter.adopted(begun, result, machine.masters().quorum());
                    } else if let Ok(adopted) = result {
                        machine.handle_release(now, None, adopted.attempt, true);
                    }
                }
                Event::Observed(observation) => {
                    let acquire = |request: RequestId| match self.waiting.get(request)? {
                        Caller::Acquirer(acquirer) => Some((&acquirer.span, &*acquirer.resource)),
                        _ => None,
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
        if !self.readiness.is_empty() {
            self.readiness.look(machine, clock.now());
        }
        let lent = self.idle_locks.lent();
        self.telemetry.end_turn(machine, self.holds.by_kind(), lent, || clock.now());
    }

    #[inline]
    pub(super) fn begin_turn(&mut self, machine: &mut Coordinator) {
        self.telemetry.begin_turn(machine);
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
