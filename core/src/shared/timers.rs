//! The coordinator's timers, apart from the sessions' own wake-ups.

use super::{AttemptId, RequestId, RoundId};
use crate::quorum::Instant;
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// Timers of all kinds. Those that are due at the same time come in the order of these kinds.
#[derive(Default)]
pub(crate) struct Timers {
    rounds: Line<RoundId>,
    attempts: Line<RequestId>,
    deadlines: Line<AttemptId>,
    keepers: Line<AttemptId>,
    hints: Line<RequestId>,
}

impl Timers {
    /// Sets a timer. One for the end of time is not set: an acquire that waits forever takes no
    /// room here.
    pub(crate) fn set(&mut self, at: Instant, timer: Timer) {
        match timer {
            _ if at == Instant::NEVER => {}
            Timer::Round(id) => self.rounds.set(at, id),
            Timer::Attempt(id) => self.attempts.set(at, id),
            Timer::Deadline(id) => self.deadlines.set(at, id),
            Timer::Keep(id) => self.keepers.set(at, id),
            Timer::Hint(id) => self.hints.set(at, id),
        }
    }

    pub(crate) fn cancel(&mut self, at: Instant, timer: Timer) {
        match timer {
            Timer::Round(id) => self.rounds.cancel(at, id),
            Timer::Attempt(id) => self.attempts.cancel(at, id),
            Timer::Deadline(id) => self.deadlines.cancel(at, id),
            Timer::Keep(id) => self.keepers.cancel(at, id),
            Timer::Hint(id) => self.hints.cancel(at, id),
        }
    }

    /// Returns when the next timer is due.
    pub(crate) fn next_at(&self) -> Instant {
        let Self { rounds, attempts, deadlines, keepers, hints } = self;
        let asked = rounds.first_at().min(attempts.first_at()).min(hints.first_at());
        asked.min(deadlines.first_at()).min(keepers.first_at())
    }

    /// Removes and returns the next timer that is due at `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Timer> {
        let at = Some(self.next_at()).filter(|at| *at <= now)?;
        let Self { rounds, attempts, deadlines, keepers, hints } = self;
        let round = rounds.take(at).map(Timer::Round);
        let timer = round.or_else(|| attempts.take(at).map(Timer::Attempt));
        let timer = timer.or_else(|| deadlines.take(at).map(Timer::Deadline));
        let timer = timer.or_else(|| keepers.take(at).map(Timer::Keep));
        timer.or_else(|| hints.take(at).map(Timer::Hint))
    }
}

/// Timers of one kind. Nearly all of a kind have the same span, so they are set in the order in
/// which they are due. They form a line, in which nothing is moved and little is searched.
struct Line<I> {
    /// Sorted. The first has not been cancelled.
    queue: VecDeque<Entry<I>>,
    cancelled: usize,
    /// Those that were set out of order.
    others: BTreeSet<(Instant, I)>,
}

struct Entry<I> {
    at: Instant,
    id: I,
    stands: bool,
}

/// The number of cancelled timers above which a line closes up, if they outnumber the others.
const TOLERATED: usize = 64;

impl<I: Copy + Ord> Line<I> {
    fn set(&mut self, at: Instant, id: I) {
        match self.queue.back() {
            Some(last) if (last.at, last.id) >= (at, id) => match self.find(at, id) {
                Some(entry) if entry.stands => {}
                Some(entry) => {
                    entry.stands = true;
                    self.cancelled -= 1;
                }
                None => _ = self.others.insert((at, id)),
            },
            _ if self.others.contains(&(at, id)) => {}
            _ => {
                self.make_room();
                self.queue.push_back(Entry { at, id, stands: true });
            }
        }
    }

    /// Makes room for a quarter more, and does not double it: a line may be long, and stay long.
    fn make_room(&mut self) {
        let len = self.queue.len();
        if len == self.queue.capacity() {
            self.queue.reserve_exact(len / 4 + TOLERATED);
        }
    }

    fn cancel(&mut self, at: Instant, id: I) {
        match self.find(at, id) {
            Some(entry) if entry.stands => {
                entry.stands = false;
                self.cancelled += 1;
                self.close_up();
            }
            Some(_) => {}
            None => _ = self.others.remove(&(at, id)),
        }
    }

    fn first_at(&self) -> Instant {
        let queued = self.queue.front().map_or(Instant::NEVER, |entry| entry.at);
        self.others.first().map_or(queued, |(at, _)| queued.min(*at))
    }

    /// Removes and returns the first timer, if it is due at `at`.
    fn take(&mut self, at: Instant) -> Option<I> {
        let (at, id) = self.first().filter(|(first, _)| *first == at)?;
        self.cancel(at, id);
        Some(id)
    }

    fn first(&self) -> Option<(Instant, I)> {
        let queued = self.queue.front().map(|entry| (entry.at, entry.id));
        queued.into_iter().chain(self.others.first().copied()).min()
    }

    fn find(&mut self, at: Instant, id: I) -> Option<&mut Entry<I>> {
        let place =
            self.queue.binary_search_by(|entry| (entry.at, entry.id).cmp(&(at, id))).ok()?;
        self.queue.get_mut(place)
    }

    fn close_up(&mut self) {
        while self.queue.front().is_some_and(|entry| !entry.stands) {
            self.queue.pop_front();
            self.cancelled -= 1;
        }
        if self.cancelled > TOLERATED && self.cancelled > self.queue.len() / 2 {
            self.queue.retain(|entry| entry.stands);
            self.cancelled = 0;
        }
        if self.queue.capacity() > 4 * (self.queue.len() + TOLERATED) {
            self.queue.shrink_to(2 * self.queue.len());
        }
    }
}

impl<I> Default for Line<I> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), cancelled: 0, others: BTreeSet::new() }
    }
}

#[cfg(test)]
mod tests;
