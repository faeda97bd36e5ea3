//! One master: its connection, the order in which answers are due, and the hand-over from one
//! connection to the next.
//!
//! Order is the safety argument. On one connection a rollback travels behind its SET and cannot
//! overtake it. Between connections there is no order, so a new one first learns whether it talks
//! to the same server process (`run_id`), then kills every predecessor there (`CLIENT KILL ID`),
//! then sends the rollbacks that are owed, and only then opens for votes.

use super::ledger::{Debt, Ledger};
use super::wire::{self, Replies};
use super::{AttemptId, RequestId, RoundId, Settings};
use crate::address::Login;
use crate::quorum::Instant;
use crate::report::Reason;
use bytes::{Buf, Bytes, BytesMut};
use redis::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A connection is replaced after this many operation timeouts of silence while it owes an
/// answer: a half-open socket would otherwise live for minutes.
pub(super) const TIMEOUTS_BEFORE_REPLACEMENT: u32 = 3;

/// Commands without an answer that a master may have outstanding, in bytes. Beyond it SETs are
/// refused in this process; rollbacks and releases never are.
pub(super) const LARGEST_QUEUE: usize = 1 << 20;

/// Debts of one master beyond which it gets no new SETs, since each may become another one.
pub(super) const LARGEST_LEDGER: usize = 1 << 16;

/// INFO at this pace finds a connection that died idle before the next acquire needs it.
const HEARTBEAT: Duration = Duration::from_secs(10);

const REDIAL_BASE: Duration = Duration::from_millis(50);
const REDIAL_CAP: Duration = Duration::from_secs(2);

/// Counts the connections of one master; what comes from an older one is ignored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Epoch(u64);

/// Why a master has no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) cause: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Not reachable, or lost: it may come back by itself.
    Down,
    /// It answers, and says that it cannot be used like this: credentials, rights, version.
    Rejected,
    /// It answers, and is no independent master.
    Unfit,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, cause: impl Into<Arc<str>>) -> Self {
        Self { kind, cause: cause.into() }
    }

    pub(super) fn reason(&self) -> Reason {
        match self.kind {
            FaultKind::Down | FaultKind::Rejected => Reason::Down(self.cause.clone()),
            FaultKind::Unfit => Reason::Unfit(self.cause.clone()),
        }
    }
}

/// What an answer is the answer to.
#[derive(Debug)]
pub(super) enum Purpose {
    Hello,
    Select,
    InfoServer,
    InfoReplication,
    Load,
    Kill,
    Heartbeat,
    /// An acquire or an extension of this round.
    Vote(RoundId),
    /// How long the key that refused this attempt has yet to live.
    Remaining(RequestId, AttemptId),
    /// A top-up: its answer counts for nothing.
    TopUp,
    Settle(Debt),
}

/// A command without its answer.
struct Due {
    purpose: Purpose,
    /// Where its first byte stands in all that was ever queued on this connection.
    start: u64,
    len: usize,
    queued_at: Instant,
}

/// What an answer has led to.
pub(super) enum Settled {
    Nothing,
    /// The handshake is complete: is this a master that may be used?
    Identified,
    /// The predecessors are dead.
    HandedOver,
    Broken(Fault),
    Vote(RoundId, Value),
    Remaining(RequestId, AttemptId, Value),
    /// A debt is settled (`Ok`: was a key deleted?) or answered by an error and still owed.
    Release(RoundId, Result<bool, Arc<str>>),
}

/// A vote whose answer will never come.
pub(super) struct Stranded {
    pub(super) round: RoundId,
    /// Whether the command may have reached the server.
    pub(super) may_have_left: bool,
}

enum State {
    Down {
        redial_at: Instant,
    },
    Dialing,
    /// Connected, not open for votes; given up at `until`.
    Handshake {
        until: Instant,
    },
    Open {
        heartbeat_at: Instant,
    },
}

/// What the handshake has told of this connection.
#[derive(Clone, Default)]
struct Identity {
    client_id: Option<i64>,
    run_id: Option<Arc<str>>,
    replica_of: Option<Arc<str>>,
}

/// One master.
pub(super) struct Session {
    pub(super) name: Arc<str>,
    login: Login,
    epoch: Epoch,
    state: State,
    fault: Option<Fault>,
    identity: Identity,
    /// Connections that were open for votes and are not yet confirmed dead.
    predecessors: Vec<Identity>,
    /// Since then a predecessor lives on as far as anybody knows, and may not be killed.
    unkillable_since: Option<Instant>,
    kills_due: usize,
    out: BytesMut,
    /// Bytes ever queued on this connection, and how many of them were written.
    queued: u64,
    written: u64,
    due: VecDeque<Due>,
    due_bytes: usize,
    debts_due: usize,
    silent_since: Instant,
    replies: Replies,
    pub(super) ledger: Ledger,
    failures: u32,
    /// Whether the first try to connect has ended, one way or the other.
    pub(super) settled_once: bool,
}

impl Session {
    pub(super) fn new(name: Arc<str>, login: Login, now: Instant) -> Self {
        Self {
            name,
            login,
            epoch: Epoch::default(),
            state: State::Down { redial_at: now },
            fault: Some(Fault::new(FaultKind::Down, "not connected yet")),
            identity: Identity::default(),
            predecessors: Vec::new(),
            unkillable_since: None,
            kills_due: 0,
            out: BytesMut::new(),
            queued: 0,
            written: 0,
            due: VecDeque::new(),
            due_bytes: 0,
            debts_due: 0,
            silent_since: now,
            replies: Replies::new(),
            ledger: Ledger::default(),
            failures: 0,
            settled_once: false,
        }
    }

    // Connecting.

    /// Begins the next connection.
    pub(super) fn dial(&mut self) -> Epoch {
        self.epoch.0 += 1;
        self.state = State::Dialing;
        self.epoch
    }

    /// The stream is there: everything that must be known before the first SET, in one write.
    pub(super) fn connected(&mut self, now: Instant, settings: &Settings) {
        self.identity = Identity::default();
        self.kills_due = 0;
        self.replies = Replies::new();
        self.state = State::Handshake { until: now.after(settings.connect_timeout) };
        self.push(now, Purpose::Hello, &wire::hello(&self.login));
        if self.login.database != 0 {
            self.push(now, Purpose::Select, &wire::select(self.login.database));
        }
        self.push(now, Purpose::InfoServer, &wire::info("server"));
        self.push(now, Purpose::InfoReplication, &wire::info("replication"));
        self.push(now, Purpose::Load, &wire::load(wire::EXTEND));
    }

    /// Kills the predecessors. A server that has restarted since has none of them any more, and
    /// its ids start over: the wrong client would die.
    pub(super) fn hand_over(&mut self, now: Instant) -> bool {
        let mine = self.identity.run_id.clone();
        let predecessors = std::mem::take(&mut self.predecessors);
        for one in &predecessors {
            match (&one.run_id, &mine, one.client_id) {
                (Some(theirs), Some(mine), Some(id)) if theirs == mine => {
                    self.kills_due += 1;
                    self.push(now, Purpose::Kill, &wire::kill(id));
                }
                (Some(_), Some(_), _) => {}
                // INFO is denied: nobody knows whose id that is now.
                _ => self.unkillable_since = Some(now),
            }
        }
        self.predecessors = predecessors;
        self.kills_due == 0
    }

    /// The predecessors are dead: what is owed goes first, then votes.
    pub(super) fn open(&mut self, now: Instant, jitter: u64) {
        self.predecessors.clear();
        self.fault = None;
        self.failures = 0;
        self.settled_once = true;
        self.state = State::Open { heartbeat_at: now.after(jittered(HEARTBEAT, jitter)) };
        self.ledger.opened(now);
        self.pay(now);
    }

    /// Ends the connection. Returns the votes that will never be answered.
    pub(super) fn close(&mut self, now: Instant, fault: Fault, jitter: u64) -> Vec<Stranded> {
        if matches!(self.state, State::Open { .. }) {
            self.predecessors.push(std::mem::take(&mut self.identity));
        }
        let pause = REDIAL_BASE.saturating_mul(1 << self.failures.min(16)).min(REDIAL_CAP);
        self.failures += 1;
        self.settled_once = true;
        self.state = State::Down { redial_at: now.after(jittered(pause, jitter)) };
        self.fault = Some(fault);
        let written = self.written;
        let mut stranded = Vec::new();
        for due in std::mem::take(&mut self.due) {
            match due.purpose {
                Purpose::Vote(round) => {
                    stranded.push(Stranded { round, may_have_left: due.start < written });
                }
                Purpose::Settle(debt) => self.ledger.owe(debt),
                _ => {}
            }
        }
        (self.queued, self.written, self.due_bytes, self.debts_due) = (0, 0, 0, 0);
        self.out.clear();
        stranded
    }

    // Sending.

    /// Whether a SET or an extension would be sent now.
    pub(super) fn admits(&self, len: usize) -> Result<(), Reason> {
        match (&self.state, &self.fault) {
            (State::Open { .. }, _) => {
                let queue_full = self.due_bytes + len > LARGEST_QUEUE;
                if queue_full || self.debts() >= LARGEST_LEDGER {
                    Err(Reason::QueueFull)
                } else {
                    Ok(())
                }
            }
            (_, Some(fault)) => Err(fault.reason()),
            (_, None) => Err(Reason::Down("connecting".into())),
        }
    }

    pub(super) fn push(&mut self, now: Instant, purpose: Purpose, command: &Bytes) {
        if self.due.is_empty() {
            self.silent_since = now;
        }
        if matches!(purpose, Purpose::Settle(_)) {
            self.debts_due += 1;
        }
        let (start, len) = (self.queued, command.len());
        self.due.push_back(Due { purpose, start, len, queued_at: now });
        self.due_bytes += len;
        self.queued += len as u64;
        self.out.extend_from_slice(command);
    }

    /// Sends a rollback or a release, or keeps it until there is a connection.
    pub(super) fn settle(&mut self, now: Instant, mut debt: Debt) {
        if self.is_open() {
            debt.repeat_while_unkillable(self.unkillable_since);
            let command = debt.command.clone();
            self.push(now, Purpose::Settle(debt), &command);
        } else {
            self.ledger.owe(debt);
        }
    }

    fn pay(&mut self, now: Instant) {
        for debt in self.ledger.take() {
            self.settle(now, debt);
        }
    }

    pub(super) fn transmit(&self) -> &[u8] {
        &self.out
    }

    pub(super) fn written(&mut self, len: usize) {
        self.out.advance(len.min(self.out.len()));
        self.written += len as u64;
    }

    // Receiving.

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.replies.receive(bytes);
    }

    /// What the next complete answer has led to; `None` when there is none.
    pub(super) fn next_settled(&mut self, now: Instant, settings: &Settings) -> Option<Settled> {
        if matches!(self.state, State::Down { .. } | State::Dialing) {
            return None;
        }
        let reply = match self.replies.next() {
            Ok(reply) => reply?,
            Err(cause) => return Some(Settled::Broken(Fault::new(FaultKind::Down, cause))),
        };
        if matches!(reply, Value::Push { .. }) {
            return Some(Settled::Nothing);
        }
        let Some(due) = self.due.pop_front() else {
            let fault = Fault::new(FaultKind::Down, "the server answered what nobody asked");
            return Some(Settled::Broken(fault));
        };
        self.due_bytes -= due.len;
        self.silent_since = now;
        Some(self.settled(now, settings, due.purpose, reply))
    }

    fn settled(
        &mut self,
        now: Instant,
        settings: &Settings,
        purpose: Purpose,
        reply: Value,
    ) -> Settled {
        match purpose {
            Purpose::Vote(round) => Settled::Vote(round, reply),
            Purpose::Remaining(request, attempt) => Settled::Remaining(request, attempt, reply),
            Purpose::Settle(debt) => self.debt_answered(now, settings, debt, &reply),
            Purpose::TopUp => Settled::Nothing,
            Purpose::Heartbeat => self.heartbeat_answered(&reply),
            Purpose::Hello => match wire::hello_id(&reply) {
                Some(id) => {
                    self.identity.client_id = Some(id);
                    Settled::Nothing
                }
                None => Settled::Broken(hello_refused(&reply)),
            },
            Purpose::Select => match wire::error(&reply) {
                Some(error) => Settled::Broken(Fault::new(FaultKind::Rejected, error)),
                None => Settled::Nothing,
            },
            Purpose::InfoServer => {
                self.identity.run_id = run_id(&reply);
                Settled::Nothing
            }
            Purpose::InfoReplication => {
                self.identity.replica_of = replica_of(&reply);
                Settled::Nothing
            }
            // A denied right costs the extension, which says so itself: NOSCRIPT.
            Purpose::Load => Settled::Identified,
            Purpose::Kill => self.kill_answered(now, &reply),
        }
    }

    fn debt_answered(
        &mut self,
        now: Instant,
        settings: &Settings,
        debt: Debt,
        reply: &Value,
    ) -> Settled {
        self.debts_due -= 1;
        let (round, pause) = (debt.round, settings.operation_timeout);
        let said = match reply {
            Value::Int(deleted) => {
                self.ledger.answered(debt, now, pause);
                Ok(*deleted > 0)
            }
            other => {
                self.ledger.refused(debt, now, pause);
                Err(wire::unexpected(other))
            }
        };
        round.map_or(Settled::Nothing, |round| Settled::Release(round, said))
    }

    fn heartbeat_answered(&mut self, reply: &Value) -> Settled {
        match run_id(reply) {
            Some(run_id) if self.identity.run_id.as_ref().is_some_and(|mine| *mine != run_id) => {
                let cause = "the server behind this connection has changed: is it a proxy?";
                Settled::Broken(Fault::new(FaultKind::Down, cause))
            }
            _ => Settled::Nothing,
        }
    }

    fn kill_answered(&mut self, now: Instant, reply: &Value) -> Settled {
        match reply {
            // Zero: it was gone already.
            Value::Int(_) => {}
            // Without the right to kill, repeating the rollback for a ttl is the best there is.
            Value::ServerError(error) if error.code() == "NOPERM" => {
                self.unkillable_since = Some(now);
            }
            other => {
                return Settled::Broken(Fault::new(FaultKind::Down, wire::unexpected(other)));
            }
        }
        self.kills_due -= 1;
        if self.kills_due == 0 { Settled::HandedOver } else { Settled::Nothing }
    }

    // Time.

    /// When this session next needs to be woken.
    pub(super) fn wake_at(&self, settings: &Settings) -> Option<Instant> {
        match self.state {
            State::Down { redial_at } => Some(redial_at),
            State::Dialing => None,
            State::Handshake { until } => Some(until),
            State::Open { heartbeat_at } => [
                Some(heartbeat_at),
                self.ledger.retry_at(),
                (!self.due.is_empty()).then(|| self.silent_until(settings)),
            ]
            .into_iter()
            .flatten()
            .min(),
        }
    }

    /// What has to happen now that it is `now`.
    pub(super) fn wake(&mut self, now: Instant, settings: &Settings, jitter: u64) -> Wake {
        match self.state {
            State::Down { redial_at } if now >= redial_at => Wake::Dial,
            State::Handshake { until } if now >= until => {
                Wake::Close(Fault::new(FaultKind::Down, "no answer to the handshake"))
            }
            State::Open { .. } if self.is_silent(now, settings) => {
                Wake::Close(Fault::new(FaultKind::Down, "the server has fallen silent"))
            }
            State::Open { heartbeat_at } => {
                if now >= heartbeat_at {
                    self.push(now, Purpose::Heartbeat, &wire::info("server"));
                    let heartbeat_at = now.after(jittered(HEARTBEAT, jitter));
                    self.state = State::Open { heartbeat_at };
                }
                if self.ledger.retry_at().is_some_and(|at| now >= at) {
                    self.pay(now);
                }
                Wake::Nothing
            }
            _ => Wake::Nothing,
        }
    }

    fn is_silent(&self, now: Instant, settings: &Settings) -> bool {
        !self.due.is_empty() && now >= self.silent_until(settings)
    }

    fn silent_until(&self, settings: &Settings) -> Instant {
        let since = self.due.front().map_or(self.silent_since, |due| due.queued_at);
        let patience = settings.operation_timeout.saturating_mul(TIMEOUTS_BEFORE_REPLACEMENT);
        self.silent_since.max(since).after(patience)
    }

    // Asking.

    pub(super) const fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    pub(super) const fn has_connection(&self) -> bool {
        matches!(self.state, State::Handshake { .. } | State::Open { .. })
    }

    pub(super) const fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Why there is no session.
    pub(super) fn cause(&self) -> Arc<str> {
        self.fault.as_ref().map_or_else(|| "connecting".into(), |fault| fault.cause.clone())
    }

    /// The server process behind the connection; what it was last known to be while there is none.
    pub(super) fn run_id(&self) -> Option<&Arc<str>> {
        self.identity.run_id.as_ref().filter(|_| self.has_connection())
    }

    pub(super) fn replica_of(&self) -> Option<&Arc<str>> {
        self.identity.replica_of.as_ref()
    }

    /// Rollbacks and releases without an integer for an answer.
    pub(super) fn debts(&self) -> usize {
        self.ledger.len() + self.debts_due
    }
}

/// What a wake-up asks of the coordinator.
pub(super) enum Wake {
    Nothing,
    Dial,
    Close(Fault),
}

/// `span` give or take a fifth, so that clients and nodes fall out of step.
fn jittered(span: Duration, random: u64) -> Duration {
    let fifth = span / 5;
    let picked = (fifth.as_nanos() * 2 * u128::from(random)) >> 64;
    span.saturating_sub(fifth) + Duration::from_nanos(u64::try_from(picked).unwrap_or(0))
}

fn run_id(reply: &Value) -> Option<Arc<str>> {
    wire::info_field(wire::text(reply)?, "run_id").map(Arc::from)
}

fn replica_of(reply: &Value) -> Option<Arc<str>> {
    let info = wire::text(reply)?;
    let host = wire::info_field(info, "master_host")?;
    let port = wire::info_field(info, "master_port").unwrap_or("?");
    Some(format!("{host}:{port}").into())
}

fn hello_refused(reply: &Value) -> Fault {
    match wire::error(reply) {
        Some(error) if error.contains("unknown command") => {
            let cause = format!("{error}: Redis 6.2 or later is needed");
            Fault::new(FaultKind::Rejected, cause)
        }
        Some(error)
            if ["WRONGPASS", "NOAUTH", "NOPERM", "DENIED"]
                .iter()
                .any(|code| error.starts_with(code)) =>
        {
            Fault::new(FaultKind::Rejected, error)
        }
        Some(error) => Fault::new(FaultKind::Down, error),
        None => Fault::new(FaultKind::Rejected, "HELLO 3 was not answered as by a Redis server"),
    }
}
