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

use super::attempt::{Attempt, Hold, Stage};
use super::release::disarm;
use super::round::RoundKind;
use super::timers::Timer;
use super::wire::{Claim, Millis, Token};
use super::{
    AttemptId, Coordinator, Event, KeepAlive, Keys, NotExtended, RequestId, RoundId, barrier,
};
use crate::quorum::{Instant, NodeSet, Progress};
use crate::report::LossReason;
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
        self.begin_detach(now, request, attempt);
        self.serve_waiting(now);
    }

    fn begin_detach(&mut self, now: Instant, request: RequestId, id: AttemptId) {
        let Some(life) = self.life_of_hold(now, request, id) else { return };
        if !self.is_held_up(now, life.span(), barrier::Round::Detach(request, id)) {
            self.begin_detachment(now, request, id);
        }
    }

    /// Returns how long the keys of a hold live. If it is no longer held, `request` is answered.
    fn life_of_hold(&mut self, now: Instant, request: RequestId, id: AttemptId) -> Option<Millis> {
        self.lapse_if_due(now, id);
        let held = self.attempts.get(id).filter(|attempt| attempt.held().is_some());
        let life = held.map(|attempt| attempt.claim.life);
        if life.is_none() {
            self.answer_not_detached(request, id, NotExtended::Lost);
        }
        life
    }

    /// Begins the last extension, without anything to wait for first. From here on neither the
    /// keeper nor a straggler of an earlier extension acts on the hold: what they might send would
    /// follow the last extension.
    pub(super) fn begin_detachment(&mut self, now: Instant, request: RequestId, id: AttemptId) {
        if self.life_of_hold(now, request, id).is_none() {
            return;
        }
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        if let Stage::Held(hold) = &attempt.stage {
            let leaving = *hold;
            if let Some(at) = hold.extend_at {
                self.timers.cancel(at, Timer::Keep(id));
            }
            attempt.stage = Stage::Leaving(Box::new(leaving));
        }
        let kind = |extension| RoundKind::Detach { request, attempt: id, extension };
        if let Some(round) = self.extend_everywhere(now, id, kind) {
            self.judge_detach(now, round);
        }
    }

    /// Judges the round by the answers so far. The value is better the more masters have answered,
    /// so all of them are waited for.
    pub(super) fn judge_detach(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Detach { request, attempt: attempt_id, extension } = &round.kind else {
            return;
        };
        let (request, attempt_id) = (*request, *attempt_id);
        let Some((attempt, hold)) = self.attempts.get(attempt_id).and_then(Attempt::leaving) else {
            // Released or lapsed in the meantime.
            self.close_round(id);
            return self.answer_not_detached(request, attempt_id, NotExtended::Lost);
        };
        let (deadline, drift) = (hold.deadline, self.settings.drift);
        let is_lost = extension.progress(deadline, now, drift) == Progress::Lost;
        if !is_lost && !round.is_complete() {
            return;
        }
        let unsettled = attempt.touched.difference(self.settled(attempt, round.replied()));
        let unsettled = unsettled.union(attempt.claim.unsettled).union(extension.warming());
        let progress = extension.clone().without(unsettled).progress(deadline, now, drift);
        let reports = round.reports(self.sessions.iter().map(|session| &session.name));
        self.close_round(id);
        match progress {
            Progress::Extended(_) => self.detach(now, request, attempt_id, unsettled),
            Progress::Lost => {
                let reason = match now >= deadline {
                    true => LossReason::Lapsed,
                    false => LossReason::QuorumGone(reports),
                };
                self.return_hold(attempt_id);
                self.lose_hold(attempt_id, reason);
                self.answer_not_detached(request, attempt_id, NotExtended::Lost);
            }
            Progress::Pending | Progress::Unconfirmed => {
                self.return_hold(attempt_id);
                self.keep_again(now, attempt_id);
                let result = NotExtended::Unconfirmed(reports);
                self.answer_not_detached(request, attempt_id, result);
            }
        }
    }

    /// Returns those that `replied` where no connection before this one can deliver a SET.
    fn settled(&self, attempt: &Attempt, replied: NodeSet) -> NodeSet {
        let delivers = |node: &usize| self.sessions[*node].may_yet_deliver(attempt.began);
        replied.difference(replied.iter().filter(delivers).collect())
    }

    /// Ends a hold that is given away. It is not in the tables any more: no timer, no answer and no
    /// keeper finds it.
    fn detach(&mut self, now: Instant, request: RequestId, id: AttemptId, unsettled: NodeSet) {
        let Some(attempt) = self.attempts.remove(id) else { return };
        disarm(&mut self.timers, &mut self.local_queue, id, &attempt);
        self.stays(now, &attempt, attempt.claim.life.span());
        let keeper = attempt.leaving().and_then(|(_, hold)| hold.keeper);
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

    /// Makes a hold that was about to leave what it was before, and one whose downgrade was under way
    /// a reader's.
    pub(super) fn return_hold(&mut self, id: AttemptId) {
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        let hold = match &attempt.stage {
            Stage::Leaving(hold) => **hold,
            Stage::Downgrading(downgrade) => {
                self.local_queue.leave(&attempt.claim.keys, id);
                downgrade.hold
            }
            _ => return,
        };
        attempt.stage = Stage::Held(hold);
    }

    fn answer_not_detached(&mut self, request: RequestId, attempt: AttemptId, why: NotExtended) {
        self.events.push(Event::Detached { request, attempt, result: Err(why) });
    }
}

impl Attempt {
    /// Returns the attempt and its hold while its last extension is under way.
    pub(super) const fn leaving(&self) -> Option<(&Self, &Hold)> {
        match &self.stage {
            Stage::Leaving(hold) => Some((self, hold)),
            _ => None,
        }
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
