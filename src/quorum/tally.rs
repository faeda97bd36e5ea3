//! From votes to a verdict.

use super::{Membership, NodeSet};

/// What one master's answer to an acquire is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vote {
    /// The key is set for our token.
    Granted,
    /// The master definitely did not set it.
    Refused,
    /// Timed out, connection lost, or cancelled after it may have been sent. Never helps to win,
    /// and is cleaned up as if granted.
    Unknown,
}

/// What the votes so far amount to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// A quorum of grants is still possible.
    Pending,
    /// A quorum has granted.
    Won,
    /// A quorum of grants is out of reach. Never turns back.
    Lost,
}

/// The votes of one round. A master's first vote is its only one.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    membership: Membership,
    granted: NodeSet,
    against: NodeSet,
}

impl Tally {
    pub(crate) const fn new(membership: Membership) -> Self {
        Self { membership, granted: NodeSet::EMPTY, against: NodeSet::EMPTY }
    }

    /// Counts the vote of `node`; a second vote of the same node changes nothing.
    pub(crate) fn record(&mut self, node: usize, vote: Vote) -> Verdict {
        if !self.voted().contains(node) {
            match vote {
                Vote::Granted => self.granted.insert(node),
                Vote::Refused | Vote::Unknown => self.against.insert(node),
            }
        }
        self.verdict()
    }

    /// Decided as early as it can be: won with the quorum-th grant, lost as soon as the masters
    /// that have not refused are too few, so that a tie of an even number ends at once.
    pub(crate) const fn verdict(&self) -> Verdict {
        if self.membership.is_quorum(self.granted) {
            Verdict::Won
        } else if self.membership.can_spare(self.against) {
            Verdict::Pending
        } else {
            Verdict::Lost
        }
    }

    /// The masters that have voted, whatever they said.
    const fn voted(&self) -> NodeSet {
        self.granted.union(self.against)
    }
}
