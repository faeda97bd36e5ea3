//! The end of this client: when its notes at the masters may be taken back.
//!
//! A note keeps clients with other settings away from what was sent on it. So it is taken back once
//! nothing is held or under way, and only as far as no key stays: keys of a lock that was detached or
//! forgotten, or that keeps others out for a while, keys whose deletion no master has confirmed,
//! and fences.

use super::attempt::Attempt;
use super::{Coordinator, Session};
use crate::quorum::Instant;
use std::time::Duration;

#[derive(Default)]
pub(super) struct Departure {
    /// No round begins any more.
    has_begun: bool,
    /// When the last of the keys and fences expire that this client does not delete.
    stays_until: Instant,
}

impl Coordinator {
    /// Withdraws this client. Nothing more will be asked of this machine: it shuts down, there is
    /// evidence of a mistake in its setup, or no caller waits for it any more. Its notes at the masters
    /// are taken back, and so is any note that it may yet make.
    pub fn handle_withdraw(&mut self, now: Instant) {
        self.departure.has_begun = true;
        self.withdraw(now);
    }

    /// Takes the notes back if this client withdraws and holds nothing any more.
    #[inline]
    pub(super) fn withdraw(&mut self, now: Instant) {
        if self.departure.has_begun && self.attempts.len() == 0 {
            let owed = self.sessions.iter().map(Session::longest_life).max().unwrap_or_default();
            let owed = if owed.is_zero() { now } else { now.after(owed) };
            let until = self.departure.stays_until.max(owed);
            let Self { sessions, settings, .. } = self;
            sessions.iter_mut().for_each(|session| session.withdraw(now, settings, until));
        }
    }

    /// Notes that the keys of an attempt stay until they expire, for `life` from now on, and its fence
    /// in any case.
    pub(super) fn stays(&mut self, now: Instant, attempt: &Attempt, life: Duration) {
        let fenced = attempt.claim.ballot.as_ref().map(|_| self.settings.quarantine);
        let life = life.max(fenced.unwrap_or_default());
        self.departure.stays_until = self.departure.stays_until.max(now.after(life));
    }
}
