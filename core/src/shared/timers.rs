//! The coordinator's timers, apart from the sessions' own wake-ups.

use super::{AttemptId, RequestId, RoundId};
use crate::quorum::Instant;
use std::collections::BTreeSet;

/// What is due. Timers that are due at the same time come in the order of these kinds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Timer {
    /// Answers that have not arrived by then are unknown.
    Round(RoundId),
    /// The next attempt of a waiting acquire.
    Attempt(RequestId),
    /// A held lock lapses, and an idle hold is released.
    Deadline(AttemptId),
    /// A keeper extends its lock.
    Keep(AttemptId),
    /// A writer that waits renews its hint.
    Hint(RequestId),
}

#[derive(Default)]
pub(crate) struct Timers(BTreeSet<(Instant, Timer)>);

impl Timers {
    /// Sets a timer. One for the end of time is not set: an acquire that waits forever takes no
    /// room here.
    pub(crate) fn set(&mut self, at: Instant, timer: Timer) {
        if at < Instant::NEVER {
            self.0.insert((at, timer));
        }
    }

    pub(crate) fn cancel(&mut self, at: Instant, timer: Timer) {
        self.0.remove(&(at, timer));
    }

    /// Returns when the next timer is due.
    pub(crate) fn next_at(&self) -> Instant {
        self.0.first().map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// Removes and returns the next timer that is due at `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Timer> {
        self.0.first().filter(|(at, _)| *at <= now)?;
        self.0.pop_first().map(|(_, timer)| timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_timers_come_in_order_and_rounds_before_deadlines() {
        let (mut timers, at) = (Timers::default(), Instant::from_nanos);
        timers.set(at(9), Timer::Deadline(AttemptId::NONE));
        timers.set(at(9), Timer::Attempt(RequestId(2)));
        timers.set(at(9), Timer::Attempt(RequestId(1)));
        timers.set(at(5), Timer::Keep(AttemptId::NONE));
        timers.set(at(7), Timer::Attempt(RequestId(3)));
        timers.set(Instant::NEVER, Timer::Hint(RequestId(4)));
        timers.cancel(at(7), Timer::Attempt(RequestId(3)));
        assert_eq!((timers.next_at(), timers.pop(at(4))), (at(5), None));
        let due: Vec<Timer> = std::iter::from_fn(|| timers.pop(at(9))).collect();
        let [first, second] = [1, 2].map(|id| Timer::Attempt(RequestId(id)));
        let [keep, deadline] = [Timer::Keep, Timer::Deadline].map(|kind| kind(AttemptId::NONE));
        assert_eq!(due, [keep, first, second, deadline]);
        assert_eq!(timers.next_at(), Instant::NEVER);
    }
}
