//! The effect of one extension round on a lock that is held.
//!
//! Each rule is listed in `proof/model/results.md`, with the shortest way to two holders that a model checker
//! found without it. An extension sets nothing and shortens nothing. It counts only masters that
//! answered *held* before the old deadline, and that could vote when they were asked.

use super::{ClockDrift, Instant, Membership, NodeSet, validity};
use std::time::Duration;

/// A master's report on our key in an extension round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Report {
    /// Our token is there, and its life was prolonged.
    Held,
    /// No key is there.
    Vacant,
    /// Another client's token is there.
    Taken,
    /// Silence, or any error.
    Unknown,
}

/// The result of an extension round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Not decided yet.
    Pending,
    /// A quorum holds our token: the deadline moves here.
    Extended(Instant),
    /// No quorum answered, but it may still hold: the old deadline stays, nothing is destroyed.
    Unconfirmed,
    /// A quorum can no longer hold our token: lost, for good and at once.
    Lost,
}

impl Progress {
    /// Returns the result in a word, as events and metrics name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Extended(_) => "extended",
            Self::Unconfirmed => "unconfirmed",
            Self::Lost => "lost",
        }
    }
}

/// One extension round. A master's first report is its only one.
#[derive(Clone, Debug)]
pub struct Extension {
    membership: Membership,
    started: Instant,
    ttl: Duration,
    /// Masters that were warming up when they were asked: their reports count as unknown.
    pub(crate) warming: NodeSet,
    held: NodeSet,
    vacant: NodeSet,
    taken: NodeSet,
    unknown: NodeSet,
}

impl Extension {
    pub const fn new(
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

    /// Notes the report of `node`; a second report of the same node changes nothing.
    pub fn record(&mut self, node: usize, report: Report) {
        if !self.reported().contains(node) {
            match report {
                Report::Held => self.held.insert(node),
                Report::Vacant => self.vacant.insert(node),
                Report::Taken => self.taken.insert(node),
                Report::Unknown => self.unknown.insert(node),
            }
        }
    }

    /// Returns the result of the round at `now`, for a lock that is held until `deadline`.
    pub fn progress(&self, deadline: Instant, now: Instant, drift: ClockDrift) -> Progress {
        self.judge(Some(deadline), NodeSet::EMPTY, now, drift)
    }

    /// Returns the result of the round at `now` for a lock that another process has detached, and
    /// that is held here from this round on only: it has no deadline before that. A report of
    /// `never` counts for nothing, however often they are asked. A late SET of that process may have
    /// set the key there again, after others had the lock in between, or others have had it by a vote of
    /// theirs that they have forgotten.
    pub fn adopted(&self, never: NodeSet, now: Instant, drift: ClockDrift) -> Progress {
        self.judge(None, never, now, drift)
    }

    fn judge(
        &self,
        held_until: Option<Instant>,
        never: NodeSet,
        now: Instant,
        drift: ClockDrift,
    ) -> Progress {
        let held = self.held.difference(self.warming).difference(never);
        let gone = self.vacant.union(self.taken).difference(self.warming).union(never);
        let unknown = self.unknown.union(self.warming);
        if held_until.is_some_and(|until| now >= until) || !self.membership.can_spare(gone) {
            Progress::Lost
        } else if self.membership.is_quorum(held) {
            let extended = validity::deadline(self.started, now, self.ttl, drift);
            extended.max(held_until).map_or(Progress::Unconfirmed, Progress::Extended)
        } else if self.membership.can_spare(gone.union(unknown)) {
            Progress::Pending
        } else {
            Progress::Unconfirmed
        }
    }

    /// Returns the round without the reports of `nodes`: they count as unknown.
    #[must_use]
    pub const fn without(mut self, nodes: NodeSet) -> Self {
        self.warming = self.warming.union(nodes);
        self
    }

    /// Returns the masters that have reported *vacant*. This includes those that are warming up, so that
    /// they are topped up, and have the key when they vote again.
    #[cfg(test)]
    pub const fn vacant(&self) -> NodeSet {
        self.vacant
    }

    /// Returns the masters that are asked for the key once the round is won: those that have reported
    /// *vacant*, and those that have reported *taken*. Another client that is refused by the rest takes
    /// its key back in a moment, and this one may come first.
    pub const fn lacking(&self) -> NodeSet {
        self.vacant.union(self.taken)
    }

    /// Returns the masters that have reported, whatever they reported.
    const fn reported(&self) -> NodeSet {
        self.held.union(self.vacant).union(self.taken).union(self.unknown)
    }
}
