//! What tests ask of the machine.

use super::Coordinator;
use crate::lock::{Attempt, RoundKind};
use crate::master::{Judged, PendingReply, Session};
use crate::quorum::{ForeignList, Instant};
use crate::shared::{AttemptId, Invariant, Keys};
use crate::wire::Token;
use std::time::Duration;

type RestsOn<'a> = (Vec<(Option<Instant>, bool)>, Vec<&'a [ForeignList]>);

impl Coordinator {
    /// Returns the number of entries for requests, apart from debts.
    pub fn entries(&self) -> usize {
        let requests = self.at.waiters.acquisitions.len()
            + self.locks.attempts.len()
            + self.locks.rounds.len();
        let requests = requests
            + self.at.cx.masters.barrier.len()
            + self.at.waiters.listeners.len()
            + self.at.waiters.semaphores.len();
        let requests = requests + self.at.waiters.local_queue.len();
        let requests = requests + self.at.waiters.readers.len() + self.at.waiters.hints.len();
        requests + usize::from(self.at.cx.timers.next_at() < Instant::NEVER)
    }

    /// Breaks an invariant.
    pub fn break_invariant(&mut self) {
        self.at.cx.check(false, Invariant::OneHolder);
    }

    /// Returns until when a key is left to other clients, if it is.
    pub fn left_until(&self, now: Instant, key: &str) -> Option<Instant> {
        self.at.waiters.left_until(now, &Keys::one(key.into()))
    }

    /// Returns what is known of when a master votes.
    pub fn judged(&self, node: usize) -> Judged {
        self.at.cx.masters.sessions[node].judged(self.at.cx.masters.quarantine)
    }

    /// Returns whether the vote counts that the command asks for which ends here among all bytes of
    /// the connection, if it asks for one.
    pub fn counts(&self, node: usize, end: u64) -> Option<bool> {
        let pending = self.at.cx.masters.sessions[node].pending_until(end)?;
        let (PendingReply::Vote(round) | PendingReply::Conditional(round)) = pending else {
            return None;
        };
        match &self.locks.rounds.get(round.0)?.kind {
            RoundKind::Acquire { .. } => Some(true),
            RoundKind::Extend { extension, .. } => Some(!extension.warming.contains(node)),
            _ => None,
        }
    }

    /// Returns the tokens of which a release is owed at a master, and whether it is certain that
    /// nothing of them can arrive there any more.
    pub fn debts(&self, node: usize) -> impl Iterator<Item = ([u8; Token::DIGITS], bool)> {
        let debts = self.at.cx.masters.sessions[node].all_debts();
        debts.map(|debt| (debt.deletion.claim.token.digits(), debt.is_certain()))
    }

    /// Returns whether the keys of a token may exist at a master, as far as its attempt knows.
    pub fn touches(&self, node: usize, token: &[u8]) -> bool {
        let is_it = |attempt: &&Attempt| attempt.claim.token.digits() == token;
        self.locks.attempts.iter().find(is_it).is_some_and(|attempt| attempt.touched.contains(node))
    }

    /// Returns what a round for keys that live for `life` would rest on: of each master, when the question was asked
    /// that counts there, and whether the master keeps the clients away that were reported; and their lists.
    pub fn rests_on(&self, now: Instant, life: Duration) -> RestsOn<'_> {
        let masters = &self.at.cx.masters;
        let shields = masters.shields(now, life);
        let each = masters.sessions.iter().enumerate();
        let each = each.map(|(node, session)| (session.noted(now), shields.contains(node)));
        let reports = masters.sessions.iter().filter_map(Session::report);
        let others = reports.flat_map(|report| report.clients.iter().map(Vec::as_slice));
        (each.collect(), others.collect())
    }

    /// Returns the value in Redis for an attempt, while the attempt is remembered.
    pub fn token(&self, attempt: AttemptId) -> Option<String> {
        Some(
            self.locks
                .attempts
                .get(attempt.0)?
                .claim
                .value(self.at.cx.masters.settings.label.as_deref()),
        )
    }
}
