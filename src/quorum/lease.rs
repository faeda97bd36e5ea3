//! What one extension round does to a lock that is held.
//!
//! The rules, each with the shortest way to two holders that a model checker found without it
//! (`SAFETY.md`): an extension sets nothing, shortens nothing, and counts only what answered
//! *held* before the old deadline, from masters that could vote when they were asked.

use super::{Drift, Instant, Membership, NodeSet, validity};
use std::time::Duration;

/// What one master says of our key in an extension round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Report {
    /// Our token is there, and its life was prolonged.
    Held,
    /// No key is there.
    Vacant,
    /// Somebody else's token is there.
    Taken,
    /// Silence, or any error.
    Unknown,
}

/// What an extension round has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// Neither way yet.
    Pending,
    /// A quorum holds our token: the deadline moves here.
    Extended(Instant),
    /// No quorum answered, but it may still hold: the old deadline stays, nothing is destroyed.
    Unconfirmed,
    /// A quorum can no longer hold our token: lost, for good and at once.
    Lost,
}

/// One extension round. A master's first report is its only one.
#[derive(Clone, Debug)]
pub(crate) struct Extension {
    membership: Membership,
    started: Instant,
    ttl: Duration,
    /// They were warming up when they were asked: whatever they say is unknown.
    warming: NodeSet,
    held: NodeSet,
    vacant: NodeSet,
    taken: NodeSet,
    unknown: NodeSet,
}

impl Extension {
    pub(crate) const fn new(
        membership: Membership,
        started: Instant,
        ttl: Duration,
        warming: NodeSet,
    ) -> Self {
        Self {
            membership,
            started,
            ttl,
            warming,
            held: NodeSet::EMPTY,
            vacant: NodeSet::EMPTY,
            taken: NodeSet::EMPTY,
            unknown: NodeSet::EMPTY,
        }
    }

    /// Notes what `node` said; a second report of the same node changes nothing.
    pub(crate) fn record(&mut self, node: usize, report: Report) {
        if !self.reported().contains(node) {
            match report {
                Report::Held => self.held.insert(node),
                Report::Vacant => self.vacant.insert(node),
                Report::Taken => self.taken.insert(node),
                Report::Unknown => self.unknown.insert(node),
            }
        }
    }

    /// What the round has come to at `now`, for a lock that is held until `deadline`.
    pub(crate) fn progress(&self, deadline: Instant, now: Instant, drift: Drift) -> Progress {
        let held = self.held.difference(self.warming);
        let gone = self.vacant.union(self.taken).difference(self.warming);
        let unknown = self.unknown.union(self.warming);
        if now >= deadline || !self.membership.can_spare(gone) {
            Progress::Lost
        } else if self.membership.is_quorum(held) {
            match validity::deadline(self.started, now, self.ttl, drift) {
                Some(extended) => Progress::Extended(extended.max(deadline)),
                None => Progress::Extended(deadline),
            }
        } else if self.membership.can_spare(gone.union(unknown)) {
            Progress::Pending
        } else {
            Progress::Unconfirmed
        }
    }

    /// The masters that have said *vacant*: once the round is won they are topped up. Those that
    /// are warming up as well, so that they have the key when they vote again.
    pub(crate) const fn vacant(&self) -> NodeSet {
        self.vacant
    }

    pub(crate) const fn is_warming(&self, node: usize) -> bool {
        self.warming.contains(node)
    }

    /// The masters that have reported, whatever they said.
    const fn reported(&self) -> NodeSet {
        self.held.union(self.vacant).union(self.taken).union(self.unknown)
    }
}
