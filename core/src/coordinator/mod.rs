//! What is done about it: one state machine. Requests, received bytes and time go in; bytes to
//! send, verdicts and the next wake-up come out.
//!
//! It has no socket, task, clock or randomness of its own (`core/clippy.toml`), so that the machine
//! that ships can be driven by tests and by a simulator. There is one owner of everything that
//! races in other lock libraries: rounds, stragglers, owed rollbacks, leases and waiters are
//! entries of its tables, and a race is merely an order of events.
//!
//! The driver's duties: call `handle_*` for what happens, with `now` never going back, then poll
//! until nothing is left: [`Coordinator::poll_action`], [`Coordinator::transmit`] of every node,
//! [`Coordinator::poll_event`]; then sleep until [`Coordinator::poll_timeout`].

mod acquire;
mod acquisition;
mod acquisitions;
mod agreement;
mod attempt;
mod barrier;
mod contention;
mod dispatch;
mod event;
mod extend;
mod fault;
mod fencing;
mod first_node;
mod id;
mod inspect;
mod keeper;
mod keys;
mod ledger;
mod local_queue;
mod note;
mod random;
mod release;
mod remaining;
mod request;
pub mod restart_guard;
mod round;
mod session;
mod settings;
mod slab;
mod table;
#[cfg(any(test, feature = "testing"))]
mod taken_back;
mod timers;
mod wake_ups;
pub mod wire;

#[cfg(test)]
mod tests;

use crate::coordinator::wire::Login;
use crate::quorum::{Ballots, Instant};
use crate::report::Quorum;
use acquisitions::Acquisitions;
use attempt::Attempt;
use barrier::Barrier;
use local_queue::LocalQueue;
use note::Notes;
use round::{Asker, Round};
use session::Session;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use table::Table;
use timers::{Timer, Timers};
use wake_ups::WakeUps;

pub use agreement::Difference;
pub use agreement::{Agreement, Terms};
pub use event::{Action, Event, Failure, FailureKind, Loss, NotExtended, Release};
pub use fault::{CLUSTER, Fault, FaultKind, SENTINEL, TOO_MANY_CLIENTS};
pub use id::{AttemptId, RequestId, RoundId};
pub use inspect::{Mark, Seen, Standing};
pub use keys::Keys;
pub use note::{Decided, Margin, Note, Prolonged, WATCHED, Watching};
pub use random::Random;
pub use request::{Acquire, KeepAlive};
pub use restart_guard::RestartGuard;
pub use session::Epoch;
pub use settings::{Settings, round_timeout};
#[cfg(any(test, feature = "testing"))]
pub use taken_back::Rule;

/// Rooms of closed rounds that are kept, at most.
const MOST_ROOMS: usize = 256;

/// The state machine.
pub struct Coordinator {
    settings: Settings,
    sessions: Vec<Session>,
    acquisitions: Acquisitions,
    attempts: Table<Attempt>,
    rounds: Table<Round>,
    /// Where closed rounds have noted what was said, for those to come.
    rooms: Vec<round::Answers>,
    timers: Timers,
    local_queue: LocalQueue,
    barrier: Barrier,
    /// For how long a master that has started does not vote: for longer than the settings say while
    /// others go by other numbers.
    quarantine: Duration,
    wake_ups: WakeUps,
    actions: VecDeque<Action>,
    events: VecDeque<Event>,
    notes: Notes,
    random: Box<dyn Random>,
    packer: wire::Packer,
    ballots: Ballots,
    /// What the wall clock showed when it was last read: microseconds since 1970.
    wall: (Instant, u64),
    settled: bool,
}

impl Coordinator {
    /// A machine for these masters; it wants to dial at once.
    pub fn new(
        now: Instant,
        settings: Settings,
        nodes: impl IntoIterator<Item = (Arc<str>, Login)>,
        random: Box<dyn Random>,
    ) -> Self {
        let quarantine = settings.quarantine;
        let session = |(name, login)| Session::new(name, login, now, quarantine);
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
            actions: VecDeque::new(),
            events: VecDeque::new(),
            notes: Notes::default(),
            random,
            wall: (now, 0),
            settled: false,
        };
        machine.wake_sessions(now);
        machine
    }

    // Requests.

    /// What was drawn at random in an earlier turn is not used in this one.
    #[inline]
    pub fn begin_turn(&mut self) {
        self.random.forget();
    }

    pub fn handle_acquire(&mut self, now: Instant, request: RequestId, acquire: Acquire) {
        self.begin_acquire(now, request, acquire);
        self.serve_waiting(now);
    }

    /// The caller no longer waits. Harmless if it has its answer.
    pub fn handle_cancel(&mut self, now: Instant, request: RequestId) {
        self.cancel_acquire(now, request);
        self.serve_waiting(now);
    }

    pub fn handle_extend(&mut self, now: Instant, request: RequestId, attempt: AttemptId) {
        self.begin_extend(now, Asker::Caller(request), attempt);
        self.serve_waiting(now);
    }

    /// `request` is answered when a quorum has deleted; a guard that was dropped has none. One that
    /// was given up `in_time`, before its deadline, has not lapsed, however late that is heard.
    pub fn handle_release(
        &mut self,
        now: Instant,
        request: Option<RequestId>,
        attempt: AttemptId,
        in_time: bool,
    ) {
        self.begin_release(now, request, attempt, in_time);
        self.serve_waiting(now);
    }

    /// The key stays until it expires.
    pub fn handle_leave(&mut self, now: Instant, attempt: AttemptId) {
        self.leave(attempt);
        self.serve_waiting(now);
    }

    /// The guard saw its deadline pass before an extension could move it: lost.
    pub fn handle_lapsed(&mut self, now: Instant, attempt: AttemptId) {
        self.lose_hold(attempt, Loss::Lapsed);
        self.serve_waiting(now);
    }

    /// Nothing will ever be asked of this machine: there is evidence of a mistake in how it was set
    /// up, or nobody waits for it any more. What it has noted at the masters is taken back, and what
    /// it notes yet.
    pub fn handle_withdraw(&mut self, now: Instant) {
        let Self { sessions, settings, packer, .. } = self;
        sessions.iter_mut().for_each(|session| session.withdraw(now, settings, packer));
    }

    /// No more attempts: what is under way is rolled back, what is owed is still paid.
    pub fn handle_shutdown(&mut self, now: Instant) {
        let waiting: Vec<RequestId> = self.acquisitions.requests().collect();
        waiting.into_iter().for_each(|request| self.cancel_acquire(now, request));
        self.sessions.iter_mut().for_each(|session| session.collect(now));
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

    /// Bytes that `node` has sent.
    pub fn handle_bytes(&mut self, now: Instant, node: usize, epoch: Epoch, bytes: &[u8]) {
        if !self.is_current(node, epoch) {
            return;
        }
        self.sessions[node].receive(bytes);
        while let Some(settled) = self.sessions[node].next_settled(now, &self.settings) {
            self.handle_settled(now, node, settled);
        }
        self.serve_waiting(now);
    }

    /// The stream has taken `len` bytes of [`Coordinator::transmit`]: they may have left.
    pub fn handle_written(&mut self, now: Instant, node: usize, epoch: Epoch, len: usize) {
        if self.is_current(node, epoch) {
            self.sessions[node].written(now, len);
        }
    }

    // Time.

    /// The wall clock shows `wall_us`, in microseconds since 1970: what fenced acquires propose.
    /// Nothing that decides safety reads it.
    #[inline]
    pub const fn handle_wall_clock(&mut self, now: Instant, wall_us: u64) {
        self.wall = (now, wall_us);
    }

    /// It is `now`, and all that has arrived is read: what was due by then happens.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(timer) = self.timers.pop(now) {
            match timer {
                Timer::Round(round) => self.time_out(now, round),
                Timer::Attempt(request) => self.retry_acquire(now, request),
                Timer::Deadline(attempt) => self.lapse_if_due(now, attempt),
                Timer::Keep(attempt) => self.keep(now, attempt),
            }
        }
        self.wake_sessions(now);
        self.serve_waiting(now);
    }

    // What follows.

    #[inline]
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The bytes to send to `node`, and over which connection.
    #[inline]
    pub fn transmit(&self, node: usize) -> (Epoch, &[u8]) {
        let session = &self.sessions[node];
        (session.epoch(), session.transmit())
    }

    /// When [`Coordinator::handle_timeout`] is next due.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let sessions = self.sessions.iter().filter_map(|one| one.wake_at(&self.settings)).min();
        sessions.into_iter().chain(self.timers.next_at()).min()
    }

    /// When anything is next due, of time or of the barrier.
    #[inline]
    pub fn due_at(&self) -> Option<Instant> {
        self.poll_timeout().into_iter().chain(self.opens_at()).min()
    }

    /// Events that are to be polled: as many callers will go on, or nearly.
    pub fn decided(&self) -> usize {
        self.events.len()
    }

    /// Rounds that are open: a measure of how busy it is.
    #[inline]
    pub fn open_rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Rollbacks and releases without an integer for an answer, counted once a node.
    pub fn debts(&self) -> usize {
        self.sessions.iter().map(Session::debts).sum()
    }

    /// Whether nothing is owed any more.
    pub fn is_drained(&self) -> bool {
        self.debts() == 0 && !self.sessions.iter().any(Session::may_yet_note)
    }

    /// What is remembered of requests, apart from debts.
    #[cfg(any(test, feature = "testing"))]
    pub fn entries(&self) -> usize {
        let requests = self.acquisitions.len() + self.attempts.len() + self.rounds.len();
        let requests = requests + self.barrier.len();
        requests + self.local_queue.len() + usize::from(self.timers.next_at().is_some())
    }

    /// What stands in Redis for an attempt, while it is remembered.
    #[cfg(any(test, feature = "testing"))]
    pub fn token(&self, attempt: AttemptId) -> Option<String> {
        let token = self.attempts.get(attempt)?.claim.token;
        Some(match &self.settings.label {
            Some(label) => format!("{token}:{label}"),
            None => token.to_string(),
        })
    }

    /// For errors: how many are enough.
    pub const fn quorum(&self) -> Quorum {
        Quorum::new(self.settings.membership)
    }

    // Within.

    fn new_round(&mut self, purpose: round::Purpose, now: Instant, timeout: Duration) -> Round {
        let room = self.rooms.pop().unwrap_or_default();
        Round::new(purpose, now, timeout, self.sessions.len(), room)
    }

    fn close_round(&mut self, id: RoundId) {
        if let Some(round) = self.take_round(id)
            && self.rooms.len() < MOST_ROOMS
        {
            self.rooms.push(round.into_room());
        }
    }

    /// Closes it, for whoever tells what was said.
    fn take_round(&mut self, id: RoundId) -> Option<Round> {
        let round = self.rounds.remove(id)?;
        self.timers.cancel(round.timeout_at, Timer::Round(id));
        Some(round)
    }

    #[inline]
    fn is_current(&self, node: usize, epoch: Epoch) -> bool {
        self.sessions.get(node).is_some_and(|session| session.is_current(epoch))
    }
}
