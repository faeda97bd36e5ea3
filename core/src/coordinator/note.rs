//! Notes for an observer: what was decided, and the standing of the masters. No decision depends on
//! any of it.

use super::round::{self, Asker, Round};
use super::session::Session;
use super::{AttemptId, Coordinator, FailureKind, FaultKind, RequestId, RoundId};
use crate::quorum::{Instant, NodeSet};
use crate::report::{NodeReport, Reason};
use crate::status::{NodeStanding, NodeStatus, Status};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// True if the machine can be watched. It is a constant: where it is false, no instruction of this
/// module remains.
pub const WATCHED: bool = cfg!(feature = "watched");

/// The level of detail of the notes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Watching {
    /// No notes are taken out, so none are made.
    #[default]
    Nothing,
    Outcomes,
    /// The outcomes, and every node's answer to each attempt.
    Votes,
}

/// A note of a decision.
#[derive(Debug)]
pub enum Note {
    Attempt {
        request: RequestId,
        /// Counted from 1.
        number: u32,
        decided: Decided,
        /// From before the first byte to the verdict.
        took: Duration,
        votes: Vec<NodeReport>,
    },
    Extension {
        attempt: AttemptId,
        by_keeper: bool,
        decided: Prolonged,
        took: Duration,
        votes: Vec<NodeReport>,
    },
    /// A node that had no key in a round that was won has been asked to set it.
    ToppedUp { attempt: AttemptId, node: Arc<str> },
}

/// The outcome of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decided {
    Won,
    /// A quorum granted when no validity was left.
    TooLate,
    Contended,
    NoQuorum,
    Disagreement,
}

/// The outcome of an extension round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prolonged {
    Extended,
    /// The old deadline still applies.
    Unconfirmed,
    Lost,
}

/// The distance of the masters that may vote from being too few.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Margin {
    /// Any one of them can be spared.
    Spare,
    /// They are a quorum, but at least one of them cannot be spared.
    Bare,
    /// They are not a quorum.
    None,
}

/// The notes that have not been taken out.
#[derive(Default)]
pub(super) struct Notes {
    watching: Watching,
    queue: VecDeque<Note>,
}

impl Notes {
    fn wanted(&self, watching: Watching) -> bool {
        WATCHED && self.watching >= watching
    }

    /// Notes that an attempt is lost.
    pub(super) fn lost(
        &mut self,
        request: RequestId,
        number: u32,
        decided: Decided,
        took: Duration,
        votes: &[NodeReport],
    ) {
        if self.wanted(Watching::Outcomes) {
            let votes = if self.wanted(Watching::Votes) { votes.to_vec() } else { Vec::new() };
            self.queue.push_back(Note::Attempt { request, number, decided, took, votes });
        }
    }

    pub(super) fn extension(
        &mut self,
        attempt: AttemptId,
        asker: Option<Asker>,
        decided: Prolonged,
        took: Duration,
        votes: impl FnOnce() -> Vec<NodeReport>,
    ) {
        if self.wanted(Watching::Outcomes)
            && let Some(asker) = asker
        {
            // Rare, and a warning: every node's answer is always worth its cost.
            let votes = if decided == Prolonged::Extended { Vec::new() } else { votes() };
            let by_keeper = asker == Asker::Keeper;
            self.queue.push_back(Note::Extension { attempt, by_keeper, decided, took, votes });
        }
    }

    pub(super) fn topped_up(&mut self, attempt: AttemptId, node: &Arc<str>) {
        if self.wanted(Watching::Outcomes) {
            self.queue.push_back(Note::ToppedUp { attempt, node: node.clone() });
        }
    }
}

impl Decided {
    /// Returns the outcome of a lost attempt. `won`: a quorum has granted, but too late.
    pub(super) const fn lost(won: bool, kind: &FailureKind) -> Self {
        match kind {
            _ if won => Self::TooLate,
            FailureKind::Contended => Self::Contended,
            FailureKind::NoQuorum => Self::NoQuorum,
            FailureKind::Disagreement(_) => Self::Disagreement,
        }
    }
}

impl Coordinator {
    /// Sets how much is noted from now on.
    pub const fn watch(&mut self, watching: Watching) {
        self.notes.watching = watching;
    }

    pub fn poll_note(&mut self) -> Option<Note> {
        self.notes.queue.pop_front()
    }

    /// Notes that the attempt of this round is about to be won.
    pub(super) fn note_won(&mut self, now: Instant, id: RoundId) {
        if !self.notes.wanted(Watching::Outcomes) {
            return;
        }
        let Some(round) = self.rounds.get(id) else { return };
        let round::Purpose::Acquire { request, .. } = round.purpose else { return };
        let number = self.acquisitions.contention(request).map_or(0, |one| one.attempts);
        let votes = match self.notes.wanted(Watching::Votes) {
            true => self.votes(round),
            false => Vec::new(),
        };
        let (decided, took) = (Decided::Won, now.since(round.started));
        self.notes.queue.push_back(Note::Attempt { request, number, decided, took, votes });
    }

    fn votes(&self, round: &Round) -> Vec<NodeReport> {
        round.reports(self.sessions.iter().map(|session| &session.name))
    }

    /// Returns the standing of `node`; `None` until it has been reached or has failed once.
    pub fn standing(&self, now: Instant, node: usize) -> Option<NodeStanding> {
        let session = self.sessions.get(node)?;
        session.settled_once.then(|| self.stands(session, now))
    }

    /// Returns the standing of every node, including one that is still being dialled for the first
    /// time.
    pub fn status(&self, now: Instant) -> Status {
        let node = |session: &Session| NodeStatus {
            node: session.name.clone(),
            standing: self.stands(session, now),
        };
        Status::new(self.settings.membership, self.sessions.iter().map(node).collect())
    }

    /// Returns whether a quorum may vote.
    pub fn can_vote(&self, now: Instant) -> bool {
        self.quorum_can_vote(now) && self.barred(now, Duration::ZERO).is_none()
    }

    /// Returns whether a quorum may vote, even if another client's settings bar it.
    pub(super) fn quorum_can_vote(&self, now: Instant) -> bool {
        self.settings.membership.is_quorum(self.voting(now))
    }

    fn voting(&self, now: Instant) -> NodeSet {
        let may_vote = |(node, session): (usize, &Session)| session.may_vote(now).then_some(node);
        self.sessions.iter().enumerate().filter_map(may_vote).collect()
    }

    /// Returns the margin; `None` until every node has been reached or has failed once.
    pub fn margin(&self, now: Instant) -> Option<Margin> {
        let voting = self.voting(now);
        let without = |node: usize| voting.difference([node].into_iter().collect());
        let membership = self.settings.membership;
        self.settled.then(|| {
            if !self.can_vote(now) {
                Margin::None
            } else if voting.iter().all(|node| membership.is_quorum(without(node))) {
                Margin::Spare
            } else {
                Margin::Bare
            }
        })
    }

    /// Returns the number of rollbacks and releases that `node` has not answered and that are not
    /// in flight to it.
    pub fn owed(&self, node: usize) -> usize {
        self.sessions.get(node).map_or(0, Session::owed)
    }

    fn stands(&self, session: &Session, now: Instant) -> NodeStanding {
        if let Some(fault) = session.fault() {
            let cause = fault.cause.clone();
            return match fault.kind {
                FaultKind::Down => NodeStanding::Down(cause),
                FaultKind::Rejected => NodeStanding::Rejected(cause),
                FaultKind::Unfit => NodeStanding::Unfit(cause),
            };
        }
        // A client that only looks disagrees with no client, and has nothing confirmed.
        let looks = self.settings.agreement.is_look();
        match (session.confirmed(now), session.warming_up(now)) {
            (Err(Reason::Disagreement(cause)), _) if !looks => NodeStanding::Disagrees(cause),
            (_, Some(remaining)) => NodeStanding::WarmingUp { remaining },
            (Err(_), None) if !looks => NodeStanding::Unconfirmed,
            (_, None) => match self.barred(now, Duration::ZERO) {
                Some(by) if !looks => NodeStanding::Barred { by },
                _ => NodeStanding::Voting,
            },
        }
    }
}
