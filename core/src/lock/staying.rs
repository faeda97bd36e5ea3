//! What an attempt knows of the time that its keys stay after work that has ended well.

use super::{Attempt, Locks};
use crate::quorum::Instant;
use crate::shared::{AtLeast, AttemptId};
use crate::wire::Millis;
use std::time::Duration;

/// What an attempt knows of the time that its keys stay.
pub(crate) struct Staying {
    pub(super) at_least: AtLeast,
    /// How long the keys live after an extension.
    renewed: Millis,
    /// The work has ended well.
    ended_well: bool,
}

impl Staying {
    /// Boxed, since few attempts have one.
    pub(crate) fn of(at_least: Option<AtLeast>, renewed: Millis) -> Option<Box<Self>> {
        at_least.map(|at_least| Box::new(Self { at_least, renewed, ended_well: false }))
    }
}

impl Locks {
    /// Notes that the work of a hold has ended well.
    pub(crate) fn end_well(&mut self, id: AttemptId) {
        let held = self.attempts.get_mut(id.0);
        if let Some(staying) = held.and_then(|attempt| attempt.staying.as_mut()) {
            staying.ended_well = true;
        }
    }
}

impl Attempt {
    /// Returns what is left of the time that the keys stay.
    pub(crate) fn rest_at(&self, now: Instant) -> Option<Duration> {
        let staying = self.staying.as_ref()?;
        staying.at_least.rest(self.began, now).map(|rest| rest.span)
    }

    /// Returns how long the keys live after an extension.
    pub(crate) fn renewed_life(&self) -> Millis {
        self.staying.as_ref().map_or(self.claim.life, |staying| staying.renewed)
    }

    /// Returns how long keys live that are set at `now`: those of a node that has lost them.
    pub(crate) fn life_at(&self, now: Instant) -> Millis {
        let left = self.staying.as_ref().and_then(|staying| staying.at_least.left(self.began, now));
        let renewed = self.renewed_life();
        left.map_or(renewed, |left| left.max(renewed))
    }

    /// Returns whether the keys stay when the hold is given up at `now`.
    pub(crate) fn stays(&self, now: Instant) -> bool {
        let staying = self.staying.as_ref().filter(|staying| staying.ended_well);
        staying.is_some_and(|staying| staying.at_least.left(self.began, now).is_some())
    }
}
