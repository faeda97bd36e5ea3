//! What has to happen when, apart from the sessions' own wake-ups.

use super::{AttemptId, RequestId, RoundId};
use crate::quorum::Instant;
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Timer {
    /// Answers that have not come by then are unknown.
    Round(RoundId),
    /// The next attempt of an acquire that waits.
    Attempt(RequestId),
    /// A held lock lapses.
    Deadline(AttemptId),
    /// A held lock is extended by its keeper.
    Keep(AttemptId),
}

#[derive(Default)]
pub(super) struct Timers(BTreeSet<(Instant, Timer)>);

impl Timers {
    pub(super) fn set(&mut self, at: Instant, timer: Timer) {
        self.0.insert((at, timer));
    }

    pub(super) fn cancel(&mut self, at: Instant, timer: Timer) {
        self.0.remove(&(at, timer));
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        self.0.first().map(|(at, _)| *at)
    }

    /// The next timer that is due at `now`.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Timer> {
        self.next_at().filter(|at| *at <= now)?;
        self.0.pop_first().map(|(_, timer)| timer)
    }
}
