//! The rule for when a master may vote, and the room for further commands: what a slow one can pile up is bounded.

use super::Persistence;
use crate::master::{Fault, RestartGuard, Session};
use crate::quorum::Instant;
use crate::quorum::standing::Start;
use crate::report::Refusal;
use std::sync::Arc;
use std::time::Duration;

/// The most bytes of unanswered commands that a master may have outstanding. Beyond that, SETs are
/// refused in this process; extensions, rollbacks and releases never are.
pub(crate) const LARGEST_QUEUE: usize = 1 << 20;

/// The same while the master answers later than in an operation timeout.
const QUEUE_OF_LAGGARD: usize = LARGEST_QUEUE >> 4;

/// Debts of one master beyond which it gets no new SETs, since each may become another debt.
pub(crate) const LARGEST_LEDGER: usize = 1 << 16;

impl Session {
    /// Judges again, from what the server has reported, from when it votes.
    ///
    /// This is never earlier than was judged before: the uptime follows the server's wall clock,
    /// which may be set forward. A clock that was set back does not count against a process that
    /// was first met long enough ago. A server that has started does not vote for `quarantine`.
    pub(crate) fn judge_standing(&mut self, now: Instant, quarantine: Duration) {
        if self.is_trusted() {
            return self.meet(now);
        }
        let just_now = Start::at(now);
        let known_since = match (&self.met, &self.identity.facts.run_id) {
            (Some((last, since)), Some(run_id)) if last == run_id => Some(*since),
            _ => None,
        };
        let reported = match self.identity.uptime {
            Some((heard, uptime)) => {
                let start = Start::reported(heard, uptime);
                known_since.map_or(start, |since| start.min(Start::at(since)))
            }
            // The server was judged by its report when the session was opened.
            None if self.is_open() => self.start.unwrap_or(just_now),
            None => just_now,
        };
        // Another server under the same address: the grants of the one before it are unknown.
        let replaced = if self.is_new() { just_now } else { reported };
        self.start = self.start.max(Some(reported)).max(Some(replaced));
        self.meet(now);
        self.wait_for(now, quarantine);
    }

    /// Remembers the server process, if it differs from the last one. One that does not identify itself has no
    /// name: a process with a name may then be another one.
    fn meet(&mut self, now: Instant) {
        let run_id = self.identity.facts.run_id.clone();
        let is_other = |last: &Arc<str>| run_id.as_ref().is_some_and(|run_id| last != run_id);
        if self.met.as_ref().is_none_or(|(last, _)| is_other(last)) {
            self.met = Some((run_id.unwrap_or_default(), now));
        }
    }

    /// Returns whether the server process differs from the last one.
    fn is_new(&self) -> bool {
        let both = self.met.as_ref().zip(self.identity.facts.run_id.as_ref());
        both.is_some_and(|((last, _), run_id)| last != run_id)
    }

    /// Returns whether this is the server process that was met under this address before, or the
    /// first one. A server that does not identify its process may be any.
    fn is_known(&self) -> bool {
        self.identity.facts.run_id.is_some() && !self.is_new()
    }

    /// Sets how long a server that has started does not vote.
    pub(crate) fn wait_for(&mut self, now: Instant, quarantine: Duration) {
        self.votes_from = self.start.map(|start| start.votes_from(quarantine)).unwrap_or_default();
        self.warming = self.votes_from > now;
    }

    /// Returns whether the master need not wait: it cannot forget. Another process under a known
    /// address shows that it has the memory of the one before: clients note each process in it. A new
    /// machine has none, whatever its settings, its uptime and its clock.
    fn is_trusted(&self) -> bool {
        match self.settings.restart_guard {
            RestartGuard::On => false,
            RestartGuard::Off => true,
            RestartGuard::TrustPersistence => {
                let durable = self.identity.facts.configured == Some(Persistence::EveryWrite);
                durable && (self.is_known() || self.identity.remembers)
            }
        }
    }

    /// Returns a fault if the server contradicts the trust that was put in its persistence.
    pub(crate) fn distrust(&self) -> Option<Fault> {
        let trusts = self.settings.restart_guard == RestartGuard::TrustPersistence;
        let weakness = self.identity.facts.weakness().filter(|_| trusts)?;
        Some(Fault::unfit(format!(
            "{weakness}, and a restart_guard that trusts persistence needs appendonly yes, appendfsync always and \
             no-appendfsync-on-rewrite no"
        )))
    }

    /// Checks whether a SET of `len` bytes would be sent now, and its vote would count. If we are
    /// `barred`, none is sent anywhere. Nothing of an attempt that may lose is in the way of the holder
    /// where a master warms up: it needs its key back before that master votes again. The winner brings
    /// its own.
    pub(crate) fn takes(
        &self,
        len: usize,
        now: Instant,
        barred: Option<&Arc<str>>,
    ) -> Result<(), Refusal> {
        self.admits(len)?;
        if self.is_behind(now, len) {
            return Err(Refusal::QueueFull);
        }
        self.may_ask(now, barred)?;
        self.warming_up(now).map_or(Ok(()), |remaining| Err(Refusal::WarmingUp { remaining }))
    }

    /// Checks whether a command would be sent now for a hold of which the keys live for `life`. No number of other
    /// commands prevents that. An answer that takes longer than the keys live is of no use, nor is one behind it.
    pub(crate) fn takes_for_hold(
        &self,
        life: Duration,
        now: Instant,
        barred: Option<&Arc<str>>,
    ) -> Result<(), Refusal> {
        match &self.fault {
            Some(fault) => Err(fault.refusal()),
            None if self.lags_for(now) >= life => Err(Refusal::QueueFull),
            None => self.may_ask(now, barred),
        }
    }

    fn may_ask(&self, now: Instant, barred: Option<&Arc<str>>) -> Result<(), Refusal> {
        self.confirmed(now)?;
        if self.departure.leaves.is_some() {
            return Err(Refusal::Unconfirmed);
        }
        barred.map_or(Ok(()), |by| Err(Refusal::Barred { by: by.clone() }))
    }

    /// Returns whether a vote that is asked for now would count.
    pub(crate) fn may_vote(&self, now: Instant) -> bool {
        self.is_reliable(now) && self.confirmed(now).is_ok()
    }

    /// Returns whether the master's reports on keys count: it is connected, and remembers what it has
    /// granted. A client that may not ask it for a vote may rely on them all the same: one that only looks,
    /// or one that other clients keep away.
    pub(crate) fn is_reliable(&self, now: Instant) -> bool {
        self.is_open() && self.warming_up(now).is_none()
    }

    /// Returns the remaining time until the master may vote; `None` if it may vote now.
    pub(crate) fn warming_up(&self, now: Instant) -> Option<Duration> {
        (now < self.votes_from).then(|| self.votes_from.since(now))
    }

    /// Checks whether a command that is neither a debt nor for a hold would be sent now.
    pub(crate) fn admits(&self, len: usize) -> Result<(), Refusal> {
        let is_full = self.pipe.due_bytes + len > LARGEST_QUEUE || self.debts() >= LARGEST_LEDGER;
        match &self.fault {
            None if is_full => Err(Refusal::QueueFull),
            None => Ok(()),
            Some(fault) => Err(fault.refusal()),
        }
    }

    /// Returns whether so much is on its way to a master that answers: then it is this client that is too fast, and
    /// what would soon be refused waits.
    pub(crate) fn is_busy(&self, now: Instant) -> bool {
        let is_full =
            self.pipe.due_bytes >= LARGEST_QUEUE / 8 * 7 || self.pipe.debts_due >= LARGEST_LEDGER;
        is_full && self.fault.is_none() && self.silent_for(now) < self.settings.operation_timeout
    }

    /// Returns for how long the server has owed its next answer, whether or not it has given others meanwhile.
    pub(super) fn lags_for(&self, now: Instant) -> Duration {
        self.pipe.owed_since().map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Returns whether a SET of `len` bytes would wait behind more than a master has to do that answers too late:
    /// if it is ever needed for a quorum, it need not make up for much.
    pub(super) fn is_behind(&self, now: Instant, len: usize) -> bool {
        self.pipe.due_bytes + len > QUEUE_OF_LAGGARD
            && self.lags_for(now) > self.settings.operation_timeout
    }
}
