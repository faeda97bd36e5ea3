//! One master: its connection, its standing, and the hand-over from one connection to the next.
//!
//! Order is the safety argument. On one connection a rollback travels behind its SET and cannot
//! overtake it. Between connections there is no order. So a new one first learns whether it talks
//! to the same server process (`run_id`), then kills its predecessor there (`CLIENT KILL ID`). Then
//! it sends the rollbacks that are owed, and only then does it open for votes.

mod confirmation;
mod departure;
mod handshake;
mod identity;
mod pipe;
mod redial;
mod releases;
mod renewal;
mod replies;
#[cfg(any(test, feature = "testing"))]
mod seen;
mod server_facts;
mod standing;
mod time;
mod waitlist;

pub(crate) use identity::Identity;
pub(crate) use pipe::PendingReply;
#[cfg(any(test, feature = "testing"))]
pub use seen::Judged;
pub use server_facts::{Persistence, Role, ServerFacts};
#[cfg(test)]
pub(crate) use standing::{LARGEST_LEDGER, LARGEST_QUEUE};

use super::agreement::Report;
use super::ledger::Ledger;
use super::{Debt, Fault};
use crate::quorum::Instant;
use crate::quorum::agreement::HEARTBEAT;
use crate::quorum::standing::Start;
use crate::routing::first_node::hash;
use crate::shared::{Random, RoundId, Settings};
use crate::wire::{self, Login, Packer};
use confirmation::Confirmation;
use departure::Departure;
use pipe::Pipe;
use redial::{Absence, Redial};
use releases::Known;
use renewal::Renewal;
use std::sync::Arc;
use std::time::Duration;
use time::jittered;

/// A connection is replaced after this many operation timeouts of silence while the server owes an
/// answer on it. A half-open socket would otherwise live for minutes.
pub(crate) const TIMEOUTS_BEFORE_REPLACEMENT: u32 = 3;

/// The interval of the questions while this client's settings are not confirmed.
const RECONFIRM: Duration = Duration::from_secs(2);

/// A count of the connections of one master; events of an older one are ignored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(u64);

/// What follows from an answer to a question of the session's own.
pub(crate) enum Incoming {
    /// Nothing follows.
    Nothing,
    /// The server has answered everything it was asked: is this a master that may be used?
    Identified,
    /// The predecessor is dead.
    HandedOver,
    /// The connection is of no use any more.
    Broken(Fault),
}

/// A vote whose answer will never come.
pub(crate) struct Stranded {
    pub(crate) round: RoundId,
    /// Whether the command may have reached the server.
    pub(crate) may_have_left: bool,
}

/// The request of a wake-up to the coordinator.
pub(crate) enum Wake {
    Nothing,
    Dial,
    /// Credentials are to be renewed.
    Renew,
    /// The master has warmed up, or its report on other clients no longer means anything.
    Changed,
    Close(Fault),
}

enum State {
    /// No connection, and none is being made.
    Down(Redial),
    /// No connection yet.
    Dialing,
    /// Connected, not open for votes; given up at `until`.
    Handshake { until: Instant },
    /// Open for votes.
    Open { heartbeat_at: Instant },
}

/// One master.
pub(crate) struct Session {
    pub(crate) name: Arc<str>,
    pub(crate) name_hash: u64,
    settings: Arc<Settings>,
    /// As the server knows us, or as the next connection begins.
    login: Login,
    pub(crate) renewal: Renewal,
    /// The prefix of the channels of all keys.
    pub(crate) channels: Arc<str>,
    pub(crate) epoch: Epoch,
    state: State,
    /// Why there is no session, if there is none.
    pub(crate) fault: Option<Fault>,
    identity: Identity,
    /// The last connection that was open for votes, until it is confirmed dead or given up as one
    /// that may not be killed. There is never another: no connection opens before that.
    predecessor: Option<Identity>,
    /// A predecessor has lived on since then, as far as is known, and may not be killed.
    unkillable_since: Option<Instant>,
    /// The time at which the server may have started, unless its memory is trusted. It outlives the
    /// connection.
    start: Option<Start>,
    /// A vote of this master that was asked for before this instant does not count.
    votes_from: Instant,
    /// `votes_from` is still ahead, as far as was last reported.
    warming: bool,
    /// The server's answers, on this connection, to the question about this client's settings.
    confirmation: Confirmation,
    /// When the last question was asked that the server has answered, on any connection.
    heard_at: Option<Instant>,
    dialed_at: Instant,
    /// `None` until the first dial has ended.
    absence: Option<Absence>,
    /// The server's report on clients with different settings; it outlives the connection.
    report: Option<Report>,
    /// This client's name in its notes.
    client: Arc<str>,
    /// No round was ever about to begin: the notes are brief.
    is_brief: bool,
    /// The client uses no lock: the next heartbeat comes late, and until then the last answer stands.
    rests: bool,
    departure: Departure,
    /// The server process that was last met under this address, and when it was first met.
    met: Option<(Arc<str>, Instant)>,
    pub(crate) pipe: Pipe,
    ledger: Ledger,
    /// The ways in which the server can be asked to release.
    known: Known,
    failures: u32,
    /// Whether the first try to connect has ended, successfully or not.
    pub(crate) was_tried: bool,
}

impl Session {
    pub(crate) fn new(
        name: Arc<str>,
        login: Login,
        client: Arc<str>,
        now: Instant,
        settings: Arc<Settings>,
    ) -> Self {
        Self {
            name_hash: hash(&name),
            name,
            channels: wire::channels(login.database),
            login,
            renewal: Renewal::default(),
            epoch: Epoch::default(),
            state: State::Down(Redial::at(now)),
            fault: Some(Fault::down("not connected yet")),
            identity: Identity::default(),
            predecessor: None,
            unkillable_since: None,
            start: None,
            settings,
            votes_from: Instant::default(),
            warming: false,
            confirmation: Confirmation::default(),
            heard_at: None,
            dialed_at: now,
            absence: None,
            report: None,
            client,
            is_brief: true,
            rests: false,
            departure: Departure::default(),
            met: None,
            pipe: Pipe::default(),
            ledger: Ledger::default(),
            known: Known::default(),
            failures: 0,
            was_tried: false,
        }
    }

    /// Begins the next connection.
    pub(crate) fn dial(&mut self, now: Instant) -> Epoch {
        self.epoch.0 += 1;
        self.dialed_at = now;
        self.renewal.end();
        self.state = State::Dialing;
        self.epoch
    }

    /// Opens the session once the predecessor is dead: first the debts are sent, then votes.
    pub(crate) fn open(&mut self, now: Instant, random: &mut dyn Random, packer: &mut Packer) {
        self.predecessor = None;
        self.fault = None;
        self.was_tried = true;
        self.rests = false;
        let heartbeat_at = self.asks_again_at(now).min(now.after(jittered(HEARTBEAT, random)));
        self.state = State::Open { heartbeat_at };
        self.ledger.opened(now);
        self.pay(now, packer);
        self.complete(now);
    }

    /// Ends the connection, of a master that can be spared for a while or not. Returns the votes that will
    /// never be answered.
    pub(crate) fn close(
        &mut self,
        now: Instant,
        fault: Fault,
        is_spare: bool,
        random: &mut dyn Random,
    ) -> Vec<Stranded> {
        let is_first = self.is_open() && self.failures == 0 && self.ledger.owed.is_empty();
        self.absence = Some(match self.is_open() {
            true => Absence::Lost(now),
            false => Absence::Missed(self.dialed_at),
        });
        self.departure.seeks = false;
        if self.is_open() {
            self.predecessor = Some(std::mem::take(&mut self.identity));
        }
        let spread = is_first && is_spare;
        let redial = self.redial(now, spread, random);
        self.failures = self.failures.saturating_add(1);
        self.was_tried = true;
        self.state = State::Down(redial);
        self.fault = Some(fault);
        let mut stranded = Vec::new();
        for (pending, may_have_left) in std::mem::take(&mut self.pipe).into_unanswered() {
            match pending {
                PendingReply::Vote(round) | PendingReply::Conditional(round) => {
                    stranded.push(Stranded { round, may_have_left });
                }
                PendingReply::Deletion(mut debt, _) => {
                    debt.may_have_run |= may_have_left;
                    self.owe(now, debt);
                }
                _ => {}
            }
        }
        stranded
    }

    // Sending.

    /// Sends a command on the connection. Without one it is of no use: what is owed is kept elsewhere.
    pub(crate) fn push(&mut self, pending: PendingReply, command: &[u8]) {
        if self.has_connection() {
            self.pipe.push(pending, command);
        }
    }

    // Asking.

    /// Returns whether an event of this connection still means anything. An event that arrives
    /// after a connection was given up is as stale as one of an older connection.
    pub(crate) fn is_current(&self, epoch: Epoch) -> bool {
        self.epoch == epoch && !matches!(self.state, State::Down(_))
    }

    /// Returns whether a connection before this one may live on, and deliver a SET of an attempt that
    /// began at `began`.
    pub(crate) fn may_yet_deliver(&self, began: Instant) -> bool {
        self.unkillable_since.is_some_and(|since| began <= since)
    }

    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    pub(crate) const fn has_connection(&self) -> bool {
        matches!(self.state, State::Handshake { .. } | State::Open { .. })
    }

    /// Returns what is known of the connection, while there is one.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.has_connection().then_some(&self.identity)
    }

    /// Returns the number of rollbacks and releases that wait for a connection, or to be sent
    /// again.
    pub(crate) fn owed(&self) -> usize {
        self.ledger.owed.len()
    }

    /// Returns the rollbacks and releases that no integer has answered.
    pub(crate) fn all_debts(&self) -> impl Iterator<Item = &Debt> {
        self.ledger.owed.iter().chain(self.pipe.debts())
    }

    /// Returns the number of rollbacks and releases that no integer has answered.
    pub(crate) fn debts(&self) -> usize {
        self.owed() + self.pipe.debts_due
    }
}
