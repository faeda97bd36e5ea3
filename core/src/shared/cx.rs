//! What is handed to the owners of locks and waiters.

use super::{Event, Events, Invariant, Timers};
use crate::master::Masters;
use crate::quorum::Instant;
use crate::shelf::Shelves;
use std::sync::Arc;
use std::time::Duration;

/// What a step of an owner may use besides its own state: neither locks nor waiters.
pub(crate) struct Cx {
    /// When the event has come that is being handled.
    pub(crate) now: Instant,
    pub(crate) masters: Masters,
    /// For callers and observers.
    pub(crate) events: Events,
    pub(crate) timers: Timers,
    /// Where holds are that no guard has. Without it, what is idle stays with the coordinator.
    pub(crate) shelf: Option<Arc<dyn Shelves>>,
}

impl Cx {
    /// Ends this client unless an invariant holds.
    #[inline]
    pub(crate) fn check(&mut self, holds: bool, invariant: Invariant) {
        if !holds {
            self.events.push(Event::Broken(invariant));
        }
    }

    /// Checks the deadline of what was won by a round that has `started` then.
    pub(crate) fn check_deadline(&mut self, deadline: Instant, started: Instant, ttl: Duration) {
        let drift = self.masters.settings.drift.of(ttl);
        self.check(deadline.after(drift) <= started.after(ttl), Invariant::Deadline);
    }
}
