//! The standing of the masters, for callers and observers.

use super::{Margin, NodeStanding, NodeStatus, Status};
use crate::master::{FaultKind, Masters, Session};
use crate::quorum::Instant;
use crate::report::Refusal;
use std::sync::Arc;
use std::time::Duration;

impl Masters {
    /// Returns the standing of `node`; `None` until it has been reached or has failed once.
    pub fn standing(&self, now: Instant, node: usize) -> Option<NodeStanding> {
        let session = self.sessions.get(node)?;
        session.was_tried.then(|| self.stands(session, now))
    }

    /// Returns the standing of every node, including one that is still being dialled for the first
    /// time.
    pub fn status(&self, now: Instant) -> Status {
        let node = |session: &Session| NodeStatus {
            node: session.name.clone(),
            standing: self.stands(session, now),
            not_renewed: session.renewal.problem.as_ref().filter(|_| session.is_open()).cloned(),
        };
        Status::new(self.settings.membership, self.sessions.iter().map(node).collect())
    }

    /// Returns each master that has reported clients with other settings, whether or not it has a vote,
    /// and what it has reported, with the remedy.
    pub fn reports(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.sessions.iter().filter_map(|session| Some((&session.name, &session.report()?.cause)))
    }

    /// Returns the margin; `None` until every node has been reached or has failed once.
    pub fn margin(&self, now: Instant) -> Option<Margin> {
        let voting = self.voting(now);
        let without = |node: usize| voting.difference([node].into_iter().collect());
        let membership = self.settings.membership;
        self.connected.then(|| {
            if !self.can_vote(now) {
                Margin::None
            } else if voting.iter().all(|node| membership.is_quorum(without(node))) {
                Margin::Spare
            } else {
                Margin::Bare
            }
        })
    }

    /// Returns why the credentials for `node` could not be renewed, if they could not.
    pub fn renewal_problem(&self, node: usize) -> Option<&Arc<str>> {
        self.sessions.get(node)?.renewal.problem.as_ref()
    }

    /// Returns the number of rollbacks and releases that `node` has not answered and that are not
    /// in flight to it.
    pub fn owed(&self, node: usize) -> usize {
        self.sessions.get(node).map_or(0, Session::owed)
    }

    fn stands(&self, session: &Session, now: Instant) -> NodeStanding {
        if let Some(fault) = &session.fault {
            let cause = fault.cause.clone();
            return match fault.kind {
                FaultKind::Down => NodeStanding::Down(cause),
                FaultKind::Rejected => NodeStanding::Rejected(cause),
                FaultKind::Unfit => NodeStanding::Unfit(cause),
            };
        }
        // A client that only looks disagrees with no client, and has nothing confirmed.
        let looks = self.settings.agreement.looks;
        match (session.confirmed_or_rests(now), session.warming_up(now)) {
            (Err(Refusal::Disagreement(cause)), _) if !looks => NodeStanding::Disagrees(cause),
            (_, Some(remaining)) => NodeStanding::WarmingUp { remaining },
            (Err(_), None) if !looks => NodeStanding::Unconfirmed,
            (_, None) => match self.barred(now, Duration::ZERO) {
                Some(by) if !looks => NodeStanding::Barred { by },
                _ => NodeStanding::Voting,
            },
        }
    }
}
