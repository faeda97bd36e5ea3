//! One master: its connection, its standing, and the hand-over from one connection to the next.
//!
//! Order is the safety argument. On one connection a rollback travels behind its SET and cannot
//! overtake it. Between connections there is no order, so a new one first learns whether it talks
//! to the same server process (`run_id`), then kills its predecessor there (`CLIENT KILL ID`),
//! then sends the rollbacks that are owed, and only then opens for votes.

mod confirmation;
mod handshake;
mod identity;
mod pipe;
mod releases;
mod replies;
mod standing;
mod time;

pub(super) use identity::Identity;
pub(super) use pipe::Purpose;
pub(super) use standing::Part;

use super::agreement::Told;
use super::fault::Fault;
use super::ledger::{Debt, Ledger};
use super::probe::hash;
use super::wire::Reply;
use super::{AttemptId, Random, RequestId, RoundId, wire};
use crate::coordinator::wire::Login;
use crate::quorum::Instant;
use crate::quorum::standing::Start;
use crate::report::Reason;
use confirmation::Confirmation;
use pipe::Pipe;
use releases::Known;
use std::sync::Arc;
use std::time::Duration;
use time::jittered;

/// A connection is replaced after this many operation timeouts of silence while it owes an
/// answer: a half-open socket would otherwise live for minutes.
pub(super) const TIMEOUTS_BEFORE_REPLACEMENT: u32 = 3;

/// Commands without an answer that a master may have outstanding, in bytes. Beyond it SETs are
/// refused in this process; rollbacks and releases never are.
pub(super) const LARGEST_QUEUE: usize = 1 << 20;

/// Debts of one master beyond which it gets no new SETs, since each may become another one.
pub(super) const LARGEST_LEDGER: usize = 1 << 16;

/// To ask at this pace finds a connection that died idle before the next acquire needs it.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// While what this client goes by is not confirmed, it asks again at this pace.
const RECONFIRM: Duration = Duration::from_secs(2);

const REDIAL_BASE: Duration = Duration::from_millis(50);
const REDIAL_CAP: Duration = Duration::from_secs(2);

/// Counts the connections of one master; what comes from an older one is ignored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Epoch(u64);

/// What an answer has led to.
pub(super) enum Settled {
    Nothing,
    /// All that was asked of the server is answered: is this a master that may be used?
    Identified,
    /// The predecessor is dead.
    HandedOver,
    Broken(Fault),
    Vote(RoundId, Reply),
    Remaining(RequestId, AttemptId, Reply),
    /// A release that somebody waits for was answered by an integer (was a key deleted?) or by an error.
    Release {
        round: RoundId,
        said: Result<bool, Arc<str>>,
    },
    /// A release was not done, since the server does not know how, or not for our user: it is sent again
    /// in another way.
    NotDone(Debt),
    /// So many listened when this key became free.
    Told {
        key: Arc<str>,
        listeners: u64,
    },
    /// Messages of this key come from now on.
    Subscribed(Arc<str>),
    /// This key has become free.
    Freed(Arc<str>),
}

/// A vote whose answer will never come.
pub(super) struct Stranded {
    pub(super) round: RoundId,
    /// Whether the command may have reached the server.
    pub(super) may_have_left: bool,
}

/// What a wake-up asks of the coordinator.
pub(super) enum Wake {
    Nothing,
    Dial,
    /// It has warmed up, or what it told of other clients means nothing any more.
    Changed,
    Close(Fault),
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

/// One master.
pub(super) struct Session {
    pub(super) name: Arc<str>,
    pub(super) name_hash: u64,
    login: Login,
    /// What the channels of keys begin with.
    pub(super) channels: Arc<str>,
    epoch: Epoch,
    state: State,
    fault: Option<Fault>,
    identity: Identity,
    /// The last connection that was open for votes, until it is confirmed dead, or given up as one
    /// that nobody may kill. There is never another: none opens before.
    predecessor: Option<Identity>,
    /// Since then a predecessor lives on as far as anybody knows, and may not be killed.
    unkillable_since: Option<Instant>,
    /// When the server may have started; unless its memory is trusted. It outlives the connection.
    start: Option<Start>,
    /// How long a server that has started does not vote.
    quarantine: Duration,
    /// No vote of this master counts that was asked for before.
    votes_from: Instant,
    /// `votes_from` is yet to come, as far as has been said.
    warming: bool,
    /// What the server has said on this connection to what this client goes by.
    confirmation: Confirmation,
    /// When the last question was asked that it has answered, on whatever connection.
    heard_at: Option<Instant>,
    /// Since then its connection is lost, and no redial has failed.
    lost_at: Option<Instant>,
    /// What it has told of clients that go by something else; it outlives the connection.
    told: Option<Told>,
    /// What this client goes by was noted here by nobody else, and stands until then.
    noted_until: Option<u64>,
    /// Nothing more is to be noted, and what was is taken back.
    withdraws: bool,
    /// The server process that was met last under this address, and when it was met first.
    met: Option<(Arc<str>, Instant)>,
    pipe: Pipe,
    ledger: Ledger,
    /// How the server can be told to release.
    known: Known,
    failures: u32,
    /// Whether the first try to connect has ended, one way or the other.
    pub(super) settled_once: bool,
}

impl Session {
    pub(super) fn new(name: Arc<str>, login: Login, now: Instant, quarantine: Duration) -> Self {
        Self {
            name_hash: hash(&name),
            name,
            channels: wire::channels(login.database),
            login,
            epoch: Epoch::default(),
            state: State::Down { redial_at: now },
            fault: Some(Fault::down("not connected yet")),
            identity: Identity::default(),
            predecessor: None,
            unkillable_since: None,
            start: None,
            quarantine,
            votes_from: Instant::default(),
            warming: false,
            confirmation: Confirmation::default(),
            heard_at: None,
            lost_at: None,
            told: None,
            noted_until: None,
            withdraws: false,
            met: None,
            pipe: Pipe::new(now),
            ledger: Ledger::default(),
            known: Known::default(),
            failures: 0,
            settled_once: false,
        }
    }

    /// Begins the next connection.
    pub(super) fn dial(&mut self) -> Epoch {
        self.epoch.0 += 1;
        self.state = State::Dialing;
        self.epoch
    }

    /// The predecessor is dead: what is owed goes first, then votes.
    pub(super) fn open(
        &mut self,
        now: Instant,
        random: &mut dyn Random,
        packer: &mut wire::Packer,
    ) {
        self.predecessor = None;
        self.fault = None;
        self.lost_at = None;
        self.settled_once = true;
        let heartbeat_at = self.asks_again_at(now).min(now.after(jittered(HEARTBEAT, random)));
        self.state = State::Open { heartbeat_at };
        self.ledger.opened(now);
        self.pay(packer);
    }

    /// Ends the connection. Returns the votes that will never be answered.
    pub(super) fn close(
        &mut self,
        now: Instant,
        fault: Fault,
        random: &mut dyn Random,
    ) -> Vec<Stranded> {
        self.lost_at = self.is_open().then_some(now);
        if self.is_open() {
            self.predecessor = Some(std::mem::take(&mut self.identity));
        }
        let pause = REDIAL_BASE.saturating_mul(1 << self.failures.min(16)).min(REDIAL_CAP);
        self.failures = self.failures.saturating_add(1);
        self.settled_once = true;
        self.state = State::Down { redial_at: now.after(jittered(pause, random)) };
        self.fault = Some(fault);
        let mut stranded = Vec::new();
        for one in std::mem::replace(&mut self.pipe, Pipe::new(now)).into_unanswered() {
            match one.purpose {
                Purpose::Vote(round) => {
                    stranded.push(Stranded { round, may_have_left: one.may_have_left });
                }
                Purpose::Settle(mut debt, _) => {
                    debt.may_have_run |= one.may_have_left;
                    self.ledger.owe(debt);
                }
                _ => {}
            }
        }
        stranded
    }

    // Sending.

    /// Whether a command that is no debt would be sent now.
    pub(super) fn admits(&self, len: usize) -> Result<(), Reason> {
        match &self.fault {
            None if self.pipe.due_bytes() + len > LARGEST_QUEUE => Err(Reason::QueueFull),
            None if self.debts() >= LARGEST_LEDGER => Err(Reason::QueueFull),
            None => Ok(()),
            Some(fault) => Err(fault.reason()),
        }
    }

    pub(super) fn push(&mut self, purpose: Purpose, command: &[u8]) {
        self.pipe.push(purpose, command);
    }

    /// The end is near: a master that owes something and is down is dialled at once.
    pub(super) fn collect(&mut self, now: Instant) {
        if let State::Down { redial_at } = &mut self.state
            && self.ledger.len() > 0
        {
            *redial_at = now.min(*redial_at);
        }
    }

    pub(super) fn transmit(&self) -> &[u8] {
        self.pipe.transmit()
    }

    pub(super) fn written(&mut self, now: Instant, len: usize) {
        self.pipe.written(now, len);
    }

    // Receiving.

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.pipe.receive(bytes);
    }

    // Asking.

    pub(super) const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Whether an event of this connection still means anything. What a connection says after it
    /// was given up is as stale as what an older one says.
    pub(super) fn is_current(&self, epoch: Epoch) -> bool {
        self.epoch == epoch && !matches!(self.state, State::Down { .. })
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    pub(super) const fn has_connection(&self) -> bool {
        matches!(self.state, State::Handshake { .. } | State::Open { .. })
    }

    /// Why there is no session, if there is none.
    pub(super) const fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// What is known of the connection, while there is one.
    pub(super) fn identity(&self) -> Option<&Identity> {
        self.has_connection().then_some(&self.identity)
    }

    /// Rollbacks and releases that wait for a connection, or to be sent again.
    pub(super) fn owed(&self) -> usize {
        self.ledger.len()
    }

    /// The longest life of a key that is to be deleted here.
    pub(super) fn longest_life(&self) -> Duration {
        self.ledger.longest_life().max(self.pipe.longest_life())
    }

    /// Rollbacks and releases without an integer for an answer.
    pub(super) fn debts(&self) -> usize {
        self.ledger.len() + self.pipe.debts_due()
    }
}
