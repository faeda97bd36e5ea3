//! The hand-over of a lock from one process to another.
//!
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
//!
//! The adoption: a value that another process has detached becomes a hold of this one.
//!
//! It is an extension and no new vote. The token was won elsewhere, and a quorum that still holds it
//! and has prolonged it now excludes all others. Before that round is won, the lock is not held
//! here: there is no deadline. A round that is not won deletes nothing. The value goes back to the
//! caller, which may try again or pass it on, and a deletion would end the lock of its next owner.

use super::staying::Staying;
use super::{Around, Attempt, Change, Hold, Locks, Purpose, Round, RoundKind, Stage};
use crate::quorum::{Instant, Keeper, Nanos, NodeSet, Progress};
use crate::report::{LossReason, NodeReport};
use crate::shared::{AtLeast, AttemptId, Cx, Event, Extended, Keys, Label, RequestId};
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
        let id = AttemptId(self.attempts.reserve());
        let stage = Stage::Changing(Box::new(change));
        let attempt = Attempt { id, stage, ..Attempt::detached(&mut at.cx, lock) };
        at.waiters.occupy(&attempt.claim.keys, id);
        self.attempts.insert(id.0, attempt);
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
            let place = *self.attempts.places(adopts).first()?;
            let attempt = self.attempts.remove(place)?;
            attempt.disarm(at);
            Some(attempt)
        });
        let attempt = adoption.unwrap_or_else(|| Attempt::detached(&mut at.cx, lock));
        attempt.give_back(at, None);
    }

    /// Ends all adoptions, for a shutdown. Their callers get their values back.
    pub(crate) fn leave_adoptions(&mut self, at: &mut Around) {
        for place in self.attempts.places(|attempt| attempt.adopting().is_some()) {
            self.forget(at, AttemptId(place));
        }
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
        let fenced = ballot.and_then(|ballot| {
            let [number, greatest] = [ballot.number, ballot.greatest].map(NonZeroU64::new);
            Some(DetachedFences { fences: ballot.fences, number: number?, greatest: greatest? })
        });
        let keep_alive = keeper.map(|keeper| keeper.left(at.cx.now));
        let unsettled =
            unsettled.iter().map(|node| at.cx.masters.sessions[node].name.clone()).collect();
        let ttl = self.ttl;
        let lock =
            DetachedLock { keys, token, label, fenced, ttl, life, at_least, keep_alive, unsettled };
        let result = Ok(Box::new(lock));
        at.cx.events.push(Event::Detached { request, attempt: self.id, result });
    }

    /// Builds the attempt of a token that was drawn elsewhere, which is in no table yet: its keys may be anywhere.
    fn detached(cx: &mut Cx, lock: DetachedLock) -> Self {
        let DetachedLock { keys, token, label, fenced, ttl, life, at_least, unsettled, .. } = lock;
        let ballot = fenced.map(|DetachedFences { fences, number, greatest }| {
            cx.masters.ballots.learn_fence(greatest.get());
            Box::new(Ballot { greatest: greatest.get(), ..cx.masters.ballot(fences, number.get()) })
        });
        let unsettled = NodeSet::places(cx.masters.names(), |name| unsettled.contains(name));
        // Ours does not follow this token, even if there is none.
        let label = Some(Label::Holder(label.as_deref().unwrap_or_default().into()).into());
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
        RoundKind::Extend { extension, .. } => extension.warming,
        _ => NodeSet::EMPTY,
    };
    unsettled.union(attempt.claim.unsettled).union(warming)
}
