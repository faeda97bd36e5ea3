//! What has been, as far as it binds what may come.

use super::client::Held;
use crate::quorum::Instant;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct History {
    /// The greatest fencing token of each resource.
    greatest: BTreeMap<String, u64>,
    /// Locks whose resources are closed after their loss, and until when.
    closed: Vec<(Held, Instant)>,
    /// Tokens of those from whom the lock was taken away: their holders learn of it later.
    forced: BTreeSet<String>,
    /// Tokens whose keys nobody deletes: they stay for a lock-delay, or were left.
    kept: BTreeSet<String>,
}

impl History {
    /// A lock was won. Its number is above all that were won before it, and the resource was open.
    pub(super) fn won(&mut self, now: Instant, held: &Held, ballot: u64) -> Result<(), String> {
        let (token, forced) = (&held.token, self.was_forced(&held.token));
        if (ballot != 0) != held.asked.fenced {
            return Err(format!("{token} was won with the ballot {ballot}"));
        }
        for key in &held.asked.keys {
            let closed = self.closed.iter().find(|(lost, until)| {
                let closes = lost.asked.keys.contains(key) && now < *until;
                closes && !self.was_forced(&lost.token)
            });
            if let Some((lost, until)) = closed {
                let (left, lost) = (until.since(now), &lost.token);
                return Err(format!("{token} has {key}, closed for {left:?} yet by {lost}"));
            }
            // Taken away before its holder knew of it, it is told behind the one after it.
            let greatest = self.greatest.entry(key.clone()).or_default();
            if ballot != 0 && ballot <= *greatest && !forced {
                return Err(format!("{token} has {key} with {ballot}, not above {greatest}"));
            }
            *greatest = ballot.max(*greatest);
        }
        Ok(())
    }

    /// Told lost before its guard was gone. Clocks run at different speeds: of the delay a little
    /// may be missing, as of the ttl, which the drift pays for.
    pub(super) fn lost(&mut self, held: &Held) {
        let delay = held.asked.lock_delay;
        if !delay.is_zero() {
            self.closed.push((held.clone(), held.deadline.after(delay - delay / 100)));
        }
    }

    pub(super) fn force(&mut self, token: &str) {
        self.forced.insert(token.to_owned());
    }

    pub(super) fn was_forced(&self, token: &str) -> bool {
        self.forced.contains(token)
    }

    pub(super) fn keep(&mut self, token: &str) {
        self.kept.insert(token.to_owned());
    }

    /// Whether a key that stands once everybody has gone is an orphan.
    pub(super) fn is_orphan(&self, key: &str, value: &str) -> bool {
        !key.starts_with(FENCE) && !self.kept.contains(value)
    }
}

/// Before each fence's key.
pub(super) const FENCE: &str = "fence:";
