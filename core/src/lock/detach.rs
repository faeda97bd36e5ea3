//! The detachment: a hold becomes a value, which another process may adopt.
//!
//! A client that adopts a lock has to know that no other client has held it since it was won, and no
//! deadline of ours means anything to another process. What tells is the token: once it is gone from
//! a master, nothing sets it there again, unless a SET of ours is still on its way. So a lock is
//! detached by one last extension. On each connection its answer comes behind everything that was
//! ever sent there for the lock, and nothing is sent after it. The value names the masters whose
//! answers do not count for the adoption. One that has not answered may yet get a late SET. One that
//! was warming up may have voted for another client before it restarted: that client may win on the
//! old vote and release, and the token is there all the while.

use super::{Around, Attempt, Round, RoundKind};
use crate::quorum::{Nanos, NodeSet, Progress};
use crate::shared::{Cx, Event, Keys, RequestId};
use crate::wire::{Ballot, Claim, Millis, Token};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// A lock as a value: all that its next holder needs. The process that has it owns the lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DetachedLock {
    pub keys: Keys,
    pub token: Token,
    /// What follows the token under the keys.
    pub label: Option<Arc<str>>,
    /// What it has if it is fenced.
    pub fenced: Option<DetachedFences>,
    pub ttl: Millis,
    /// How long the keys live, unless they are released or extended.
    pub life: Millis,
    /// The time for which the keys stay if the work ends well, if there is any left.
    pub at_least: Option<Duration>,
    /// What is left of the keep-alive, if there is one.
    pub keep_alive: Option<Nanos>,
    /// The masters that may yet get a late SET, or were warming up: what they say does not count for
    /// the adoption.
    pub unsettled: Vec<Arc<str>>,
}

/// The fences of a lock as a value, and its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetachedFences {
    /// One for each key.
    pub fences: Arc<Keys>,
    /// The fencing token.
    pub number: NonZeroU64,
    /// The greatest number with which any node was asked for the keys, and may yet be: a release raises the
    /// fences to it.
    pub greatest: NonZeroU64,
}

impl DetachedFences {
    fn of(ballot: Ballot) -> Option<Self> {
        let (number, greatest) =
            (NonZeroU64::new(ballot.number)?, NonZeroU64::new(ballot.greatest)?);
        Some(Self { fences: ballot.fences, number, greatest })
    }
}

impl Attempt {
    /// Ends a hold that is given away by the last extension, which was won. It then leaves the table: no timer,
    /// no answer and no keeper finds it.
    pub(crate) fn detach(&self, at: &mut Around, request: RequestId, won: &Round) {
        let unsettled = unsettled(&at.cx, won, self);
        self.disarm(at);
        at.cx.masters.keep(at.cx.now, &self.claim, self.claim.life.span());
        let keeper = self.hold().and_then(|hold| hold.keeper);
        let (life, at_least) = (self.renewed_life(), self.rest_at(at.cx.now));
        let Claim { keys, token, ballot, .. } = self.claim.clone();
        let label = self.claim.behind_token(at.cx.masters.settings.label.as_deref()).map(Arc::from);
        let fenced = ballot.and_then(|ballot| DetachedFences::of(*ballot));
        let keep_alive = keeper.map(|keeper| keeper.left(at.cx.now));
        let unsettled =
            unsettled.iter().map(|node| at.cx.masters.sessions[node].name.clone()).collect();
        let ttl = self.ttl;
        let lock =
            DetachedLock { keys, token, label, fenced, ttl, life, at_least, keep_alive, unsettled };
        let result = Ok(Box::new(lock));
        at.cx.events.push(Event::Detached { request, attempt: self.id, result });
    }
}

/// Returns how the last extension has ended, by the masters whose answers will count for the adoption.
pub(crate) fn detachable(cx: &Cx, round: &Round, attempt: &Attempt) -> Option<Progress> {
    let RoundKind::Extend { extension, .. } = &round.kind else { return None };
    let settled = extension.clone().without(unsettled(cx, round, attempt));
    Some(settled.progress(attempt.hold()?.deadline, cx.now, cx.masters.settings.drift))
}

/// Returns the masters that may yet get a late SET, or were warming up: all but those that have replied, where no
/// connection before this one can deliver a SET.
fn unsettled(cx: &Cx, round: &Round, attempt: &Attempt) -> NodeSet {
    let delivers = |node: &usize| cx.masters.sessions[*node].may_yet_deliver(attempt.began);
    let settled = round.replied().iter().filter(|node| !delivers(node)).collect();
    let unsettled = attempt.touched.difference(settled);
    let warming = match &round.kind {
        RoundKind::Extend { extension, .. } => extension.warming(),
        _ => NodeSet::EMPTY,
    };
    unsettled.union(attempt.claim.unsettled).union(warming)
}
