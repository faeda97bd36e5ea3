//! The verdict from the votes of a round.

use super::{Membership, NodeSet};

/// The worth of one master's answer to an acquire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vote {
    /// The key is set for our token.
    Granted,
    /// The master definitely did not set it.
    Refused,
    /// Timed out, connection lost, or cancelled after it may have been sent. Never helps to win,
    /// and is rolled back as if granted.
    Unknown,
}

/// The result of the votes so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A quorum of grants is still possible.
    Pending,
    /// A quorum has granted.
    Won,
    /// A quorum of grants is out of reach. Never turns back.
    Lost,
}

/// The votes of one round. A master's first vote is its only one.
#[derive(Clone, Debug)]
pub struct Tally {
    membership: Membership,
    granted: NodeSet,
    against: NodeSet,
}

impl Tally {
    pub const fn new(membership: Membership) -> Self {
        Self { membership, granted: NodeSet::EMPTY, against: NodeSet::EMPTY }
    }

    /// Counts the vote of `node`; a second vote of the same node changes nothing.
    pub fn record(&mut self, node: usize, vote: Vote) -> Verdict {
        if !self.granted.union(self.against).contains(node) {
            match vote {
                Vote::Granted => self.granted.insert(node),
                Vote::Refused | Vote::Unknown => self.against.insert(node),
            }
        }
        self.verdict()
    }

    /// Returns the verdict, as early as it can be decided: won with the quorum-th grant, lost as
    /// soon as the masters that have not refused are too few. So a tie of an even number ends at
    /// once.
    pub fn verdict(&self) -> Verdict {
        if self.membership.is_quorum(self.granted) {
            Verdict::Won
        } else if self.membership.can_spare(self.against) {
            Verdict::Pending
        } else {
            Verdict::Lost
        }
    }
}
