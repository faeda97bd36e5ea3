//! The callers that wait for answers, and the locks that are held.

mod end;
mod extended;
mod refused;
mod waiting;

use super::clock::Clock;
use super::holds::Holds;
use super::lease_state::IdleLocks;
use super::readiness::{self, Unready};
use super::request::{LockRequest, Reply, Request, Won};
use super::{Acquirer, LeaseState, ReleaseOnDrop};
use crate::failure::{ConnectError, NoRandomness};
use crate::fencing::FencingToken;
use crate::released::Released;
use crate::telemetry::{Outlet, Telemetry};
use quorumlock_core::coordinator::{AttemptId, Coordinator, Event, Invariant, Release, RequestId};
use quorumlock_core::quorum::Instant;
use std::sync::Arc;
use waiting::Releaser;
pub(super) use waiting::Waiting;

pub(crate) struct Callers {
    pub(super) clock: Clock,
    /// It is answered when every node has answered or failed.
    pub(super) connecting: Option<Reply<Result<(), ConnectError>>>,
    /// An unfit master is an error.
    pub(super) strict: bool,
    /// The length of the prefix before the name of a resource in its key.
    pub(super) prefix: usize,
    /// A caller has ever received the connection.
    pub(super) in_use: bool,
    pub(super) waiting: Waiting,
    pub(super) unready: Vec<Unready>,
    /// The holds that are not over.
    pub(super) holds: Holds,
    /// The locks that callers may take by themselves.
    pub(super) idle_locks: Arc<IdleLocks>,
    pub(super) closers: Vec<Reply<()>>,
    pub(super) closing: bool,
    /// The invariant of the machine that no longer holds, although it must.
    pub(super) broken: Option<Invariant>,
    pub(super) telemetry: Telemetry,
}

impl Callers {
    /// Counts the callers and holds that are remembered.
    #[cfg(all(test, feature = "embedded"))]
    pub(super) fn entries(&self) -> usize {
        self.waiting.len() + self.unready.len() + self.holds.len() + self.closers.len()
    }

    pub(super) fn holding(&self) -> bool {
        self.holds.len() > 0
    }

    /// Returns when the time is over of the next caller that waits until a quorum may vote.
    pub(super) fn end_at(&self) -> Option<Instant> {
        self.unready.iter().map(|waiter| waiter.until).min()
    }

    /// Passes an acquire on to the machine, unless its caller has gone. The caller reads a dropped reply as `Closed`.
    pub(super) fn acquire(&mut self, machine: &mut Coordinator, now: Instant, asked: LockRequest) {
        self.learn_in_use();
        let LockRequest { request, terms, acquirer } = asked;
        if !self.closing && !acquirer.reply.is_closed() {
            self.waiting.acquirers.insert(request, acquirer);
            machine.handle_acquire(now, request, terms);
        }
    }

    /// Passes any other request on to the machine.
    pub(super) fn take(&mut self, machine: &mut Coordinator, now: Instant, request: Request) {
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
            Request::Release { request, attempt, in_time, ends_well, reply } => {
                let hold = self.holds.remove(attempt);
                let held = hold.as_ref().map(|hold| hold.held(now));
                if ends_well {
                    machine.handle_end_well(attempt);
                }
                if ends_well && machine.handle_leave_idle(now, attempt, in_time) {
                    self.telemetry.outlet.kept(held, "idle");
                    reply.into_iter().for_each(|reply| _ = reply.send(Ok(Released::KeptWarm)));
                    return;
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
            Request::Claimed(attempt) => machine.handle_claimed(now, attempt),
            Request::Run(run) => run(self, machine, now),
        }
    }

    /// Learns of guards that had an idle lock when the machine recalled it.
    fn learn_in_use(&mut self) {
        self.idle_locks.in_use().into_iter().for_each(|hold| self.holds.keep(hold));
    }

    /// Reports to callers what the machine has decided. Returns `true` if that has led to a question to
    /// the masters.
    pub(super) fn answer(&mut self, machine: &mut Coordinator) -> bool {
        let (mut heard_at, mut asks) = (None, false);
        self.learn_in_use();
        while let Some(event) = machine.poll_event() {
            let now = *heard_at.get_or_insert_with(|| self.clock.now());
            match event {
                Event::Connected => {
                    if !self.connected(now, machine) {
                        machine.handle_withdraw(now);
                    }
                }
                Event::Acquired { request, attempt, deadline, ballot } => {
                    if let Some(acquirer) = self.waiting.acquirers.remove(&request) {
                        let Acquirer { driver, resource, kind, reply, .. } = acquirer;
                        let hold = LeaseState::new(attempt, resource, kind, now, deadline);
                        let (token, slot) =
                            (ballot.map(FencingToken::of_win), machine.slot(attempt));
                        // The lock itself: if its caller does not pick it up, it is released.
                        let lock = ReleaseOnDrop::new(driver, self.holds.insert(hold));
                        let _ = reply.send(Ok(Won { lock, token, slot }));
                    } else {
                        machine.handle_release(now, None, attempt, true);
                    }
                }
                Event::NotAcquired { request, failure, waited } => {
                    asks |= self.not_acquired(machine, now, request, failure, waited);
                }
                Event::InTheWay { request, found } => {
                    if let Some(answer) = self.waiting.refused.remove(&request) {
                        answer(self, machine, found);
                    }
                }
                Event::NoRandomness { request } => {
                    if let Some(acquirer) = self.waiting.acquirers.remove(&request) {
                        acquirer.refused(NoRandomness.into());
                    }
                }
                Event::Extended { request, attempt, result } => {
                    self.extended(machine, request, attempt, result);
                }
                Event::Downgraded { request, attempt, result } => {
                    self.extended(machine, Some(request), attempt, result);
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
                Event::Inspected { request, .. }
                | Event::ForceReleased { request, .. }
                | Event::Asked { request, .. }
                | Event::Looked { request, .. } => {
                    if let Some(reply) = self.waiting.asked.remove(&request) {
                        let _ = reply.send(event);
                    }
                }
                Event::Ahead { request, ahead } => {
                    let acquirer = self.waiting.acquirers.get(&request);
                    let shown = acquirer.and_then(|acquirer| acquirer.ahead.as_ref());
                    shown.inspect(|shown| shown.set(ahead));
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
                Event::Lost { attempt, reason } => self.lost(machine, attempt, reason),
                Event::Detached { request, result, .. } => {
                    if let Some(answer) = self.waiting.detachers.remove(&request) {
                        answer(self, machine, now, result);
                    }
                }
                Event::Adopted { request, result } => {
                    if let Some(answer) = self.waiting.adopters.remove(&request) {
                        answer(self, now, result);
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
    pub(super) fn end_turn(&mut self, machine: &Coordinator) {
        if !self.unready.is_empty() {
            readiness::look(&mut self.unready, machine, self.clock.now());
        }
        let lent = self.idle_locks.lent();
        self.telemetry.end_turn(machine, self.holds.by_kind(), lent, || self.clock.now());
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
