//! The adoption: a value that another process has detached becomes a hold of this one.
//!
//! It is an extension and no new vote. The token was won elsewhere, and a quorum that still holds it
//! and has prolonged it now excludes all others. Before that round is won, the lock is not held
//! here: there is no deadline. A round that is not won deletes nothing. The value goes back to the
//! caller, which may try again or pass it on, and a deletion would end the lock of its next owner.

use super::staying::Staying;
use super::{Around, Attempt, Change, DetachedFences, DetachedLock, Hold, Locks, Purpose, Stage};
use crate::quorum::{Instant, Keeper, Nanos, NodeSet};
use crate::report::{LossReason, NodeReport};
use crate::shared::{AtLeast, AttemptId, Cx, Event, Extended, Label, RequestId};
use crate::wire::{Ballot, Claim};

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

impl Locks {
    /// Extends a lock, which is held once that is won. None of its keys is held in this process.
    pub(crate) fn begin_adopt(&mut self, at: &mut Around, request: RequestId, lock: DetachedLock) {
        let purpose = Purpose::Adopt(request, lock.keep_alive);
        let change = Change { purpose, hold: None, claimed: None };
        let (id, stage) = (self.attempts.reserve(), Stage::Changing(Box::new(change)));
        let attempt = Attempt { id, stage, ..Attempt::detached(&mut at.cx, lock) };
        at.waiters.occupy(&attempt.claim.keys, id);
        self.attempts.insert(id, attempt);
        self.begin_extend(at, id, purpose);
    }

    /// Releases a lock that was detached, and that is in no other hands. If `adopting` it is not
    /// decided, that ends.
    pub(crate) fn give_detached_back(
        &mut self,
        at: &mut Around,
        lock: DetachedLock,
        adopting: Option<RequestId>,
    ) {
        let adoption = adopting.and_then(|request| {
            let adopts = |attempt: &Attempt| attempt.adopting() == Some(request);
            let id = *self.attempts.ids::<AttemptId>(adopts).first()?;
            let attempt = self.attempts.remove(id)?;
            attempt.disarm(at);
            Some(attempt)
        });
        let attempt = adoption.unwrap_or_else(|| Attempt::detached(&mut at.cx, lock));
        attempt.give_back(at, None);
    }

    /// Ends all adoptions, for a shutdown. Their callers get their values back.
    pub(crate) fn leave_adoptions(&mut self, at: &mut Around) {
        for id in self.attempts.ids(|attempt| attempt.adopting().is_some()) {
            self.forget(at, id);
        }
    }
}

impl Attempt {
    /// Builds the attempt of a token that was drawn elsewhere, which is in no table yet: its keys may be anywhere.
    fn detached(cx: &mut Cx, lock: DetachedLock) -> Self {
        let DetachedLock { keys, token, label, fenced, ttl, life, at_least, unsettled, .. } = lock;
        let ballot = fenced.map(|DetachedFences { fences, number, greatest }| {
            cx.masters.ballots.learn_fence(greatest.get());
            Box::new(Ballot { greatest: greatest.get(), ..cx.masters.ballot(fences, number.get()) })
        });
        let unsettled = NodeSet::places(cx.masters.names(), |name| unsettled.contains(name));
        // Ours does not follow this token, even if there is none.
        let label = Some(Label::of_holder(label.as_deref().unwrap_or_default()).into());
        let at_least = at_least.map(|span| AtLeast::new(span, cx.masters.settings.drift));
        // Counted again from the adoption, what is left is longer by the time that the value was on its way.
        let staying = Staying::of(at_least, life);
        let life = at_least.map_or(life, |at_least| life.max(at_least.life()));
        let claim = Claim { keys, token, life, ballot, label, unsettled };
        let touched = NodeSet::first(cx.masters.sessions.len());
        Self { touched, ..Self::new(AttemptId::NONE, cx.now, claim, ttl, staying) }
    }

    /// Returns the request that adopts it, until that is decided.
    fn adopting(&self) -> Option<RequestId> {
        let Stage::Changing(change) = &self.stage else { return None };
        if let Purpose::Adopt(request, _) = change.purpose { Some(request) } else { None }
    }

    /// Turns the adoption into a hold, after a round that began at `started` was won. Returns `false` if its
    /// keep-alive is over.
    pub(crate) fn adopt(
        &mut self,
        at: &mut Around,
        (request, keep_alive): (RequestId, Option<Nanos>),
        (started, deadline): (Instant, Instant),
    ) -> bool {
        let keeper = keep_alive.map(|most| Keeper::new(started.after(most.span())));
        if keeper.is_some_and(|keeper| keeper.cap(deadline) <= at.cx.now) {
            self.refuse(at, request, NotAdopted::Lost(LossReason::Lapsed));
            return false;
        }
        let mut hold = Hold::until(started, keeper);
        let Extended { deadline, is_last } = hold.prolong(&mut at.cx, self.id, deadline);
        self.stage = Stage::Held(hold);
        let result = Ok(Adopted { attempt: self.id, deadline, is_last });
        at.cx.events.push(Event::Adopted { request, result });
        true
    }

    /// Ends an adoption that is not won. The keys stay: they expire within their life.
    pub(crate) fn refuse(&self, at: &mut Around, request: RequestId, why: NotAdopted) {
        self.disarm(at);
        at.cx.masters.keep(at.cx.now, &self.claim, self.claim.life.span());
        at.cx.events.push(Event::Adopted { request, result: Err(why) });
    }
}
