//! Whether a master may vote yet.

use super::Session;
use super::identity::Persistence;
use crate::coordinator::fault::Fault;
use crate::coordinator::{RestartGuard, Settings};
use crate::quorum::{Instant, standing};
use crate::report::Reason;
use std::time::Duration;

/// The part of a node in an attempt.
pub(in crate::coordinator) enum Part {
    Vote,
    /// The SET counts for nothing, but the key will be there when the master votes again.
    Uncounted(Reason),
    /// Nothing is sent.
    Absent(Reason),
}

impl Session {
    /// Judges anew what the server has told: from when does it vote?
    ///
    /// Never from earlier than was judged before: its uptime follows its wall clock, which may be
    /// set forward. Set back, it does not count against a process that was met long enough ago.
    pub(in crate::coordinator) fn judge_standing(&mut self, now: Instant, settings: &Settings) {
        if self.is_trusted(settings) {
            return;
        }
        let quarantine = settings.quarantine;
        let at_the_latest = now.after(quarantine);
        let known_since = match (&self.met, &self.identity.run_id) {
            (Some((last, since)), Some(run_id)) if last == run_id => Some(*since),
            _ => None,
        };
        let told = match self.identity.uptime {
            Some((heard, uptime)) => {
                let told = standing::votes_from(heard, uptime, quarantine);
                known_since.map_or(told, |since| told.min(since.after(quarantine)))
            }
            // It was judged by what it told when it was opened.
            None if self.is_open() => self.votes_from,
            None => at_the_latest,
        };
        // Another server under the same address: nobody knows what the one before it had granted.
        let replaced = match (&self.met, &self.identity.run_id) {
            (Some((last, _)), Some(run_id)) if last != run_id => at_the_latest,
            _ => told,
        };
        self.votes_from = self.votes_from.max(told).max(replaced);
        if let (Some(run_id), None) = (&self.identity.run_id, known_since) {
            self.met = Some((run_id.clone(), now));
        }
        self.warming = self.votes_from > now;
    }

    /// A master that cannot forget need not wait.
    fn is_trusted(&self, settings: &Settings) -> bool {
        match settings.restart_guard {
            RestartGuard::On => false,
            RestartGuard::Off => true,
            RestartGuard::TrustPersistence => self.identity.persistence == Persistence::Durable,
        }
    }

    /// The server contradicts the trust that was put in its persistence.
    pub(in crate::coordinator) fn distrust(&self, settings: &Settings) -> Option<Fault> {
        let trust = settings.restart_guard == RestartGuard::TrustPersistence;
        match &self.identity.persistence {
            Persistence::Volatile(problem) if trust => Some(Fault::unfit(format!(
                "{problem}, and trust_persistence needs appendonly yes, appendfsync always and \
                 no-appendfsync-on-rewrite no"
            ))),
            _ => None,
        }
    }

    /// What a SET of `len` bytes that is sent now would bring.
    pub(in crate::coordinator) fn part(&self, len: usize, now: Instant) -> Part {
        match (self.admits(len), self.warming_up(now)) {
            (Ok(()), None) => Part::Vote,
            (Ok(()), Some(remaining)) => Part::Uncounted(Reason::WarmingUp { remaining }),
            (Err(reason), _) => Part::Absent(reason),
        }
    }

    /// Whether a vote that is asked for now would count.
    pub(in crate::coordinator) fn may_vote(&self, now: Instant) -> bool {
        self.is_open() && self.warming_up(now).is_none()
    }

    /// How long it has yet to wait until it may vote; `None` if it may.
    pub(in crate::coordinator) fn warming_up(&self, now: Instant) -> Option<Duration> {
        (now < self.votes_from).then(|| self.votes_from.since(now))
    }
}
