//! The distance of our wall clock from the nodes' clocks, and of those from each other.

use super::fence::micros;
use super::{FencingWindow, Membership, NodeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The clocks that the nodes reported in one round. Only a node's first report counts. A grant
/// reports less than a clock, but it reports something, too.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    reported: NodeSet,
    /// Node, and the bounds of how far its clock is ahead of ours, in microseconds. They are equal if it has reported
    /// its clock, and apart if it has let a ballot in.
    ahead: Vec<(usize, [i128; 2])>,
}

/// The nodes' clocks are so far apart that no ballot is within the window of a quorum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Apart {
    /// The distance between the clocks of the closest quorum.
    pub spread: Duration,
}

impl Clocks {
    /// Notes that `node` reported the clock `node_us`, and that ours showed `wall_us` when that
    /// arrived.
    pub fn record(&mut self, node: usize, node_us: u64, wall_us: u64) {
        if !self.reported.contains(node) {
            self.reported.insert(node);
            let ahead_us = i128::from(node_us) - i128::from(wall_us);
            self.ahead.retain(|&(other, _)| other != node);
            self.ahead.push((node, [ahead_us; 2]));
        }
    }

    /// Notes that `node` has let `ballot` in, while our wall clock showed `wall_us`, from when it
    /// was asked until it answered. Its clock is no farther from the ballot than the window allows.
    pub fn record_grant(
        &mut self,
        node: usize,
        ballot: u64,
        window: FencingWindow,
        wall_us: RangeInclusive<u64>,
    ) {
        let known = self.ahead.iter().any(|&(other, _)| other == node);
        if !known {
            let ballot = i128::from(ballot);
            let least = ballot - i128::from(micros(window.ahead)) - i128::from(*wall_us.end());
            let most = ballot + i128::from(micros(window.back)) - i128::from(*wall_us.start());
            self.ahead.push((node, [least, most]));
        }
    }

    /// Returns what to add to our wall clock: the median, so that one node whose clock has stepped
    /// cannot drag it. A node that has only granted is placed where it is nearest to those that
    /// have reported a clock. Otherwise a ballot that only some let in would be proposed again and
    /// again. `None` while no node has reported a clock, or fewer than a quorum have reported
    /// anything.
    ///
    /// Of two in the middle, the lower one is used. A ballot that is too low is only refused; one
    /// that is too high may leave its fence on a node whose clock is ahead.
    pub fn offset_us(&self, membership: Membership) -> Option<i128> {
        let reported = self.ahead.iter().filter(|(node, _)| self.reported.contains(*node));
        let mut clocks: Vec<i128> = reported.map(|(_, [ahead, _])| *ahead).collect();
        clocks.sort_unstable();
        let middle = lower_middle(&clocks)?;
        let nearest = |(_, [least, most]): &(usize, [i128; 2])| middle.max(*least).min(*most);
        clocks = self.ahead.iter().map(nearest).collect();
        clocks.sort_unstable();
        lower_middle(&clocks).filter(|_| membership.is_quorum(self.heard()))
    }

    /// Returns the nodes that have reported anything.
    fn heard(&self) -> NodeSet {
        self.ahead.iter().map(|&(node, _)| node).collect()
    }

    /// Returns the spread if no quorum fits into the window, whatever clocks the other nodes may
    /// still report. This is seldom known when a round is lost, so ask once the round has ended.
    pub fn apart(&self, membership: Membership, window: FencingWindow) -> Option<Apart> {
        let spread_us = self.closest_quorum_us(membership)?;
        let too_far = spread_us > u128::from(micros(window.width()));
        let spread_us = u64::try_from(spread_us).unwrap_or(u64::MAX);
        too_far.then(|| Apart { spread: Duration::from_micros(spread_us) })
    }

    /// Returns the shortest span that may contain the clocks of a quorum, if the silent nodes are
    /// within it. `None` if all are silent.
    fn closest_quorum_us(&self, membership: Membership) -> Option<u128> {
        let mut clocks = self.ahead.clone();
        clocks.sort_by_key(|&(_, [least, _])| least);
        let silent = NodeSet::first(NodeSet::CAPACITY).difference(self.heard());
        let spans = clocks.iter().filter_map(|&(_, [_, from])| {
            let mut within = silent;
            let (_, [to, _]) =
                clocks.iter().filter(|(_, [_, most])| *most >= from).find(|clock| {
                    within.insert(clock.0);
                    membership.is_quorum(within)
                })?;
            Some(to.saturating_sub(from).max(0).unsigned_abs())
        });
        spans.min()
    }
}

fn lower_middle(ascending: &[i128]) -> Option<i128> {
    ascending.get(ascending.len().checked_sub(1)? / 2).copied()
}
