//! The callers that wait for answers, and the locks that are held.

mod refused;

use super::clock::Clock;
use super::holds::Holds;
use super::lease_state::IdleLocks;
use super::request::{Acquirer, Caller, LockRequest, ReleaseResult, Reply, Request, Won};
use super::{Handle, LeaseState, ReleaseOnDrop, Setup};
use crate::failure::{ConnectError, ExtendError, LossReason, NoRandomness, NotReady, Why};
use crate::fencing::FencingToken;
use crate::released::Released;
use crate::telemetry::{Outlet, Telemetry};
use quorumlock_core::coordinator::{AttemptId, Coordinator, Event, Invariant, Release, RequestId};
use quorumlock_core::quorum::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{Notify, oneshot};

/// The callers that wait for answers of the same type.
type ByRequest<T> = BTreeMap<RequestId, T>;

/// The answer to a caller, given by the event that ends its request.
pub(super) type Answer = Box<dyn FnOnce(&mut Callers, &mut Coordinator, Instant, Event) + Send>;

/// The ways of answers to all callers. Dropped without an answer if the hold it is about is over, or the driver
/// ends.
#[derive(Default)]
pub(super) struct Waiting {
    acquirers: ByRequest<Acquirer>,
    /// The callers that adopt a lock, or that learn what was in the way of one: dropped once the client is closed.
    pub(super) wanted: ByRequest<Answer>,
    pub(super) extenders: ByRequest<Reply<Result<Instant, ExtendError>>>,
    releasers: ByRequest<Releaser>,
    /// The callers of all other requests.
    pub(super) asked: ByRequest<Answer>,
    /// Notified for as long as they listen.
    pub(super) listeners: ByRequest<Arc<Notify>>,
}

/// A caller that has given a guard up, and waits for the outcome.
struct Releaser {
    reply: Reply<ReleaseResult>,
    /// `None` if its loss has been reported before.
    hold: Option<Arc<LeaseState>>,
    /// When that was.
    given_up: Instant,
}

/// A caller that waits until a quorum may vote.
pub(super) struct Unready {
    pub(super) since: Instant,
    pub(super) until: Instant,
    pub(super) reply: Reply<Result<(), NotReady>>,
}

pub(crate) struct Callers {
    pub(super) setup: Arc<Setup>,
    pub(super) clock: Clock,
    /// It is answered when every node has answered or failed.
    pub(super) connecting: Option<Reply<Result<(), ConnectError>>>,
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
                self.waiting.wanted.remove(&request);
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
                Event::Connected => self.connected(now, machine),
                Event::Acquired { request, attempt, deadline, ballot } => {
                    if let Some(acquirer) = self.waiting.acquirers.remove(&request) {
                        let Acquirer { caller, reply, .. } = acquirer;
                        let Caller { driver, resource, kind, .. } = caller;
                        let hold = LeaseState::new(attempt, resource, kind, now, deadline).into();
                        let (token, slot) =
                            (ballot.map(FencingToken::of_win), machine.slot(attempt));
                        // The lock itself: if its caller does not pick it up, it is released.
                        let lock = ReleaseOnDrop { driver, hold: Arc::clone(&hold) };
                        self.holds.keep(hold);
                        let _ = reply.send(Ok(Won { lock, token, slot }));
                    } else {
                        machine.handle_release(now, None, attempt, true);
                    }
                }
                Event::NotAcquired { request, failure, waited } => {
                    asks |= self.not_acquired(machine, now, request, failure, waited);
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
                Event::InTheWay { request, .. }
                | Event::Inspected { request, .. }
                | Event::ForceReleased { request, .. }
                | Event::Asked { request, .. }
                | Event::Looked { request, .. }
                | Event::Detached { request, .. }
                | Event::Adopted { request, .. } => {
                    let Waiting { wanted, asked, .. } = &mut self.waiting;
                    let answer = wanted.remove(&request).or_else(|| asked.remove(&request));
                    if let Some(answer) = answer {
                        answer(self, machine, now, event);
                    } else if let Event::Adopted { result: Ok(adopted), .. } = event {
                        machine.handle_release(now, None, adopted.attempt, true);
                    }
                }
                Event::Ahead { request, ahead } => {
                    let acquirer = self.waiting.acquirers.get(&request);
                    let shown = acquirer.and_then(|acquirer| acquirer.caller.ahead.as_ref());
                    shown.inspect(|shown| shown.set(ahead));
                }
                Event::Heard { listener, .. } => {
                    if let Some(ear) = self.waiting.listeners.get(&listener) {
                        ear.notify_one();
                    }
                }
                Event::Keep { attempt } => {
                    // The keeper extends no hold that its caller has not picked up.
                    if self.holds.get(attempt).is_some_and(|hold| hold.claim.is_taken()) {
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
                Event::Observed(observation) => {
                    let acquire = |request: RequestId| {
                        let Acquirer { caller, .. } = self.waiting.acquirers.get(&request)?;
                        Some((&caller.span, &*caller.resource))
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
            self.answer_unready(machine, self.clock.now());
        }
        let lent = self.idle_locks.lent();
        self.telemetry.end_turn(machine, &self.holds.by_kind, lent, || self.clock.now());
    }

    /// Answers the callers that need not wait until a quorum may vote any longer, and forgets callers that gave up.
    fn answer_unready(&mut self, machine: &Coordinator, now: Instant) {
        self.unready.retain(|waiter| !waiter.reply.is_closed());
        let can_vote = machine.masters().can_vote(now);
        for waiter in self.unready.extract_if(.., |waiter| can_vote || waiter.until <= now) {
            let late = || NotReady {
                waited: now.since(waiter.since),
                status: machine.masters().status(now),
            };
            let _ = waiter.reply.send(if can_vote { Ok(()) } else { Err(late()) });
        }
    }

    /// Answers the `connect`. The client withdraws if there is evidence of a mistake, or if no caller waits for it any
    /// more.
    fn connected(&mut self, now: Instant, machine: &mut Coordinator) {
        let Some(reply) = self.connecting.take() else { return };
        let admission = machine.masters().admission(now, self.setup.options.strict);
        let refusal = ConnectError::refusal(admission, machine.masters(), now);
        let result = refusal.map_or(Ok(()), Err);
        let connected = result.is_ok();
        if reply.send(result).is_err() || !connected {
            machine.handle_withdraw(now);
        }
    }
}

impl Waiting {
    #[cfg(all(test, feature = "embedded"))]
    fn len(&self) -> usize {
        let held = self.extenders.len() + self.releasers.len();
        let wanted = self.acquirers.len() + self.wanted.len();
        held + wanted + self.asked.len() + self.listeners.len()
    }

    /// Drops the callers that get no answer once the client is closed. All listeners look for themselves
    /// from now on: they find that the driver ends.
    fn close(&mut self) {
        self.acquirers.clear();
        self.wanted.clear();
        std::mem::take(&mut self.listeners).into_values().for_each(|ear| ear.notify_one());
    }
}

impl Handle {
    /// Closes the client, and completes when the driver has ended.
    pub(crate) async fn close(&self) {
        let (reply, ended) = oneshot::channel::<()>();
        self.run(|callers, machine, now| {
            // Dropped, not answered: by the driver when it ends.
            callers.closers.push(reply);
            callers.close(machine, now);
        });
        let _ = ended.await;
    }
}

impl Callers {
    fn close(&mut self, machine: &mut Coordinator, now: Instant) {
        self.closing = true;
        self.unready.clear();
        self.waiting.close();
        self.take_back(machine, now);
        machine.handle_shutdown(now);
        // A caller may have taken an idle lock.
        self.learn_in_use();
        self.take_back(machine, now);
    }

    /// Returns why the driver ends.
    pub(super) fn why(&self) -> Why {
        self.broken.map_or(Why::Ended, |broken| Why::Broken(broken.as_str()))
    }

    /// Releases guards on their way to callers that have not looked yet, as `Closed` promises.
    fn take_back(&mut self, machine: &mut Coordinator, now: Instant) {
        for hold in self.holds.drain() {
            if hold.claim.take() {
                hold.end(now, LossReason::Closed);
                machine.handle_release(now, None, hold.attempt, true);
            } else {
                self.holds.keep(hold);
            }
        }
    }

    /// Ends all holds. The driver ends, and nothing looks after them any more.
    pub(super) fn end_holds(&mut self, now: Instant) {
        self.waiting.close();
        self.idle_locks.clear();
        self.learn_in_use();
        let reason =
            self.broken.map_or(LossReason::Closed, |broken| LossReason::Broken(broken.as_str()));
        for hold in self.holds.drain() {
            self.telemetry.outlet.lost(hold.held(now), &reason);
            hold.end(now, reason.clone());
        }
    }
}
