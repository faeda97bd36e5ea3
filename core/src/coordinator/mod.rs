//! The coordinator, which acts on the decisions: one state machine. Requests, received bytes and
//! time go in; bytes to send, verdicts and the next wake-up come out.
//!
//! It has no socket, task, clock or randomness of its own (`core/clippy.toml`), so that tests and a
//! simulator can drive the machine that ships. It is the one owner of everything that races in
//! other lock libraries. Rounds, stragglers, owed rollbacks, leases and waiters are entries of its
//! tables, and a race is merely an order of events.
//!
//! The driver calls `handle_*` for what happens, with `now` never going back. Then it polls until
//! nothing is left: [`Coordinator::poll_action`], [`Coordinator::transmit`] of every node,
//! [`Coordinator::poll_event`]. Then it sleeps until [`Coordinator::poll_timeout`].

mod acquire;
mod acquisition;
mod acquisitions;
mod adopt;
mod agreement;
mod at_least;
mod attempt;
mod barrier;
mod contention;
mod departure;
mod detach;
mod dispatch;
mod event;
mod extend;
mod fault;
mod fencing;
mod first_node;
mod give_up;
mod id;
mod inspect;
mod keeper;
mod keys;
pub mod label;
mod ledger;
mod listeners;
mod local_queue;
mod look;
mod observe;
mod purpose;
mod random;
mod release;
mod remaining;
mod request;
pub mod restart_guard;
mod round;
mod rw_lock;
mod semaphore;
mod session;
mod settings;
mod slab;
mod status;
mod table;
#[cfg(any(test, feature = "testing"))]
mod taken_back;
#[cfg(any(test, feature = "testing"))]
mod testing;
mod timers;
mod top_up;
mod turns;
mod wake_ups;
pub mod wire;

#[cfg(test)]
mod tests;

use crate::coordinator::wire::Login;
use crate::quorum::{Ballots, Instant};
use crate::report::{LossReason, Quorum};
use acquisitions::Acquisitions;
use attempt::Attempt;
use barrier::Barrier;
use departure::Departure;
use listeners::Listeners;
use local_queue::LocalQueue;
use observe::Events;
use purpose::{Asker, Purpose};
use round::Round;
use rw_lock::{Hints, Readers};
use semaphore::Semaphores;
use session::Session;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use table::Table;
use timers::{Timer, Timers};
use wake_ups::WakeUps;

pub use adopt::{Adopted, NotAdopted};
pub use agreement::{Agreement, Difference, Introduction, SharedSettings};
pub use at_least::AtLeast;
pub use detach::DetachedLock;
pub use event::{Action, Event, Extended, Failure, FailureKind, NotExtended, Release};
pub use fault::{CLUSTER, Fault, FaultKind, SENTINEL, TOO_MANY_CLIENTS};
pub use id::{AttemptId, RequestId, RoundId};
pub use inspect::{Beside, Mark, SHARED, Seen, StoredValue, readers_in};
pub use keys::{Keys, Queue, ReadWrite};
pub use label::{Label, Owner};
pub use observe::{Observation, WATCHED, Watching};
pub use random::Random;
pub use request::{AcquireRequest, KeepAlive};
pub use restart_guard::RestartGuard;
pub use semaphore::Slots;
pub use session::{Epoch, Persistence, Role, ServerFacts};
pub use settings::{Settings, round_timeout};
#[cfg(any(test, feature = "testing"))]
pub use taken_back::Rule;

/// The state machine.
pub struct Coordinator {
    settings: Settings,
    sessions: Vec<Session>,
    acquisitions: Acquisitions,
    attempts: Table<Attempt>,
    rounds: Table<Round>,
    /// The rooms of closed rounds' answers, for later rounds.
    rooms: Vec<round::Answers>,
    timers: Timers,
    local_queue: LocalQueue,
    barrier: Barrier,
    /// How long a master that has started does not vote: for longer than the settings say while
    /// other clients have other numbers.
    quarantine: Duration,
    wake_ups: WakeUps,
    listeners: Listeners,
    semaphores: Semaphores,
    readers: Readers,
    hints: Hints,
    actions: VecDeque<Action>,
    events: Events,
    random: Box<dyn Random>,
    packer: wire::Packer,
    ballots: Ballots,
    /// Locks of other processes that are being adopted.
    adopting: BTreeMap<RequestId, AttemptId>,
    /// The wall clock when it was last read, in microseconds since 1970.
    wall: (Instant, u64),
    /// Every node has been reached or has failed once.
    connected: bool,
    departure: Departure,
}

impl Coordinator {
    /// Creates a machine for these masters. It asks the driver to dial at once.
    pub fn new(
        now: Instant,
        settings: Settings,
        nodes: impl IntoIterator<Item = (Arc<str>, Login)>,
        mut random: Box<dyn Random>,
    ) -> Self {
        let quarantine = settings.quarantine;
        let client: Arc<str> =
            random.bits().map(|bits| bits.to_string()).unwrap_or_default().into();
        let session = |(name, login)| Session::new(name, login, client.clone(), now, quarantine);
        let sessions = nodes.into_iter().map(session);
        let mut machine = Self {
            ballots: Ballots::new(settings.window),
            packer: wire::Packer::new(settings.label.clone()),
            settings,
            sessions: sessions.collect(),
            acquisitions: Acquisitions::new(),
            attempts: Table::new(),
            rounds: Table::new(),
            rooms: Vec::new(),
            timers: Timers::default(),
            local_queue: LocalQueue::default(),
            barrier: Barrier::default(),
            quarantine,
            wake_ups: WakeUps::default(),
            listeners: Listeners::default(),
            semaphores: Semaphores::default(),
            readers: Readers::default(),
            hints: Hints::default(),
            actions: VecDeque::new(),
            events: Events::default(),
            random,
            adopting: BTreeMap::new(),
            wall: (now, 0),
            connected: false,
            departure: Departure::default(),
        };
        machine.wake_sessions(now);
        machine
    }

    // Requests.

    /// Begins a turn: what was drawn at random in an earlier turn is not used in this one.
    #[inline]
    pub fn begin_turn(&mut self) {
        self.random.forget();
    }

    pub fn handle_acquire(&mut self, now: Instant, request: RequestId, acquire: AcquireRequest) {
        self.begin_acquire(now, request, acquire);
        self.serve_waiting(now);
    }

    /// Cancels the request of a caller that no longer waits. Harmless if it has its answer.
    pub fn handle_cancel(&mut self, now: Instant, request: RequestId) {
        self.cancel_acquire(now, request);
        self.cancel_adopt(now, request);
        self.serve_waiting(now);
    }

    pub fn handle_extend(&mut self, now: Instant, request: RequestId, attempt: AttemptId) {
        self.begin_extend(now, attempt, Purpose::Renew(Asker::Caller(request)));
        self.serve_waiting(now);
    }

    /// Releases a hold. `request` is answered when a quorum has deleted the key; a guard that was
    /// dropped has none. A hold that was given up `in_time`, before its deadline, has not lapsed,
    /// however late the machine learns of it.
    pub fn handle_release(
        &mut self,
        now: Instant,
        request: Option<RequestId>,
        attempt: AttemptId,
        in_time: bool,
    ) {
        self.begin_release(now, request, attempt, in_time);
        self.serve_waiting(now);
        self.withdraw(now);
    }

    /// Leaves the key until it expires.
    pub fn handle_forget(&mut self, now: Instant, attempt: AttemptId) {
        self.forget(now, attempt);
        self.serve_waiting(now);
        self.withdraw(now);
    }

    /// Handles a guard that saw its deadline pass before an extension could move it: the hold is
    /// lost.
    pub fn handle_lapsed(&mut self, now: Instant, attempt: AttemptId) {
        self.lose_hold(attempt, LossReason::Lapsed);
        self.serve_waiting(now);
    }

    /// Stops all attempts: those under way are rolled back, and what is owed is still paid. Once
    /// nothing is held, the notes at the masters are [taken back](Self::handle_withdraw).
    pub fn handle_shutdown(&mut self, now: Instant) {
        let waiting = [self.seeking(), self.acquisitions.requests().collect()].concat();
        waiting.into_iter().for_each(|request| self.cancel_acquire(now, request));
        self.leave_adoptions(now);
        self.serve_seekers(now);
        self.sessions.iter_mut().for_each(|session| session.collect(now));
        self.handle_withdraw(now);
    }

    // The network.

    pub fn handle_connected(&mut self, now: Instant, node: usize, epoch: Epoch) {
        if self.is_current(node, epoch) {
            self.sessions[node].connected(now, &self.settings);
        }
    }

    pub fn handle_dial_failed(&mut self, now: Instant, node: usize, epoch: Epoch, cause: &str) {
        if self.is_current(node, epoch) {
            self.break_session(now, node, Fault::down(cause));
            self.serve_waiting(now);
        }
    }

    pub fn handle_closed(&mut self, now: Instant, node: usize, epoch: Epoch, cause: &str) {
        self.handle_dial_failed(now, node, epoch, cause);
    }

    /// Handles bytes that `node` has sent.
    pub fn handle_bytes(&mut self, now: Instant, node: usize, epoch: Epoch, bytes: &[u8]) {
        if !self.is_current(node, epoch) {
            return;
        }
        self.sessions[node].receive(bytes);
        while let Some(incoming) = self.sessions[node].next_incoming(now, &self.settings) {
            self.handle_incoming(now, node, incoming);
        }
        self.serve_waiting(now);
        self.withdraw(now);
    }

    /// Notes that the stream has taken `len` bytes of [`Coordinator::transmit`]: they may have
    /// left.
    pub fn handle_written(&mut self, now: Instant, node: usize, epoch: Epoch, len: usize) {
        if self.is_current(node, epoch) {
            self.sessions[node].written(now, len);
        }
    }

    // Time.

    /// Notes that the wall clock shows `wall_us`, in microseconds since 1970: fenced acquires
    /// propose it. Nothing that decides safety reads it.
    #[inline]
    pub const fn handle_wall_clock(&mut self, now: Instant, wall_us: u64) {
        self.wall = (now, wall_us);
    }

    /// Handles everything that is due by `now`, once all that has arrived is read.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(timer) = self.timers.pop(now) {
            match timer {
                Timer::Round(round) => self.time_out(now, round),
                Timer::Attempt(request) => self.retry_acquire(now, request),
                Timer::Deadline(attempt) => self.lapse_if_due(now, attempt),
                Timer::Keep(attempt) => self.keep(now, attempt),
                Timer::Hint(request) => self.renew_hint(now, request),
            }
        }
        self.wake_sessions(now);
        self.serve_waiting(now);
    }

    // Output.
    #[inline]
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Returns the bytes to send to `node`, and the connection to send them over.
    #[inline]
    pub fn transmit(&self, node: usize) -> (Epoch, &[u8]) {
        let session = &self.sessions[node];
        (session.epoch(), session.transmit())
    }

    /// Returns when [`Coordinator::handle_timeout`] is next due.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let sessions = self.sessions.iter().filter_map(|one| one.wake_at(&self.settings)).min();
        sessions.into_iter().chain(self.timers.next_at()).min()
    }

    /// Returns when anything is next due, by time or by the barrier.
    #[inline]
    pub fn due_at(&self) -> Option<Instant> {
        self.poll_timeout().into_iter().chain(self.opens_at()).min()
    }

    /// Returns the number of decisions to poll.
    pub fn decided(&self) -> usize {
        self.events.decided()
    }

    /// Returns the number of open rounds: a measure of how busy the machine is.
    #[inline]
    pub fn open_rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Returns the number of releases and rollbacks without an integer, counted once per node.
    pub fn debts(&self) -> usize {
        self.sessions.iter().map(Session::debts).sum()
    }

    /// Returns whether nothing is owed any more.
    pub fn is_drained(&self) -> bool {
        self.debts() == 0 && !self.sessions.iter().any(Session::may_yet_withdraw)
    }

    /// Returns how many masters are enough, for errors.
    pub const fn quorum(&self) -> Quorum {
        Quorum::new(self.settings.membership)
    }

    // Internals.

    #[inline]
    fn is_current(&self, node: usize, epoch: Epoch) -> bool {
        self.sessions.get(node).is_some_and(|session| session.is_current(epoch))
    }
}
