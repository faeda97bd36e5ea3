//! A master that has no connection: when it is dialled again, and whether it may answer soon. A round waits for it then,
//! as for one that was asked.
//!
//! The pause doubles with each failure. The first is spread while the others are a quorum, since all clients lose a
//! server together. A debt, a shutdown, and the loss of that quorum end the spread.

use super::time::{jittered, longest_jittered, part_of};
use super::{Debt, Session, State};
use crate::quorum::Instant;
use crate::shared::Random;
use std::time::Duration;

/// The pauses before redials: the first, and the longest.
pub(super) const REDIAL_BASE: Duration = Duration::from_millis(50);
pub(super) const REDIAL_CAP: Duration = Duration::from_secs(2);

/// When a master is dialled again.
#[derive(Clone, Copy)]
pub(super) struct Redial {
    pub(super) at: Instant,
    /// The same without the spread.
    unless_spread: Instant,
}

impl Redial {
    pub(super) const fn at(at: Instant) -> Self {
        Self { at, unless_spread: at }
    }
}

/// The last that happened to the connections of a master that has none open for votes.
#[derive(Clone, Copy)]
pub(super) enum Absence {
    /// The connection was lost then, and no redial has failed.
    Lost(Instant),
    /// A dial that began then has failed.
    Missed(Instant),
}

impl Session {
    /// Returns when the next dial is due, whether that is spread or not.
    pub(super) fn redial(&self, now: Instant, is_spread: bool, random: &mut dyn Random) -> Redial {
        let pause = REDIAL_BASE.saturating_mul(1 << self.failures.min(16)).min(REDIAL_CAP);
        let unless_spread = now.after(jittered(pause, random));
        let at = match is_spread {
            true => unless_spread.after(part_of(self.settings.redial_spread, random.jitter())),
            false => unless_spread,
        };
        Redial { at, unless_spread }
    }

    /// Ends the spread of a redial: the others are no quorum any more.
    pub(crate) fn end_spread(&mut self, now: Instant) {
        if let State::Down(redial) = &mut self.state {
            redial.at = redial.unless_spread.max(now).min(redial.at);
        }
    }

    /// Keeps a debt for the next connection, which is then wanted soon.
    pub(in crate::master) fn owe(&mut self, now: Instant, debt: Debt) {
        self.ledger.owed.push_back(debt);
        if let State::Down(redial) = &mut self.state
            && self.failures == 1
        {
            redial.at = now.after(REDIAL_BASE).min(redial.at);
        }
    }

    /// Prepares for shutdown: a master that owes something and is down is dialled at once.
    pub(crate) fn collect(&mut self, now: Instant) {
        if !self.ledger.owed.is_empty() {
            self.redial_now(now);
        }
    }

    /// Dials at once if the master is down. Returns whether a dial is due or under way.
    pub(super) fn redial_now(&mut self, now: Instant) -> bool {
        if let State::Down(redial) = &mut self.state {
            redial.at = now.min(redial.at);
        }
        matches!(self.state, State::Down(_) | State::Dialing)
    }

    /// Returns since when a master without a connection has had the time to answer a round that was asked for at
    /// `since`. `None` if a dial has failed, and began not long ago. While this process is stopped, no master has time
    /// to answer.
    pub(super) fn awaited_from(&self, now: Instant, since: Instant) -> Option<Instant> {
        match self.absence? {
            Absence::Lost(at) => Some(at.max(since)),
            Absence::Missed(dialed_at) => {
                // The next dial has failed then, too, unless this process was stopped: a connection and a
                // handshake take up to a connect timeout each.
                let dials = self.settings.connect_timeout.saturating_mul(4);
                let next_fails = dialed_at.after(longest_jittered(REDIAL_CAP) + dials);
                (now > next_fails).then_some(since)
            }
        }
    }
}
