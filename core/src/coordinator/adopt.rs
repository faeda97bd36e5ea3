//! The adoption: a value that another process has detached becomes a hold of this one.
//!
//! It is an extension and no new vote. The token was won elsewhere, and a quorum that still holds it
//! and has prolonged it now excludes all others. Before that round is won, the lock is not held
//! here: there is no deadline. A round that is not won deletes nothing. The value goes back to the
//! caller, who may try again or pass it on, and a deletion would end the lock of the one who has it then.

use super::at_least::{AtLeast, Staying};
use super::attempt::{Attempt, Hold, Stage};
use super::fencing::KEPT_LONGER;
use super::label::Label;
use super::purpose::{Change, Purpose};
use super::release::disarm;
use super::timers::Timer;
use super::wire::{Ballot, Claim};
use super::{AttemptId, Coordinator, DetachedLock, Event, KeepAlive, RequestId};
use crate::quorum::{Instant, NodeSet};
use crate::report::{LossReason, NodeReport};

/// An adoption that is not decided.
pub(super) struct Adoption {
    request: RequestId,
    keep_alive: Option<KeepAlive>,
}

/// A lock that was adopted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adopted {
    pub attempt: AttemptId,
    pub deadline: Instant,
    /// Whether that is the end of the keep-alive.
    pub is_last: bool,
}

/// The reason why a lock was not adopted. Nothing was deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAdopted {
    /// A guard of this machine has one of the keys, or is about to have it.
    HeldHere,
    /// A quorum no longer holds the token, or its keep-alive is over.
    Lost(LossReason),
    /// Too few nodes have confirmed. Another try may succeed.
    Unconfirmed(Vec<NodeReport>),
}

impl NotAdopted {
    /// Returns the reason in a word, as events and metrics name it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::HeldHere => "held_here",
            Self::Lost(_) => "lost",
            Self::Unconfirmed(_) => "unconfirmed",
        }
    }

    /// Returns what every node has said.
    pub fn nodes(&self) -> &[NodeReport] {
        match self {
            Self::Lost(LossReason::QuorumGone(nodes)) | Self::Unconfirmed(nodes) => nodes,
            Self::HeldHere | Self::Lost(_) => &[],
        }
    }
}

impl Coordinator {
    /// Adopts a lock: extends it, and then holds it. `handle_cancel` ends that.
    pub fn handle_adopt(&mut self, now: Instant, request: RequestId, lock: DetachedLock) {
        self.begin_adopt(now, request, lock);
        self.serve_waiting(now);
    }

    /// Releases a lock that was detached, and that is in no other hands. If `adopting` it is not
    /// decided, that ends.
    pub fn handle_give_back(
        &mut self,
        now: Instant,
        lock: DetachedLock,
        adopting: Option<RequestId>,
    ) {
        if !adopting.is_some_and(|request| self.cancel_adopt(now, request)) {
            let attempt = self.detached_attempt(now, lock, Stage::Asked);
            self.give_back(now, attempt, None);
        }
        self.serve_waiting(now);
    }

    fn begin_adopt(&mut self, now: Instant, request: RequestId, lock: DetachedLock) {
        if self.local_queue.is_held(&lock.keys) {
            let result = Err(NotAdopted::HeldHere);
            return self.events.push(Event::Adopted { request, result });
        }
        let change = Change::Adopt(Adoption { request, keep_alive: lock.keep_alive });
        let attempt = self.detached_attempt(now, lock, Stage::Changing(Box::new(change)));
        let id: AttemptId = self.attempts.reserve();
        self.local_queue.occupy(&attempt.claim.keys, id);
        self.attempts.insert(id, attempt);
        self.adopting.insert(request, id);
        self.begin_extend(now, id, Purpose::Adopt);
    }

    /// Builds the attempt of a token that was drawn elsewhere: its keys may be anywhere.
    fn detached_attempt(&mut self, now: Instant, lock: DetachedLock, stage: Stage) -> Attempt {
        let DetachedLock { keys, token, label, fenced, ttl, life, at_least, unsettled, .. } = lock;
        let kept = self.settings.quarantine.saturating_add(KEPT_LONGER);
        let window = self.settings.window;
        let ballot = fenced.map(|(fences, number)| {
            let number = number.get();
            self.ballots.learn_fence(number);
            Box::new(Ballot { fences, number, greatest: number, window, kept })
        });
        let sessions = self.sessions.iter().enumerate();
        let unsettled = sessions.filter(|(_, session)| unsettled.contains(&session.name));
        let unsettled = unsettled.map(|(node, _)| node).collect();
        // Ours does not follow this token, even if there is none.
        let label = Some(Label::of_holder(label.as_deref().unwrap_or_default()).into());
        let at_least = at_least.map(|span| AtLeast::new(span, self.settings.drift));
        let staying = Staying::of_adopted(at_least, life);
        let life = at_least.map_or(life, |at_least| life.max(at_least.life()));
        Attempt {
            claim: Claim { keys, token, life, ballot, label, unsettled, place: None },
            staying,
            ttl,
            began: now,
            touched: NodeSet::first(self.sessions.len()),
            stage,
        }
    }

    /// Turns the adoption into a hold, after a round that began at `started` was won. Returns `false` if its
    /// keep-alive is over.
    pub(super) fn adopt(
        &mut self,
        now: Instant,
        id: AttemptId,
        started: Instant,
        deadline: Instant,
    ) -> bool {
        let Some(attempt) = self.attempts.get_mut(id) else { return false };
        let Some(adoption) = attempt.adoption() else { return false };
        let request = adoption.request;
        let keeper = adoption.keep_alive.map(|keep_alive| keep_alive.keeper(started));
        let deadline = keeper.map_or(deadline, |keeper| keeper.cap(deadline));
        if deadline <= now {
            self.refuse(now, id, NotAdopted::Lost(LossReason::Lapsed));
            return false;
        }
        attempt.stage = Stage::Held(Hold { deadline, keeper, extend_at: None, untold: false });
        self.timers.set(deadline, Timer::Deadline(id));
        self.adopting.remove(&request);
        let is_last = keeper.is_some_and(|keeper| keeper.is_last(deadline));
        let result = Ok(Adopted { attempt: id, deadline, is_last });
        self.events.push(Event::Adopted { request, result });
        true
    }

    /// Ends an adoption that is not won. The keys stay: they expire within their life.
    pub(super) fn refuse(&mut self, now: Instant, id: AttemptId, why: NotAdopted) {
        let Some(attempt) = self.end_adoption(id) else { return };
        self.stays(now, &attempt, attempt.claim.life.span());
        let Some(request) = attempt.adoption().map(|adoption| adoption.request) else { return };
        self.events.push(Event::Adopted { request, result: Err(why) });
    }

    /// Cancels the adoption of a caller that is gone. It has taken the value with it, so the lock is
    /// in no other hands, and is released. Returns `false` if there is no such adoption.
    pub(super) fn cancel_adopt(&mut self, now: Instant, request: RequestId) -> bool {
        let id = self.adopting.get(&request).copied();
        let attempt = id.and_then(|id| self.end_adoption(id));
        let is_cancelled = attempt.is_some();
        if let Some(attempt) = attempt {
            self.give_back(now, attempt, None);
        }
        is_cancelled
    }

    /// Ends all adoptions, for a shutdown. Their callers get their values back.
    pub(super) fn leave_adoptions(&mut self, now: Instant) {
        let ids: Vec<AttemptId> = self.adopting.values().copied().collect();
        for attempt in ids.into_iter().filter_map(|id| self.end_adoption(id)).collect::<Vec<_>>() {
            self.stays(now, &attempt, attempt.claim.life.span());
        }
    }

    /// Takes an adoption that is not decided out of all tables.
    fn end_adoption(&mut self, id: AttemptId) -> Option<Attempt> {
        let attempt = self.attempts.remove(id)?;
        disarm(&mut self.timers, &mut self.local_queue, id, &attempt);
        if let Some(adoption) = attempt.adoption() {
            self.adopting.remove(&adoption.request);
        }
        Some(attempt)
    }
}

impl Attempt {
    /// Returns the adoption that is not decided, if it is one.
    fn adoption(&self) -> Option<&Adoption> {
        match &self.stage {
            Stage::Changing(change) => match &**change {
                Change::Adopt(adoption) => Some(adoption),
                Change::Detach(_) | Change::Downgrade(_) => None,
            },
            _ => None,
        }
    }
}
