//! The machine on a stage: masters that answer what a test makes them answer, a clock that a test
//! moves.
//!
//! The stage does what the driver does and nothing more. Everything that the machine sends is kept
//! as words until the test has named it, so that nothing happens unseen.

use super::super::Coordinator;
use super::sums::Sums;
use super::words::{Tokens, command, event, push};
use crate::lock::DetachedLock;
use crate::master::{Agreement, Epoch, RestartGuard, SharedSettings};
use crate::pace::Backoff;
use crate::quorum::{ClockDrift, FencingWindow, Instant, Membership, agreement, standing};
use crate::shared::{AcquireRequest, Action, AttemptId, Event, Random, RequestId, Rest, Settings};
use crate::wire::{Credentials, Login, Renewal, Replies};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The middle of every jittered span: a heartbeat comes after ten seconds to the nanosecond.
pub(super) const MIDDLE: u64 = 1 << 63;

/// Tokens that are counted up, and jitter as the test sets it.
struct Dice {
    jitter: Arc<AtomicU64>,
    tokens: u128,
}

impl Random for Dice {
    fn bits(&mut self) -> Option<u128> {
        self.tokens = self.tokens.wrapping_add(1);
        (self.jitter.load(Ordering::Relaxed) != NO_RANDOMNESS).then_some(self.tokens)
    }

    fn jitter(&mut self) -> u64 {
        self.jitter.load(Ordering::Relaxed)
    }
}

/// The mailbox of this process: the digits of what it draws first are zeros.
pub(super) const MAILBOX: &str = "@0000000000000000";

/// A jitter that simulates an operating system without random bytes.
pub(super) const NO_RANDOMNESS: u64 = 0xdead;

/// One master's end of the wire.
pub(super) struct Wire {
    pub(super) epoch: Epoch,
    pub(super) connected: bool,
    /// Bytes that the socket still takes; `None` for any number.
    pub(super) room: Option<usize>,
    /// The machine's actions at this master that the test has not named yet.
    pub(super) unseen: VecDeque<String>,
    /// Everything that was sent, over any connection.
    pub(super) sent: Vec<u8>,
    /// The server process, and the id of its latest connection.
    pub(super) run_id: String,
    pub(super) client_id: i64,
    commands: Replies,
}

pub(super) struct Stage {
    pub(super) machine: Coordinator,
    pub(super) now: Instant,
    pub(super) wires: Vec<Wire>,
    pub(super) jitter: Arc<AtomicU64>,
    /// Events that the test has not named yet.
    pub(super) unseen: VecDeque<String>,
    /// All events, for tests that do not read words.
    pub(super) events: Vec<Event>,
    /// Holds, by the number of the acquire that won them.
    pub(super) holds: BTreeMap<u64, AttemptId>,
    /// Acquires that were asked for.
    pub(super) asked: Vec<u64>,
    pub(super) tokens: Tokens,
    sums: Sums,
}

pub(super) const DRIFT: ClockDrift =
    ClockDrift { rate_ppm: 10_000, constant: Duration::from_millis(2) };

fn settings(membership: Membership, masters: usize) -> Settings {
    let (drift, max_ttl) = (DRIFT, Duration::from_secs(30));
    let window = FencingWindow { back: Duration::from_secs(2), ahead: Duration::from_secs(2) };
    let quarantine = standing::quarantine(max_ttl, window, drift);
    let names: Vec<Arc<str>> = (1..=masters).map(|node| format!("n{node}").into()).collect();
    let shared = SharedSettings {
        key: "quorumlock:agreement".into(),
        max_ttl,
        window,
        masters: names.clone(),
        lists: vec![names],
        life: agreement::life(quarantine, drift),
        brief: agreement::life(Duration::ZERO, drift),
    };
    Settings {
        label: None,
        restart_guard: RestartGuard::Off,
        quarantine,
        agreement: Agreement::new(shared, false),
        window,
        wake_ups: false,
        waitlists: None,
        asks: false,
        membership,
        drift,
        backoff: Backoff { base: Duration::from_millis(5), cap: Duration::from_millis(250) },
        operation_timeout: Duration::from_millis(200),
        connect_timeout: Duration::from_millis(500),
        rest: Rest { after: Duration::MAX, heartbeat: agreement::HEARTBEAT },
        redial_spread: Duration::ZERO,
    }
}

impl Stage {
    /// Creates masters `n1`, `n2`, ... of which none is connected.
    pub(super) fn new(masters: usize, login: &Login) -> Self {
        Self::with(masters, login, |_| {})
    }

    /// The same, with changed settings.
    pub(super) fn with(masters: usize, login: &Login, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings(Membership::of(masters).expect("a membership"), masters);
        change(&mut settings);
        Self::set(settings, &vec![login.clone(); masters])
    }

    /// The same, each with a login of its own.
    pub(super) fn of_logins(logins: &[Login], change: impl FnOnce(&mut Settings)) -> Self {
        let masters = logins.len();
        let mut settings = settings(Membership::of(masters).expect("a membership"), masters);
        change(&mut settings);
        Self::set(settings, logins)
    }

    /// The same, with one list or two.
    pub(super) fn of(membership: Membership, masters: usize, login: &Login) -> Self {
        Self::set(settings(membership, masters), &vec![login.clone(); masters])
    }

    /// The same, as if a round had begun before: no question is brief.
    fn set(settings: Settings, logins: &[Login]) -> Self {
        let mut stage = Self::fresh(settings, logins);
        stage.machine.at.cx.masters.note_for_rounds(stage.now);
        stage
    }

    /// The same, before its first round, and with changed settings.
    pub(super) fn brief(masters: usize, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings(Membership::of(masters).expect("a membership"), masters);
        change(&mut settings);
        Self::fresh(settings, &vec![Login::default(); masters])
    }

    fn fresh(settings: Settings, logins: &[Login]) -> Self {
        let masters = logins.len();
        let jitter = Arc::new(AtomicU64::new(MIDDLE));
        let dice = Dice { jitter: jitter.clone(), tokens: u128::MAX };
        let nodes =
            (1..).zip(logins).map(|(node, login)| (format!("n{node}").into(), login.clone()));
        let wire = |node: usize| Wire {
            epoch: Epoch::default(),
            connected: false,
            room: None,
            unseen: VecDeque::new(),
            sent: Vec::new(),
            run_id: format!("run{node}"),
            client_id: 0,
            commands: Replies::default(),
        };
        let mut stage = Self {
            machine: Coordinator::new(Instant::default(), settings, nodes, Box::new(dice)),
            now: Instant::default(),
            wires: (1..=masters).map(wire).collect(),
            jitter,
            unseen: VecDeque::new(),
            events: Vec::new(),
            holds: BTreeMap::new(),
            asked: Vec::new(),
            tokens: Tokens::new(),
            sums: Sums::new(masters),
        };
        stage.pump();
        stage
    }

    // Events.

    /// Lets time pass, as for a driver that is never late.
    pub(super) fn pass(&mut self, span: Duration) {
        let until = self.now.after(span);
        let mut turns = 0;
        while let Some(at) = self.machine.due_at().filter(|at| *at <= until) {
            turns = if at > self.now { 0 } else { turns + 1 };
            assert!(turns < 1_000, "poll_timeout still names {at:?} after a thousand turns");
            self.now = self.now.max(at);
            self.machine.handle_timeout(self.now);
            self.machine.handle_caught_up(self.now);
            self.pump();
        }
        self.now = until;
    }

    pub(super) fn acquire(&mut self, request: u64, acquire: AcquireRequest) {
        self.asked.push(request);
        self.machine.handle_acquire(self.now, RequestId(request), acquire);
    }

    pub(super) fn hold(&self, request: u64) -> AttemptId {
        *self.holds.get(&request).unwrap_or_else(|| panic!("acquire {request} has won nothing"))
    }

    /// Returns the value that `request` has detached.
    pub(super) fn detached(&self, request: u64) -> DetachedLock {
        let found = self.events.iter().find_map(|event| match event {
            Event::Detached { request: id, result: Ok(lock), .. } if id.0 == request => {
                Some((**lock).clone())
            }
            _ => None,
        });
        found.unwrap_or_else(|| panic!("{request} has detached nothing"))
    }

    pub(super) fn connects(&mut self, node: usize) {
        let wire = &mut self.wires[node];
        wire.connected = true;
        wire.client_id += 1;
        wire.commands = Replies::default();
        self.machine.handle_connected(self.now, node, wire.epoch);
    }

    /// Lets the provider of credentials return the user `app` with this password, or fail.
    pub(super) fn given(&mut self, node: usize, password: &str, renewal: Renewal) {
        let (epoch, password) = (self.wires[node].epoch, password.to_owned());
        let given = match renewal {
            _ if password == "-" => Err("the provider is asleep".into()),
            _ => Ok(Credentials { username: Some("app".into()), password, renewal }),
        };
        self.machine.handle_credentials(self.now, node, epoch, given);
    }

    pub(super) fn breaks(&mut self, node: usize) {
        self.wires[node].connected = false;
        self.machine.handle_closed(self.now, node, self.wires[node].epoch, "reset by peer");
    }

    pub(super) fn says(&mut self, node: usize, bytes: &[u8]) {
        self.machine.handle_bytes(self.now, node, self.wires[node].epoch, bytes);
        self.pump();
    }

    // Consequences.

    /// Does what the machine asks, and turns all that it sends and decides into words.
    pub(super) fn pump(&mut self) {
        while let Some(action) = self.machine.poll_action() {
            match action {
                Action::Dial { node, epoch } => {
                    assert!(!self.wires[node].connected, "dials n{} twice", node + 1);
                    assert!(epoch > self.wires[node].epoch, "uses an epoch twice");
                    self.wires[node].epoch = epoch;
                    self.wires[node].unseen.push_back("DIAL".into());
                }
                Action::Renew { node, epoch } => {
                    assert_eq!(epoch, self.wires[node].epoch, "renews another connection");
                    self.wires[node].unseen.push_back("RENEW".into());
                }
                Action::Close { node, epoch } => {
                    assert_eq!(epoch, self.wires[node].epoch, "closes another connection");
                    // A connection that the other side has closed is not reported.
                    if std::mem::take(&mut self.wires[node].connected) {
                        self.wires[node].unseen.push_back("CLOSE".into());
                    }
                }
            }
        }
        (0..self.wires.len()).for_each(|node| self.write(node));
        while let Some(happened) = self.machine.poll_event() {
            if let Event::Keep { attempt } = happened {
                self.machine.handle_keep(self.now, attempt);
                (0..self.wires.len()).for_each(|node| self.write(node));
            } else if !matches!(happened, Event::Observed(_)) {
                let words = event(&happened, &mut self.holds);
                assert!(!words.contains('\n'), "more than a line: {words}");
                self.unseen.push_back(words);
            }
            self.events.push(happened);
        }
    }

    fn write(&mut self, node: usize) {
        let wire = &mut self.wires[node];
        let (epoch, bytes) = self.machine.transmit(node);
        let taken = wire.room.map_or(bytes.len(), |room| room.min(bytes.len()));
        if taken == 0 || !wire.connected {
            return;
        }
        assert_eq!(epoch, wire.epoch, "sends over another connection");
        wire.commands.receive(&bytes[..taken]);
        wire.sent.extend(&bytes[..taken]);
        self.sums.add(node, &bytes[..taken]);
        wire.room = wire.room.map(|room| room - taken);
        let opens = |words: &str| words.starts_with("SUBSCRIBE") && words.ends_with(MAILBOX);
        let mut opens_mailbox = false;
        while let Some(sent) = wire.commands.next().expect("a command") {
            match command(&sent, &mut self.tokens) {
                // The first command behind the handshake, which is answered at once.
                words if opens(&words) => opens_mailbox = true,
                words => wire.unseen.push_back(words),
            }
        }
        self.machine.handle_written(self.now, node, epoch, taken);
        if opens_mailbox {
            self.machine.handle_bytes(self.now, node, epoch, &push("subscribe", MAILBOX, ":1"));
        }
    }

    /// Returns what is left in the machine's tables when no request is open any more.
    pub(super) fn left(&self) -> String {
        let machine = &self.machine;
        format!(
            "{} acquisitions, {} attempts, {} rounds, {} places, timers to {:?}, {} debts",
            machine.at.waiters.acquisitions.len()
                + machine.at.waiters.semaphores.len()
                + machine.at.waiters.readers.len()
                + machine.at.waiters.hints.len(),
            machine.locks.attempts.len(),
            machine.locks.rounds.len(),
            machine.at.waiters.local_queue.len(),
            Some(machine.at.cx.timers.next_at()).filter(|at| *at < Instant::NEVER),
            machine.masters().debts(),
        )
    }
}

pub(super) const NOTHING_LEFT: &str =
    "0 acquisitions, 0 attempts, 0 rounds, 0 places, timers to None, 0 debts";
