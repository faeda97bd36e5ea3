//! What passes on among the acquires of this process that wait for the same lock or permit.

/// How often it has passed on, and whether clients elsewhere want it.
#[derive(Default)]
pub(crate) struct Line {
    /// The number of times that what they wait for has passed on within this process.
    passed_on: u32,
    /// A client in another process is known to wait: it did when what they wait for was last published as free.
    pub(super) wanted_elsewhere: bool,
    /// Whether the next acquire here lets others go first.
    steps_back: bool,
}

impl Line {
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

    /// Returns when other processes are notified, of ten times that it passes on, and when the next
    /// acquire steps back.
    fn turns(most: u32, elsewhere: bool) -> [Vec<u32>; 2] {
        let mut line = Line { wanted_elsewhere: elsewhere, ..Line::default() };
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
