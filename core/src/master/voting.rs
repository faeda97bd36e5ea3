//! Which masters vote, and whether a client may run with them.

use super::{Fault, FaultKind, Masters, Session};
use crate::quorum::{Admission, Instant, NodeSet, admit};
use std::time::Duration;

impl Masters {
    /// Decides whether a client that has met each master for the first time may run. Other clients with
    /// other lists refuse it exactly where they would bar it while it runs: such a client may win at
    /// masters that are not ours, so even a master without a vote that reports it is believed. Other
    /// numbers cost the vote of the master that reports them, and a master that has none has nothing to
    /// lose by them; all masters wait for the greater `D` whoever reports it.
    pub fn admission(&self, now: Instant, strict: bool) -> Admission {
        let is_unfit = |fault: &Fault| fault.kind != FaultKind::Down;
        let unfit =
            NodeSet::places(&self.sessions, |session| session.fault.as_ref().is_some_and(is_unfit));
        // A client that only looks disagrees with no client.
        let looks = self.settings.agreement.looks;
        let disagrees =
            |session: &Session| !looks && session.fault.is_none() && session.report().is_some();
        let disagreeing = NodeSet::places(&self.sessions, disagrees);
        let ours = self.settings.agreement.numbers();
        let mut reports = disagreeing.iter().filter_map(|node| self.sessions[node].report());
        let at_odds = reports.any(|report| report.theirs != ours)
            || !looks && self.barred(now, Duration::ZERO).is_some();
        admit(self.settings.membership, unfit, disagreeing, at_odds, strict)
    }

    /// Returns whether a quorum may vote.
    pub fn can_vote(&self, now: Instant) -> bool {
        let looks = self.settings.agreement.looks;
        self.quorum_can_vote(now) && (looks || self.barred(now, Duration::ZERO).is_none())
    }

    /// Returns whether a quorum may vote, even if another client's settings bar it.
    pub(crate) fn quorum_can_vote(&self, now: Instant) -> bool {
        self.settings.membership.is_quorum(self.voting(now))
    }

    /// Returns the masters that vote; for a client that only looks, those whose reports count.
    pub(crate) fn voting(&self, now: Instant) -> NodeSet {
        let looks = self.settings.agreement.looks;
        // A client that rests asks before it acquires.
        let votes = |session: &Session| {
            session.is_reliable(now) && (looks || session.confirmed_or_rests(now).is_ok())
        };
        NodeSet::places(&self.sessions, votes)
    }
}
