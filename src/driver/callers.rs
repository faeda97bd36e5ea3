//! The callers that wait for answers, and the locks that are held.

use super::by_id::ById;
use super::clock::Clock;
use super::holds::Holds;
use super::message::{ForceReleased, Inspected, Message, Reply, Won};
use super::readiness::Waiters;
use super::{Handle, LeaseState, ReleaseOnDrop};
use crate::error::{
    AcquireError, ConnectError, Contended, Disagreed, ExtendError, LostReason, NoQuorum, Unextended,
};
use crate::released::Released;
use crate::report::Quorum;
use crate::status::Status;
use crate::telemetry::{Span, Telemetry};
use quorumlock_core::coordinator::{
    AttemptId, Coordinator, Event, Failure, FailureKind, Loss, NotExtended, Note, Release,
    RequestId, WATCHED,
};
use quorumlock_core::quorum::Instant;
use std::sync::Arc;
use std::time::Duration;

struct Acquirer {
    driver: Handle,
    resource: Arc<str>,
    span: Span,
    reply: Reply<Result<Won, Box<AcquireError>>>,
}

pub(crate) struct Callers {
    connecting: Option<Reply<Result<(), ConnectError>>>,
    /// No master may be unfit.
    strict: bool,
    /// A caller has received the connection.
    in_use: bool,
    acquirers: ById<RequestId, Acquirer>,
    extenders: ById<RequestId, Reply<Result<Instant, ExtendError>>>,
    releasers: ById<RequestId, Reply<Released>>,
    inspectors: ById<RequestId, Reply<Inspected>>,
    forcers: ById<RequestId, Reply<ForceReleased>>,
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
        let requests = requests + self.waiters.len();
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

    /// Passes a message on to the machine. Returns `true` if the message asks for the end.
    pub(super) fn take(
        &mut self,
        machine: &mut Coordinator,
        now: Instant,
        message: Message,
    ) -> bool {
        match message {
            // The caller reads the dropped reply as `Closed`.
            Message::Acquire { .. } if self.closing => {}
            Message::Acquire { request, acquire, driver, resource, span, reply } => {
                self.acquirers.insert(request, Acquirer { driver, resource, span, reply });
                machine.handle_acquire(now, request, acquire);
            }
            Message::Cancel(request) => {
                self.acquirers.remove(&request);
                machine.handle_cancel(now, request);
            }
            Message::Extend { request, attempt, reply } => {
                self.extenders.insert(request, reply);
                machine.handle_extend(now, request, attempt);
            }
            Message::Release { request, attempt, in_time, reply } => {
                let hold = self.holds.remove(attempt);
                let request = reply.map(|reply| {
                    self.releasers.insert(request, reply);
                    request
                });
                self.telemetry.given_up(now, hold.as_deref(), request, in_time);
                machine.handle_release(now, request, attempt, in_time);
            }
            Message::Leave(attempt) => {
                let hold = self.holds.remove(attempt);
                self.telemetry.left(now, hold.as_deref());
                machine.handle_leave(now, attempt);
            }
            Message::Inspect { .. } | Message::ForceRelease { .. } if self.closing => {}
            Message::Inspect { request, key, reply } => {
                self.inspectors.insert(request, reply);
                machine.handle_inspect(now, request, &key);
            }
            Message::ForceRelease { request, key, value, reply } => {
                self.forcers.insert(request, reply);
                machine.handle_force_release(now, request, &key, value);
            }
            Message::Connected => self.in_use = true,
            Message::Status(_) | Message::WaitUntilReady { .. } if self.closing => {}
            Message::Status(reply) => {
                let _ = reply.send(machine.status(now));
            }
            Message::WaitUntilReady { within, reply } => self.waiters.add(now, within, reply),
            Message::Shutdown(reply) => {
                self.closing = true;
                self.closers.push(reply);
                self.acquirers.clear();
                self.waiters.clear();
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
                hold.end(now, LostReason::Closed);
                machine.handle_release(now, None, hold.attempt, true);
            } else {
                self.holds.insert(hold);
            }
        }
    }

    /// Reports to callers what the machine has decided.
    pub(super) fn answer(&mut self, machine: &mut Coordinator, clock: Clock) {
        self.take_notes(machine);
        let mut heard_at = None;
        while let Some(event) = machine.poll_event() {
            let now = *heard_at.get_or_insert_with(|| clock.now());
            match event {
                Event::Settled => {
                    if !self.connected(&machine.status(now)) {
                        machine.handle_withdraw(now);
                    }
                }
                Event::Acquired { request, attempt, deadline, ballot } => {
                    if let Some(acquirer) = self.acquirers.remove(&request) {
                        self.acquired(acquirer, attempt, now, deadline, ballot);
                    } else {
                        machine.handle_release(now, None, attempt, true);
                    }
                }
                Event::NotAcquired { request, failure, waited } => {
                    if let Some(acquirer) = self.acquirers.remove(&request) {
                        let error =
                            not_acquired(acquirer.resource, failure, waited, machine.quorum());
                        let _ = acquirer.reply.send(Err(error.into()));
                    }
                }
                Event::NoRandomness { request } => {
                    if let Some(acquirer) = self.acquirers.remove(&request) {
                        let error = AcquireError::no_randomness();
                        let _ = acquirer.reply.send(Err(error.into()));
                    }
                }
                Event::Extended { request, attempt, result } => {
                    self.extended(machine, request, attempt, clock, result);
                }
                Event::Released { request, release } => {
                    self.telemetry.released(request, (&release).into());
                    if let Some(reply) = self.releasers.remove(&request) {
                        let _ = reply.send(released(release));
                    }
                }
                Event::Inspected { request, nodes, membership } => {
                    if let Some(reply) = self.inspectors.remove(&request) {
                        let _ = reply.send((nodes, membership));
                    }
                }
                Event::ForceReleased { request, result } => {
                    if let Some(reply) = self.forcers.remove(&request) {
                        let _ = reply.send(result);
                    }
                }
                Event::Lost { attempt, loss } => {
                    // A hold that is over need not be watched; its guard knows the rest by itself.
                    if let Some(hold) = self.holds.remove(attempt) {
                        // Not before whatever has ended it, which may be the holder's own look.
                        let (now, reason) = (clock.now(), reason(loss));
                        self.telemetry.lost(now, &hold, &reason);
                        hold.end(now, reason);
                    }
                }
            }
        }
    }

    /// Reports the machine's notes. This precedes the events, whose handling forgets the callers
    /// and holds that the notes are about.
    fn take_notes(&self, machine: &mut Coordinator) {
        while WATCHED && let Some(note) = machine.poll_note() {
            let (span, hold) = match &note {
                Note::Attempt { request, .. } => (self.acquirers.get(request), None),
                Note::Extension { attempt, .. } | Note::ToppedUp { attempt, .. } => {
                    (None, self.holds.get(*attempt).map(Arc::as_ref))
                }
            };
            let span = span.map(|one| (&one.span, &*one.resource));
            self.telemetry.note(&note, span, hold);
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
    fn connected(&mut self, status: &Status) -> bool {
        let Some(reply) = self.connecting.take() else { return true };
        let result = ConnectError::from_status(status, self.strict).map_or(Ok(()), Err);
        let connected = result.is_ok();
        reply.send(result).is_ok() && connected
    }

    /// Sends the lock itself to its caller: if the caller does not pick it up, it is released.
    fn acquired(
        &mut self,
        acquirer: Acquirer,
        attempt: AttemptId,
        now: Instant,
        deadline: Instant,
        ballot: u64,
    ) {
        let Acquirer { driver, resource, reply, .. } = acquirer;
        let hold = Arc::new(LeaseState::new(attempt, resource, now, deadline));
        self.holds.insert(hold.clone());
        let _ = reply.send(Ok((ReleaseOnDrop::new(driver, hold), ballot)));
    }

    fn extended(
        &mut self,
        machine: &mut Coordinator,
        request: Option<RequestId>,
        attempt: AttemptId,
        clock: Clock,
        result: Result<Instant, NotExtended>,
    ) {
        let reply = request.and_then(|request| self.extenders.remove(&request));
        // The hold is over: its guard concludes that from the dropped reply.
        let Some(hold) = self.holds.get(attempt) else { return };
        let result = match result {
            Ok(deadline) if hold.extend(deadline) => Ok(deadline),
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

    /// Ends all holds. The driver ends, and nothing looks after them any more.
    pub(super) fn end_holds(&mut self, now: Instant) {
        for hold in self.holds.drain() {
            self.telemetry.lost(now, &hold, &LostReason::Closed);
            hold.end(now, LostReason::Closed);
        }
    }
}

fn not_acquired(
    resource: Arc<str>,
    failure: Failure,
    waited: Duration,
    quorum: Quorum,
) -> AcquireError {
    let Failure { kind, reports: nodes, attempts } = failure;
    match kind {
        FailureKind::Contended => {
            AcquireError::Contended(Contended { resource, waited, attempts, nodes, quorum })
        }
        FailureKind::NoQuorum => {
            let quorum = Some(quorum);
            AcquireError::NoQuorum(NoQuorum { resource, waited, attempts, nodes, quorum })
        }
        FailureKind::Disagreement(cause) => {
            AcquireError::Disagreement(Disagreed { resource, waited, attempts, cause, nodes })
        }
    }
}

fn released(release: Release) -> Released {
    match release {
        Release::Released => Released::Released,
        Release::Lost(loss) => Released::Lost(reason(loss)),
        Release::Unconfirmed(nodes) => Released::Unconfirmed(nodes),
    }
}

fn reason(loss: Loss) -> LostReason {
    match loss {
        Loss::Lapsed => LostReason::Lapsed,
        Loss::QuorumGone(nodes) => LostReason::QuorumGone(nodes.to_vec()),
        Loss::Released => LostReason::Released,
    }
}
