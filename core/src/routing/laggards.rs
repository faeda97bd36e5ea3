//! Laggards: masters whose answers take much longer than those of most. One that is asked first, or where waiters
//! are called, would make them all slow.
//!
//! Each client judges by the questions about its settings, so it may differ from others for a while, or for good if
//! its way to a master is another one. A laggard votes as ever.

use crate::master::{Masters, Session};
use crate::quorum::{Instant, NodeSet};
use std::time::Duration;

/// A master is a laggard if its answers take so many times as long as those of most, and so much longer; it is one
/// until half of that is over.
const TIMES: u32 = 2;
const LONGER: Duration = Duration::from_millis(5);

/// How long the latest two answers of a master took.
pub(crate) type Trips = [Duration; 2];

/// Returns which masters are laggards, by their answers, where there were two. The shorter of a laggard's is beyond the
/// longer of most: one may have been delayed, and if all become slower, not all are asked at the same time.
fn judge(before: NodeSet, trips: &[Option<Trips>]) -> NodeSet {
    let mut longer: Vec<_> =
        trips.iter().flatten().map(|[first, second]| *first.max(second)).collect();
    longer.sort_unstable();
    let Some(of_most) = longer.get(longer.len().saturating_sub(1) / 2) else {
        return NodeSet::EMPTY;
    };
    let beyond = of_most.saturating_mul(TIMES) + LONGER;
    let within = (*of_most + beyond) / 2;
    let lags = |(node, trips): (usize, &Option<Trips>)| {
        let most = if before.contains(node) { within } else { beyond };
        trips.is_some_and(|[first, second]| first.min(second) > most).then_some(node)
    };
    trips.iter().enumerate().filter_map(lags).collect()
}

impl Masters {
    /// Judges anew which masters are laggards.
    pub(crate) fn judge_laggards(&mut self) {
        let trips: Vec<_> = self.sessions.iter().map(Session::trips).collect();
        self.laggards = judge(self.laggards, &trips);
    }

    /// Returns whether a teller for `key` is the node that is asked first.
    pub(crate) fn is_first(&self, now: Instant, key: &str, teller: usize) -> bool {
        self.laggards == NodeSet::EMPTY || self.first_node(now, key) == Some(teller)
    }

    /// Returns the nodes that notify waiters for `key`, and call them: the one that is asked first, and the one
    /// that those ask first which do not find that it lags.
    pub(crate) fn tellers(&self, now: Instant, key: &str) -> NodeSet {
        let mut tellers: NodeSet = self.first_node(now, key).into_iter().collect();
        if self.laggards != NodeSet::EMPTY {
            self.first_of_all(now, key).into_iter().for_each(|node| tellers.insert(node));
        }
        tellers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lags(before: &[usize], trips: [u64; 5]) -> Vec<usize> {
        let before = before.iter().copied().collect();
        let trips = trips.map(|ms| (ms < 9_999).then(|| [Duration::from_millis(ms); 2]));
        judge(before, &trips).iter().collect()
    }

    #[test]
    fn a_master_lags_that_is_much_slower_than_most() {
        assert_eq!(lags(&[], [1, 1, 1, 1, 20]), [4]);
        assert_eq!(lags(&[], [20, 1, 30, 1, 1]), [0, 2]);
        assert_eq!(lags(&[], [1, 1, 1, 1, 7]), [0; 0], "by a moment");
        assert_eq!(lags(&[], [80, 85, 90, 110, 160]), [0; 0], "all are far away");
        assert_eq!(lags(&[], [80, 85, 90, 110, 190]), [4]);
    }

    #[test]
    fn most_masters_do_not_lag() {
        assert_eq!(lags(&[], [1, 1, 300, 300, 300]), [0; 0]);
        assert_eq!(lags(&[], [1, 300, 9_999, 9_999, 9_999]), [1]);
        assert_eq!(lags(&[], [300, 9_999, 9_999, 9_999, 9_999]), [0; 0]);
        assert_eq!(lags(&[], [9_999; 5]), [0; 0]);
    }

    #[test]
    fn no_single_answer_makes_a_laggard() {
        let ms = Duration::from_millis;
        let all = [[1, 20], [20, 1], [20, 20], [1, 20], [1, 1]];
        let slower = all.map(|trips| Some(trips.map(ms)));
        assert_eq!(judge(NodeSet::EMPTY, &slower), NodeSet::EMPTY, "all have become slower");
        let delayed = [[1, 1], [1, 1], [90, 1], [1, 1], [1, 1]].map(|trips| Some(trips.map(ms)));
        assert_eq!(judge(NodeSet::EMPTY, &delayed), NodeSet::EMPTY);
    }

    #[test]
    fn a_laggard_is_one_until_it_is_clearly_faster() {
        assert_eq!(lags(&[4], [1, 1, 1, 1, 7]), [4]);
        assert_eq!(lags(&[4], [1, 1, 1, 1, 4]), [0; 0]);
        assert_eq!(lags(&[0, 4], [7, 1, 1, 1, 9_999]), [0]);
    }
}
