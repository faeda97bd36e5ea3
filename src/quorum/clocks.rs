//! How far our wall clock is from the nodes', and theirs from each other.

use super::{Membership, NodeSet, Window, fence::micros};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The clocks that the nodes told in one round. A node's first word is its only one; a grant is less
/// than a word, and says something, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    told: NodeSet,
    /// Node, and what its clock is ahead of ours in microseconds.
    ahead: Vec<(usize, i128)>,
    /// Node, and from where to where that must be: it has let a ballot in.
    bounded: Vec<(usize, [i128; 2])>,
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
        if !self.told.contains(node) {
            self.told.insert(node);
            let ahead_us = i128::from(node_us) - i128::from(wall_us);
            self.ahead.push((node, ahead_us));
        }
    }

    /// `node` has let `ballot` in, at a time at which our wall clock showed `wall_us`, from when it was
    /// asked until it answered: its clock is no farther from the ballot than the window allows.
    pub(crate) fn record_grant(
        &mut self,
        node: usize,
        ballot: u64,
        window: Window,
        wall_us: RangeInclusive<u64>,
    ) {
        let known = self.bounded.iter().any(|&(other, _)| other == node);
        if !known {
            let ballot = i128::from(ballot);
            let least = ballot - i128::from(micros(window.ahead)) - i128::from(*wall_us.end());
            let most = ballot + i128::from(micros(window.back)) - i128::from(*wall_us.start());
            self.bounded.push((node, [least, most]));
        }
    }

    /// What to add to our wall clock: the median, so that one node whose clock has stepped cannot
    /// drag it. A node that has granted is where it is nearest to those that have told: a ballot that
    /// only some let in would otherwise be proposed again and again. `None` while none has told, or
    /// fewer than a quorum have said anything.
    ///
    /// Of two in the middle it is the lower one: a ballot that is too low is only refused, one
    /// that is too high may leave its fence on a node whose clock is ahead.
    pub(crate) fn offset_us(&self, membership: Membership) -> Option<i128> {
        let mut heard = self.told;
        let mut clocks: Vec<i128> = self.ahead.iter().map(|&(_, ahead)| ahead).collect();
        clocks.sort_unstable();
        let told = lower_middle(&clocks)?;
        for (node, [least, most]) in self.only_bounded() {
            heard.insert(node);
            clocks.push(told.max(least).min(most));
        }
        clocks.sort_unstable();
        lower_middle(&clocks).filter(|_| membership.is_quorum(heard))
    }

    /// Those that have granted and told nothing.
    fn only_bounded(&self) -> impl Iterator<Item = (usize, [i128; 2])> {
        self.bounded.iter().copied().filter(|&(node, _)| !self.told.contains(node))
    }

    /// Whether no quorum fits into the window, whatever the nodes say that have told nothing yet.
    /// So this can seldom be known when a round is lost, and is to be asked once it has ended.
    pub(crate) fn apart(&self, membership: Membership, window: Window) -> Option<Apart> {
        let spread_us = self.closest_quorum_us(membership)?;
        let too_far = spread_us > u128::from(micros(window.width()));
        let spread_us = u64::try_from(spread_us).unwrap_or(u64::MAX);
        too_far.then(|| Apart { spread: Duration::from_micros(spread_us) })
    }

    /// The shortest span that may have the clocks of a quorum in it, if the silent ones are too.
    /// `None` if all are silent.
    fn closest_quorum_us(&self, membership: Membership) -> Option<u128> {
        let told = self.ahead.iter().map(|&(node, ahead)| (node, [ahead, ahead]));
        let mut clocks: Vec<(usize, [i128; 2])> = told.chain(self.only_bounded()).collect();
        clocks.sort_by_key(|&(_, [least, _])| least);
        let heard: NodeSet = clocks.iter().map(|&(node, _)| node).collect();
        let silent = NodeSet::first(NodeSet::CAPACITY).difference(heard);
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
