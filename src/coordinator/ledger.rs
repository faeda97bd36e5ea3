//! Rollbacks and releases that one master still owes an answer to.
//!
//! A debt is settled by an integer (the server has compared and deleted), by nothing else. It is
//! forgotten only once nothing can be left to delete: a ttl after the moment from which no SET of
//! its attempt can arrive any more.

use super::session::Session;
use super::wire::Claim;
use super::{Coordinator, Keys, RoundId};
use crate::quorum::Instant;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

impl Coordinator {
    /// The longest life of a key that is to be deleted, or that a hold has: once it has passed,
    /// nothing is left that could be.
    pub(crate) fn longest_life(&self) -> Duration {
        let owed = self.sessions.iter().map(Session::longest_life);
        let held = self.attempts.iter().map(|attempt| attempt.claim.life.span());
        owed.chain(held).max().unwrap_or_default()
    }
}

/// One compare-and-delete, the same for all masters that have to answer it. Each packs it when it is
/// sent, in the way that the server knows then.
#[derive(Debug)]
pub(super) struct Deletion {
    pub(super) what: Deleted,
    /// The life of the key it deletes.
    pub(super) ttl: Duration,
    /// Those who wait in other processes are told, each key at one master.
    pub(super) is_told: bool,
    /// Who waits for the answers, if somebody does.
    pub(super) round: Option<RoundId>,
    /// No SET of the attempt was sent before.
    pub(super) began: Instant,
}

/// What is to be gone.
#[derive(Debug)]
pub(super) enum Deleted {
    /// What an attempt has set.
    Claim(Claim),
    /// What this client has noted, by this command.
    Note(Vec<u8>),
}

/// One that a master has to answer.
#[derive(Debug)]
pub(super) struct Debt {
    pub(super) deletion: Arc<Deletion>,
    /// The keys whose waiters are told behind it that they are free.
    pub(super) tells: Option<Keys>,
    /// Whether it may call a script that the server is thought to know: that costs a round trip where
    /// it does not.
    pub(super) by_hash: bool,
    /// From then on no SET of the attempt can arrive: everything before it has been answered, or
    /// all predecessors are dead.
    certain_from: Option<Instant>,
    /// It was sent before, and nobody knows whether it was done: that nothing is left to delete does
    /// not say that somebody else has deleted it.
    pub(super) may_have_run: bool,
    /// An integer does not settle it before: a predecessor that nobody may kill can still bring
    /// the SET in.
    repeat_until: Option<Instant>,
}

impl Debt {
    pub(super) const fn new(deletion: Arc<Deletion>) -> Self {
        Self {
            deletion,
            tells: None,
            by_hash: true,
            certain_from: None,
            may_have_run: false,
            repeat_until: None,
        }
    }

    /// While a predecessor lives on that may not be killed, its SET may come in behind us. What
    /// began after it was replaced has none there.
    pub(super) fn repeat_while_unkillable(&mut self, since: Option<Instant>) {
        let since = since.filter(|since| self.deletion.began <= *since);
        self.repeat_until = since.map(|since| since.after(self.deletion.ttl));
    }
}

/// The debts of one master that are not on their way.
#[derive(Default)]
pub(super) struct Ledger {
    owed: VecDeque<Debt>,
    retry_at: Option<Instant>,
}

impl Ledger {
    pub(super) fn len(&self) -> usize {
        self.owed.len()
    }

    /// The longest life of a key that is to be deleted.
    pub(super) fn longest_life(&self) -> Duration {
        self.owed.iter().map(|debt| debt.deletion.ttl).max().unwrap_or_default()
    }

    /// When there is something to send again, while the connection is open.
    pub(super) const fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    /// Nothing was answered: no connection, or it was lost.
    pub(super) fn owe(&mut self, debt: Debt) {
        self.owed.push_back(debt);
    }

    /// An integer answered: settled, unless it has to be repeated.
    pub(super) fn answered(&mut self, mut debt: Debt, now: Instant, pause: Duration) {
        if debt.repeat_until.is_some_and(|until| now < until) {
            // Those who wait have been told.
            debt.tells = None;
            self.retry(debt, now, pause);
        }
    }

    /// An error answered (NOREPLICAS, LOADING, a denied right): still owed, unless the key cannot
    /// be there any more.
    pub(super) fn refused(&mut self, mut debt: Debt, now: Instant, pause: Duration) {
        (debt.may_have_run, debt.by_hash) = (true, false);
        let certain_from = *debt.certain_from.get_or_insert(now);
        if now.since(certain_from) <= debt.deletion.ttl {
            self.retry(debt, now, pause);
        }
    }

    fn retry(&mut self, debt: Debt, now: Instant, pause: Duration) {
        self.owed.push_back(debt);
        self.retry_at.get_or_insert(now.after(pause));
    }

    /// A connection has opened: its predecessors are dead, as far as anybody may kill them.
    pub(super) fn opened(&mut self, now: Instant) {
        for debt in &mut self.owed {
            debt.certain_from.get_or_insert(now);
        }
    }

    /// All that is owed, to be sent now.
    pub(super) fn take(&mut self) -> VecDeque<Debt> {
        self.retry_at = None;
        std::mem::take(&mut self.owed)
    }
}
