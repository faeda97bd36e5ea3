//! The coordinator's timers, apart from the sessions' own wake-ups.

use super::{AttemptId, RequestId, RoundId};
use crate::quorum::Instant;
use std::collections::{BTreeSet, VecDeque};

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

/// The number of rounds for whose timers room is kept after a burst.
const KEPT: usize = 1 << 10;

/// Nearly all rounds have the same span, and few are open at a time: their timers form a sorted line, in which
/// little is moved. Each lock sets two of them.
#[derive(Default)]
pub(crate) struct Timers {
    rounds: VecDeque<(Instant, RoundId)>,
    others: BTreeSet<(Instant, Timer)>,
}

impl Timers {
    /// Sets a timer. One for the end of time is not set: an acquire that waits forever takes no
    /// room here.
    pub(crate) fn set(&mut self, at: Instant, timer: Timer) {
        match timer {
            _ if at == Instant::NEVER => {}
            Timer::Round(id) if self.rounds.back() < Some(&(at, id)) => {
                self.rounds.push_back((at, id));
            }
            Timer::Round(id) => {
                let place = self.rounds.partition_point(|before| *before < (at, id));
                self.rounds.insert(place, (at, id));
            }
            timer => _ = self.others.insert((at, timer)),
        }
    }

    pub(crate) fn cancel(&mut self, at: Instant, timer: Timer) {
        match timer {
            Timer::Round(id) if self.rounds.front() == Some(&(at, id)) => {
                self.rounds.pop_front();
            }
            Timer::Round(id) => {
                let place = self.rounds.binary_search(&(at, id)).ok();
                place.into_iter().for_each(|place| _ = self.rounds.remove(place));
            }
            timer => _ = self.others.remove(&(at, timer)),
        }
        if self.rounds.is_empty() {
            self.rounds.shrink_to(KEPT);
        }
    }

    /// Returns when the next timer is due.
    pub(crate) fn next_at(&self) -> Instant {
        let round_at = self.rounds.front().map_or(Instant::NEVER, |(at, _)| *at);
        self.others.first().map_or(round_at, |(at, _)| round_at.min(*at))
    }

    /// Removes and returns the next timer that is due at `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Timer> {
        let at = Some(self.next_at()).filter(|at| *at <= now)?;
        if self.rounds.front().is_some_and(|(round_at, _)| *round_at == at) {
            return self.rounds.pop_front().map(|(_, id)| Timer::Round(id));
        }
        self.others.pop_first().map(|(_, timer)| timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Table;

    #[test]
    fn due_timers_come_in_order_and_rounds_before_deadlines() {
        let (mut timers, at) = (Timers::default(), Instant::from_nanos);
        let mut table = Table::<()>::default();
        let rounds = [(); 4].map(|()| Timer::Round(RoundId(table.reserve())));
        [9, 11, 9, 10].into_iter().zip(rounds).for_each(|(due, round)| timers.set(at(due), round));
        timers.cancel(at(11), rounds[1]);
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
        assert_eq!(due, [keep, rounds[0], rounds[2], first, second, deadline]);
        assert_eq!((timers.next_at(), timers.pop(at(10))), (at(10), Some(rounds[3])));
        assert_eq!((timers.next_at(), timers.pop(at(99))), (Instant::NEVER, None));
    }
}
