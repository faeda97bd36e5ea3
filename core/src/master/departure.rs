//! The end of this client: when its notes at the masters may be taken back.
//!
//! A note keeps clients with other settings away from what was sent on it. So it is taken back once
//! nothing is held or under way, and only as far as no key stays: keys of a lock that was detached or
//! forgotten, or that keeps others out for a while, keys whose deletion no master has confirmed,
//! and fences.

use super::Masters;
use crate::quorum::Instant;
use crate::wire::Claim;
use std::time::Duration;

impl Masters {
    /// Takes the notes back if this client withdraws. It holds nothing any more.
    pub(crate) fn take_notes_back(&mut self, now: Instant) {
        if self.departs {
            let owed = self.longest_life();
            let owed = if owed.is_zero() { now } else { now.after(owed) };
            let until = self.stays_until.max(owed);
            self.sessions.iter_mut().for_each(|session| session.withdraw(now, until));
        }
    }

    /// Notes that the keys of a claim stay until they expire, for `life` from now on, and its fence
    /// in any case.
    pub(crate) fn keep(&mut self, now: Instant, claim: &Claim, life: Duration) {
        let fenced = claim.ballot.as_ref().map(|_| self.settings.quarantine);
        let life = life.max(fenced.unwrap_or_default());
        self.stays_until = self.stays_until.max(now.after(life));
    }
}
