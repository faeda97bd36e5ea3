//! A line: the acquires of this process that wait for the same thing, be it a lock, a permit, or to be
//! let in as readers. One acquire polls and listens for all. The others send the masters nothing.

use crate::shared::RequestId;
use std::collections::VecDeque;

/// The requests that wait, in the order in which they came, which is that of their ids.
#[derive(Default)]
pub(crate) struct Line {
    waiting: VecDeque<RequestId>,
    /// The number of times that what they wait for has passed on within this process.
    passed_on: u32,
    /// Whether a client in another process listened when that was last published as free.
    wanted_elsewhere: bool,
    /// Whether the next acquire here lets others go first.
    steps_back: bool,
}

impl Line {
    /// Returns the first that waits.
    pub(crate) fn head(&self) -> Option<RequestId> {
        self.waiting.front().copied()
    }

    /// Returns all that wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = RequestId> {
        self.waiting.iter().copied()
    }

    /// Returns whether a request waits behind another one.
    pub(crate) fn is_behind(&self, request: RequestId) -> bool {
        self.waiting.binary_search(&request).is_ok_and(|place| place > 0)
    }

    /// Lets a request wait.
    pub(crate) fn enter(&mut self, request: RequestId) {
        if let Err(place) = self.waiting.binary_search(&request) {
            self.waiting.insert(place, request);
        }
    }

    /// Removes a request that no longer waits. Returns whether it was the first.
    pub(crate) fn leave(&mut self, request: RequestId) -> bool {
        let place = self.waiting.binary_search(&request);
        place.is_ok_and(|place| self.waiting.remove(place).is_some() && place == 0)
    }

    /// Notes whether a client in another process listened when what they wait for was published as
    /// free.
    pub(crate) const fn heard(&mut self, elsewhere: bool) {
        self.wanted_elsewhere = elsewhere;
    }

    /// Notes that what they wait for passes on within this process, `most` times in a row. Returns whether to notify
    /// waiters in other processes. Otherwise there is nothing for them to get. Now and then they are notified
    /// nevertheless, to find out whether there are any.
    pub(crate) const fn pass_on(&mut self, most: u32) -> bool {
        self.passed_on = self.passed_on.wrapping_add(1);
        let tell = self.passed_on.is_multiple_of(most);
        if tell {
            self.steps_back = self.wanted_elsewhere;
        }
        tell
    }

    /// Returns whether what they wait for may pass on within this process without the masters: unless it is
    /// the turn of a client in another process that is known to wait.
    pub(crate) const fn may_pass_on_warm(&self, most: u32) -> bool {
        let next = self.passed_on.wrapping_add(1);
        !(self.wanted_elsewhere && next.is_multiple_of(most))
    }

    /// Notes that it has passed on so.
    pub(crate) const fn passed_on_warm(&mut self) {
        self.passed_on = self.passed_on.wrapping_add(1);
    }

    /// Returns whether a client in another process is known to wait.
    pub(crate) const fn is_wanted_elsewhere(&self) -> bool {
        self.wanted_elsewhere
    }

    /// Makes the next time that it passes on the one at which others are notified.
    pub(crate) const fn notify_next(&mut self, most: u32) {
        self.passed_on = most.wrapping_sub(1);
    }

    /// Returns, once, whether the next acquire lets others go first.
    pub(crate) const fn steps_back(&mut self) -> bool {
        std::mem::replace(&mut self.steps_back, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiting::tuning::{LOCKS_IN_A_ROW, PERMITS_IN_A_ROW};

    fn line(waiting: impl IntoIterator<Item = u64>) -> Line {
        let mut line = Line::default();
        waiting.into_iter().for_each(|request| line.enter(RequestId(request)));
        line
    }

    #[test]
    fn the_oldest_request_is_the_head_and_the_others_are_behind_it() {
        let mut line = line([5, 7, 2, 5]);
        assert!(line.waiting().eq([2, 5, 7].map(RequestId)));
        assert_eq!(
            [2, 5, 6, 7].map(|id| line.is_behind(RequestId(id))),
            [false, true, false, true]
        );
        assert_eq!([5, 2, 2].map(|id| line.leave(RequestId(id))), [false, true, false]);
        assert_eq!(line.head(), Some(RequestId(7)));
    }

    /// Returns when other processes are notified, of ten times that it passes on, and when the next
    /// acquire steps back.
    fn turns(most: u32, elsewhere: bool) -> [Vec<u32>; 2] {
        let mut line = line([]);
        line.heard(elsewhere);
        let turn = |_| [line.pass_on(most), line.steps_back()];
        let turns = (1..=10).map(turn).collect::<Vec<_>>();
        [0, 1].map(|of| (1..).zip(&turns).filter(|(_, turn)| turn[of]).map(|(at, _)| at).collect())
    }

    #[test]
    fn after_some_times_in_a_row_others_are_notified_and_earlier_listeners_go_first() {
        assert_eq!(turns(LOCKS_IN_A_ROW, false), [vec![8], vec![]]);
        assert_eq!(turns(LOCKS_IN_A_ROW, true), [vec![8], vec![8]]);
        assert_eq!(turns(PERMITS_IN_A_ROW, true), [vec![4, 8], vec![4, 8]]);
    }
}
