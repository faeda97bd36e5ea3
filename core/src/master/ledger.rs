//! Rollbacks and releases to which one master still owes an answer.
//!
//! An integer settles a debt (the server has compared and deleted), and so does the error that something
//! of another type has the name of the key: that is not ours. Nothing else does. A debt
//! is forgotten only once nothing can be left to delete: a ttl and its drift after the moment from
//! which no SET of its attempt can arrive any more. The master's clock may be slower than ours.

use crate::quorum::Instant;
use crate::shared::{AtLeast, Keys, RoundId, Settings};
use crate::wire::waitlist::Says;
use crate::wire::{Claim, Millis};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// One compare-and-delete, shared by all masters that have to answer it. Each session packs it when
/// it is sent, in the way that its server then knows.
#[derive(Debug)]
pub(crate) struct Deletion {
    /// The keys that an attempt has set.
    pub(crate) claim: Claim,
    /// Present if the keys are of work that has ended well. Until that time is over, their life is
    /// shortened, and they are marked. So it takes the same script to delete them. Boxed: it is rare.
    pub(crate) at_least: Option<Box<AtLeast>>,
    /// Waiters in other processes are notified, for each key at one master.
    pub(crate) notifies: bool,
    /// Waiters may stand in a list, of which the next is called.
    pub(crate) calls: bool,
    /// The round that waits for the answers, if there is one.
    pub(crate) round: Option<RoundId>,
    /// No SET of the attempt was sent before this instant.
    pub(crate) began: Instant,
}

impl Deletion {
    /// Returns how long keys that stay have yet to live: nothing once they may be deleted.
    pub(crate) fn left(&self, now: Instant) -> Option<Millis> {
        let at_least = self.at_least.as_ref()?;
        Some(at_least.left(self.began, now).unwrap_or(Duration::ZERO.into()))
    }

    /// Returns the life of the keys that it deletes.
    pub(crate) const fn ttl(&self) -> Duration {
        self.claim.life.span()
    }
}

/// A deletion that one master has to answer.
#[derive(Debug)]
pub(crate) struct Debt {
    pub(crate) deletion: Arc<Deletion>,
    /// The keys whose waiters are notified, after the deletion, that they are free.
    pub(crate) tells: Option<Keys>,
    /// What the key says there, after the deletion, of whether a waiter is called.
    pub(crate) says: Says,
    /// Whether the deletion may call a script that the server is thought to know. That costs a
    /// round trip if the server does not know it.
    pub(crate) by_hash: bool,
    /// No SET of the attempt can arrive from this instant on. Everything before it has been
    /// answered, or all predecessors are dead.
    certain_from: Option<Instant>,
    /// The deletion was sent before, and it is unknown whether it was executed. If nothing is left
    /// to delete, that does not show that another client has deleted it.
    pub(crate) may_have_run: bool,
    /// An integer does not settle the debt before this instant: a predecessor that may not be
    /// killed can still deliver the SET.
    repeat_until: Option<Instant>,
}

impl Debt {
    pub(crate) const fn new(deletion: Arc<Deletion>) -> Self {
        Self {
            deletion,
            tells: None,
            says: Says::Held,
            by_hash: true,
            certain_from: None,
            may_have_run: false,
            repeat_until: None,
        }
    }

    /// Returns whether no SET of the attempt can arrive any more.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) const fn is_certain(&self) -> bool {
        self.certain_from.is_some()
    }

    /// Repeats the deletion while a predecessor lives on that may not be killed: its SET may arrive
    /// after ours. An attempt that began after the predecessor was replaced has no SET there.
    pub(crate) fn repeat_while_unkillable(&mut self, since: Option<Instant>) {
        let since = since.filter(|since| self.deletion.began <= *since);
        self.repeat_until = since.map(|since| since.after(self.deletion.ttl()));
    }
}

/// The debts of one master that are not in flight.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) owed: VecDeque<Debt>,
    /// When there is something to send again, while the connection is open.
    pub(crate) retry_at: Option<Instant>,
}

impl Ledger {
    /// Handles an integer as the answer: the debt is settled, unless it has to be repeated.
    pub(crate) fn answered(&mut self, mut debt: Debt, now: Instant, pause: Duration) {
        if debt.repeat_until.is_some_and(|until| now < until) {
            // The waiters have been notified.
            debt.tells = None;
            self.retry(debt, now, pause);
        }
    }

    /// Handles an error as the answer (NOREPLICAS, LOADING, a denied right): the debt remains,
    /// unless the key cannot be there any more.
    pub(crate) fn refused(&mut self, mut debt: Debt, now: Instant, settings: &Settings) {
        (debt.may_have_run, debt.by_hash) = (true, false);
        let certain_from = *debt.certain_from.get_or_insert(now);
        let ttl = debt.deletion.ttl();
        if now.since(certain_from) <= ttl.saturating_add(settings.drift.of(ttl)) {
            self.retry(debt, now, settings.operation_timeout);
        }
    }

    fn retry(&mut self, debt: Debt, now: Instant, pause: Duration) {
        self.owed.push_back(debt);
        self.retry_at.get_or_insert(now.after(pause));
    }

    /// Notes that a connection has opened: its predecessors are dead, as far as they may be killed.
    pub(crate) fn opened(&mut self, now: Instant) {
        for debt in &mut self.owed {
            debt.certain_from.get_or_insert(now);
        }
    }

    /// Takes all debts, to be sent now.
    pub(crate) fn take(&mut self) -> VecDeque<Debt> {
        self.retry_at = None;
        std::mem::take(&mut self.owed)
    }
}
