//! How far our wall clock is from the nodes', and theirs from each other.

use super::{Membership, NodeSet, Window, fence::micros};
use std::time::Duration;

/// The clocks that the nodes told in one round. A node's first word is its only one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    told: NodeSet,
    /// Node, and what its clock is ahead of ours in microseconds: in ascending order of the latter.
    ahead: Vec<(usize, i128)>,
}

/// The nodes' clocks are so far apart that no ballot is within the window of a quorum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Apart {
    /// How far the clocks of the closest quorum are apart.
    pub(crate) spread: Duration,
}

impl Clocks {
    /// `node` said that its clock shows `node_us`, and ours showed `wall_us` when that arrived.
    pub(crate) fn record(&mut self, node: usize, node_us: u64, wall_us: u64) {
        if node < NodeSet::CAPACITY && !self.told.contains(node) {
            self.told.insert(node);
            let ahead_us = i128::from(node_us) - i128::from(wall_us);
            let place = self.ahead.partition_point(|&(_, other)| other <= ahead_us);
            self.ahead.insert(place, (node, ahead_us));
        }
    }

    /// What to add to our wall clock: the median, so that one node whose clock has stepped cannot
    /// drag it. `None` while fewer than a quorum have told.
    ///
    /// Of two in the middle it is the lower one: a ballot that is too low is only refused, one
    /// that is too high may leave its fence on a node whose clock is ahead.
    pub(crate) fn offset_us(&self, membership: Membership) -> Option<i128> {
        let middle = self.ahead.len().checked_sub(1)? / 2;
        let (_, offset_us) = *self.ahead.get(middle)?;
        membership.is_quorum(self.told).then_some(offset_us)
    }

    /// Whether no quorum fits into the window, whatever the nodes say that have told nothing yet.
    /// So this can seldom be known when a round is lost, and is to be asked once it has ended.
    pub(crate) fn apart(&self, membership: Membership, window: Window) -> Option<Apart> {
        let silent = NodeSet::first(NodeSet::CAPACITY).difference(self.told);
        let spread_us = self.closest_quorum_us(membership, silent)?;
        let too_far = spread_us > u128::from(micros(window.width()));
        let spread_us = u64::try_from(spread_us).unwrap_or(u64::MAX);
        too_far.then(|| Apart { spread: Duration::from_micros(spread_us) })
    }

    /// The shortest span that has the clocks of a quorum in it, if the silent ones are too. `None`
    /// if they are no quorum all together.
    fn closest_quorum_us(&self, membership: Membership, silent: NodeSet) -> Option<u128> {
        let spans = self.ahead.iter().enumerate().filter_map(|(first, &(_, from))| {
            let mut within = silent;
            let (_, to) = self.ahead[first..].iter().find(|&&(node, _)| {
                within.insert(node);
                membership.is_quorum(within)
            })?;
            Some(to.abs_diff(from))
        });
        spans.min()
    }
}
