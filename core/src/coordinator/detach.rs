//! The detachment: a hold becomes a value, which another process may adopt.
//!
//! The one who adopts a lock has to know that no other client has held it since it was won, and no
//! deadline of ours means anything to another process. What tells is the token: once it is gone from
//! a master, nothing sets it there again, unless a SET of ours is still on its way. So a lock is
//! detached by one last extension. On each connection its answer comes behind everything that was
//! ever sent there for the lock, and nothing is sent after it. The value names the masters whose
//! answers do not count for the adoption. One that has not answered may yet get a late SET. One that
//! was warming up may have voted for another client before it restarted: that client may win on the
//! old vote and release, and the token is there all the while.

use super::attempt::{Attempt, Stage};
use super::purpose::{Change, Purpose};
use super::release::disarm;
use super::round::{Round, RoundKind};
use super::wire::{Claim, Millis, Token};
use super::{AttemptId, Coordinator, Event, KeepAlive, Keys, RequestId, RoundId};
use crate::quorum::{Instant, NodeSet, Progress};
use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// A lock as a value: all that its next holder needs. Who has it owns the lock.
#[derive(Clone, PartialEq, Eq)]
pub struct DetachedLock {
    pub keys: Keys,
    pub token: Token,
    /// What follows the token under the keys.
    pub label: Option<Arc<str>>,
    /// The fence of each key, and the fencing token, if there is one.
    pub fenced: Option<(Arc<Keys>, NonZeroU64)>,
    pub ttl: Millis,
    /// How long the keys live, unless they are released or extended.
    pub life: Millis,
    /// The time for which the keys stay if the work ends well, if there is any left.
    pub at_least: Option<Duration>,
    /// What is left of the keep-alive, if there is one.
    pub keep_alive: Option<KeepAlive>,
    /// The masters that may yet get a late SET, or were warming up: what they say does not count for
    /// the adoption.
    pub unsettled: Vec<Arc<str>>,
}

impl Coordinator {
    /// Detaches a hold. It is held until the answer to `request`, and over from then on, unless the
    /// answer is that too few masters have confirmed.
    pub fn handle_detach(&mut self, now: Instant, request: RequestId, attempt: AttemptId) {
        self.begin_extend(now, attempt, Purpose::Detach(request));
        self.serve_waiting(now);
    }

    /// Takes a hold from the keeper and from stragglers of earlier extensions: what they might send would
    /// follow the last extension.
    pub(super) fn prepare_detach(&mut self, id: AttemptId) {
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        if let Some(hold) = attempt.take_from_keeper(&mut self.timers, id) {
            attempt.stage = Stage::Changing(Box::new(Change::Detach(hold)));
        }
    }

    /// Returns how the last extension has ended, by the masters whose answers will count for the adoption.
    pub(super) fn detachable(
        &self,
        now: Instant,
        round: &Round,
        attempt: &Attempt,
    ) -> Option<Progress> {
        let RoundKind::Extend { extension, .. } = &round.kind else { return None };
        let settled = extension.clone().without(self.unsettled(round, attempt));
        Some(settled.progress(attempt.hold()?.deadline, now, self.settings.drift))
    }

    /// Returns the masters that may yet get a late SET, or were warming up.
    fn unsettled(&self, round: &Round, attempt: &Attempt) -> NodeSet {
        let unsettled = attempt.touched.difference(self.settled(attempt, round.replied()));
        let warming = match &round.kind {
            RoundKind::Extend { extension, .. } => extension.warming(),
            _ => NodeSet::EMPTY,
        };
        unsettled.union(attempt.claim.unsettled).union(warming)
    }

    /// Returns those that `replied` where no connection before this one can deliver a SET.
    fn settled(&self, attempt: &Attempt, replied: NodeSet) -> NodeSet {
        let delivers = |node: &usize| self.sessions[*node].may_yet_deliver(attempt.began);
        replied.difference(replied.iter().filter(delivers).collect())
    }

    /// Ends a hold that is given away. It is not in the tables any more: no timer, no answer and no
    /// keeper finds it.
    pub(super) fn detach(
        &mut self,
        now: Instant,
        request: RequestId,
        round: RoundId,
        id: AttemptId,
    ) {
        let (Some(won), Some(attempt)) = (self.rounds.get(round), self.attempts.get(id)) else {
            return;
        };
        let unsettled = self.unsettled(won, attempt);
        let Some(attempt) = self.attempts.remove(id) else { return };
        disarm(&mut self.timers, &mut self.local_queue, id, &attempt);
        self.stays(now, &attempt, attempt.claim.life.span());
        let keeper = attempt.hold().and_then(|hold| hold.keeper);
        let (life, at_least) = (attempt.renewed_life(), attempt.rest_at(now));
        let Attempt { claim, ttl, .. } = attempt;
        let label = claim.behind_token(self.settings.label.as_ref());
        let Claim { keys, token, ballot, .. } = claim;
        let fenced = ballot.and_then(|one| Some((one.fences, NonZeroU64::new(one.number)?)));
        let keep_alive = keeper.map(|keeper| KeepAlive::left(keeper, now));
        // Another process may release it, which knows of no queue.
        let keys = keys.without_queue();
        let unsettled = unsettled.iter().map(|node| self.sessions[node].name.clone()).collect();
        let lock =
            DetachedLock { keys, token, label, fenced, ttl, life, at_least, keep_alive, unsettled };
        let result = Ok(Box::new(lock));
        self.events.push(Event::Detached { request, attempt: id, result });
    }
}

/// Without the token: who has it owns the lock.
impl fmt::Debug for DetachedLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetachedLock")
            .field("keys", &self.keys)
            .field("fenced", &self.fenced)
            .field("ttl", &self.ttl)
            .field("life", &self.life)
            .field("unsettled", &self.unsettled)
            .finish_non_exhaustive()
    }
}
