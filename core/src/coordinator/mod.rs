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

mod dispatch;
mod requests;
#[cfg(any(test, feature = "testing"))]
mod testing;

#[cfg(test)]
mod tests;

pub use crate::lock::{Adopted, DetachedFences, DetachedLock, NotAdopted};
pub use crate::master::{
    Agreement, CLUSTER, Epoch, Fault, FaultKind, Masters, Persistence, RestartGuard, Role,
    SENTINEL, ServerFacts, SharedSettings, TOO_MANY_CLIENTS, restart_guard,
};
#[cfg(any(test, feature = "testing"))]
pub use crate::master::{Judged, Rule};
pub use crate::questions::{Beside, Mark, Question, Seen, StoredValue};
pub use crate::shared::{
    AcquireRequest, Action, AtLeast, AttemptId, Event, Extended, Failure, FailureKind, IdleEnd,
    Invariant, Keys, Label, NotExtended, Observation, Owner, Random, ReadWrite, Release, RequestId,
    Rest, RoundId, Settings, Slots, WATCHED, Waitlist, Watching, label, round_timeout,
};
pub use crate::wire::{self, SHARED};

use crate::lock::{Around, Locks};
use crate::quorum::Instant;
use crate::shared::{Cx, Events, Timer, Timers};
use crate::shelf::Shelves;
use crate::waiting::Waiters;
use crate::wire::Login;
use std::sync::Arc;

/// The state machine: the wiring between the three owners of its state.
pub struct Coordinator {
    at: Around,
    locks: Locks,
}

impl Coordinator {
    /// Creates a machine for these masters. It asks the driver to dial at once.
    pub fn new(
        now: Instant,
        settings: Settings,
        nodes: impl IntoIterator<Item = (Arc<str>, Login)>,
        random: Box<dyn Random>,
    ) -> Self {
        let masters = Masters::new(now, settings, nodes, random);
        let (events, timers) = (Events::default(), Timers::default());
        let cx = Cx { now, masters, events, timers, shelf: None };
        let at = Around { cx, waiters: Waiters::default() };
        let mut machine = Self { at, locks: Locks::default() };
        machine.wake_sessions();
        machine
    }

    /// Puts holds that no guard has where callers take them by themselves.
    pub fn use_shelf(&mut self, shelf: Arc<dyn Shelves>) {
        self.at.cx.shelf = Some(shelf);
    }

    /// Returns the masters, as this client sees them.
    #[inline]
    pub const fn masters(&self) -> &Masters {
        &self.at.cx.masters
    }

    // Requests.

    /// Begins a turn: what was drawn at random in an earlier turn is not used in this one.
    #[inline]
    pub fn begin_turn(&mut self) {
        self.at.cx.masters.random.forget();
    }

    /// Sets how much is observed from now on.
    pub const fn watch(&mut self, watching: Watching) {
        self.at.cx.events.watching = watching;
    }

    /// Takes the notes back if this client withdraws and holds nothing any more.
    #[inline]
    fn withdraw(&mut self) {
        if self.locks.attempts.len() == 0 {
            self.at.cx.masters.take_notes_back(self.at.cx.now);
        }
    }

    // The network.

    pub fn handle_connected(&mut self, now: Instant, node: usize, epoch: Epoch) {
        if let Some(session) = self.at.cx.masters.current(node, epoch) {
            session.connected(now);
        }
    }

    /// Handles what the provider of credentials has returned for `node`, or why there are none: before
    /// `handle_connected`, or for a connection that lives, which then stays as it is.
    pub fn handle_credentials(
        &mut self,
        now: Instant,
        node: usize,
        epoch: Epoch,
        given: Result<wire::Credentials, Arc<str>>,
    ) {
        if let Some(session) = self.at.cx.masters.current(node, epoch) {
            session.learn_credentials(now, given);
        }
    }

    /// Handles the end of a connection, or that there is none.
    pub fn handle_closed(&mut self, now: Instant, node: usize, epoch: Epoch, cause: &str) {
        self.at.cx.now = now;
        if self.at.cx.masters.current(node, epoch).is_some() {
            self.break_session(node, Fault::down(cause));
            self.serve();
        }
    }

    /// Handles a dial that met a master which answers, and cannot be used as configured.
    pub fn handle_rejected(&mut self, now: Instant, node: usize, epoch: Epoch, cause: &str) {
        self.at.cx.now = now;
        if self.at.cx.masters.current(node, epoch).is_some() {
            self.break_session(node, Fault::rejected(cause));
            self.serve();
        }
    }

    /// Handles bytes that `node` has sent.
    pub fn handle_bytes(&mut self, now: Instant, node: usize, epoch: Epoch, bytes: &[u8]) {
        self.at.cx.now = now;
        let Some(session) = self.at.cx.masters.current(node, epoch) else { return };
        session.pipe.receive(bytes);
        while let Some(next) = self.at.cx.masters.sessions[node].next_reply(now) {
            match next {
                Ok((Some(pending), reply)) => self.handle_reply(node, pending, reply),
                Ok((None, message)) => self.handle_message(node, &message),
                Err(fault) => self.break_session(node, fault),
            }
            self.go_on();
        }
        self.serve();
        self.withdraw();
    }

    /// Notes that the stream has taken `len` bytes of [`Coordinator::transmit`]: they may have
    /// left.
    pub fn handle_written(&mut self, now: Instant, node: usize, epoch: Epoch, len: usize) {
        if let Some(session) = self.at.cx.masters.current(node, epoch) {
            session.pipe.written(now, len);
        }
    }

    // Time.

    /// Notes that the wall clock shows `wall_us`, in microseconds since 1970: fenced acquires
    /// propose it. Nothing that decides safety reads it.
    #[inline]
    pub const fn handle_wall_clock(&mut self, now: Instant, wall_us: u64) {
        self.at.cx.masters.wall = (now, wall_us);
    }

    /// Handles everything that is due by `now`, once all that has arrived is read.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.at.cx.now = now;
        while let Some(timer) = self.at.cx.timers.pop(now) {
            let Self { at, locks } = self;
            match timer {
                Timer::Round(round) => self.time_out(round),
                Timer::Attempt(request) => at.waiters.retry(&mut at.cx, request),
                Timer::Deadline(attempt) => locks.end_if_due(at, attempt),
                Timer::Keep(attempt) => locks.keep(&mut at.cx, attempt),
                Timer::Hint(request) => at.waiters.hint_is_due(&mut at.cx, request),
            }
            self.go_on();
        }
        self.wake_sessions();
        self.serve();
    }

    // Output.
    #[inline]
    pub fn poll_action(&mut self) -> Option<Action> {
        self.at.cx.masters.actions.pop_front()
    }

    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.at.cx.events.pop()
    }

    /// Returns the bytes to send to `node`, and the connection to send them over.
    #[inline]
    pub fn transmit(&self, node: usize) -> (Epoch, &[u8]) {
        let session = &self.at.cx.masters.sessions[node];
        (session.epoch, session.pipe.transmit())
    }

    /// Returns when [`Coordinator::handle_timeout`] is next due.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let at = self.at.cx.masters.wake_at().min(self.at.cx.timers.next_at());
        (at < Instant::NEVER).then_some(at)
    }

    /// Returns when anything is next due, by time or by the barrier.
    #[inline]
    pub fn due_at(&self) -> Option<Instant> {
        self.poll_timeout().into_iter().chain(self.at.cx.masters.opens_at()).min()
    }

    /// Returns the number of decisions to poll.
    pub fn decided(&self) -> usize {
        self.at.cx.events.decided()
    }

    /// Returns the number of holds that no guard has, and that are kept warm.
    #[inline]
    pub fn idle_holds(&self) -> usize {
        self.at.waiters.local_queue.idle.len()
    }

    /// Returns the number of acquires that wait until this client has fewer rounds open.
    #[inline]
    pub fn acquires_in_line(&self) -> usize {
        self.at.waiters.backlog.len()
    }

    /// Returns how many rounds ask for votes now.
    #[inline]
    pub const fn open_votes(&self) -> usize {
        self.at.cx.masters.window.open
    }

    /// Returns the number of open rounds: a measure of how busy the machine is.
    #[inline]
    pub fn open_rounds(&self) -> usize {
        self.locks.rounds.len()
    }
}
