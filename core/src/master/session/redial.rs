//! When a master that has no connection is dialled again.
//!
//! The pause doubles with each failure. The first is spread while the others are a quorum, since all clients lose a
//! server together. A debt, a shutdown, and the loss of that quorum end the spread.

use super::time::{jittered, part_of};
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
        self.ledger.owe(debt);
        if let State::Down(redial) = &mut self.state
            && self.failures == 1
        {
            redial.at = now.after(REDIAL_BASE).min(redial.at);
        }
    }

    /// Prepares for shutdown: a master that owes something and is down is dialled at once.
    pub(crate) fn collect(&mut self, now: Instant) {
        if self.ledger.len() > 0 {
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
}
