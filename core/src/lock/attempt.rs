//! One attempt to hold a lock, from its first SET to its release: the life of one token.
//!
//! It may be a probe, which asks one node first, and then the others unless that node refuses, too. A probe can only show
//! that a key is held on the first node. If it shows anything else, or nothing within a moment, the others are asked, and
//! have a timeout of their own to answer. A node that is slow, down or far away decides nothing alone, and delays nothing
//! by more than that moment.

use super::staying::Staying;
use super::warm::Idle;
use super::{Around, Change, Locks, Round, RoundKind};
use crate::master::PendingReply;
use crate::quorum::{Instant, Keeper, Nanos, NodeSet, Tally};
use crate::report::{Answer, LossReason};
use crate::shared::{AcquireRequest, AttemptId, Cx, RequestId, RoundId, Timer, Timers};
use crate::wire::{self, Claim, Millis};
use std::num::NonZeroU64;

/// An attempt: what is needed to extend it, and to undo it.
pub(crate) struct Attempt {
    pub(crate) id: AttemptId,
    pub(crate) claim: Claim,
    pub(crate) ttl: Millis,
    /// No SET of this attempt was sent before then.
    pub(crate) began: Instant,
    /// The nodes where the keys may exist: all to which a SET has left.
    pub(crate) touched: NodeSet,
    /// Of a hold: the nodes that had refused it, since another has the key there.
    pub(crate) refused: NodeSet,
    pub(crate) stage: Stage,
    /// Present if the keys stay for some time after work that has ended well.
    pub(crate) staying: Option<Box<Staying>>,
    /// How long the hold stays idle once it is given back; zero if it is released instead.
    pub(crate) warm: Nanos,
    /// How many guards have had its hold without the masters.
    pub(crate) reuses: u32,
}

/// The stage of an attempt.
pub(crate) enum Stage {
    Asked,
    Held(Hold),
    /// Given back, and kept for the next acquire in this process.
    Idle(Idle),
    /// Lost for good. The entry remains until its guard is gone.
    Lost(LossReason),
    /// An extension that changes the hold is under way.
    Changing(Box<Change>),
}

/// A lock that was won.
#[derive(Clone, Copy)]
pub(crate) struct Hold {
    pub(crate) deadline: Instant,
    /// Extends the lock in time, if the caller asked for that.
    pub(crate) keeper: Option<Keeper>,
    /// The time of the keeper's next extension; `None` while a round of the keeper's is under way.
    pub(crate) extend_at: Option<Instant>,
    /// Readers are still to be notified that they may be let in beside this one.
    pub(crate) notify: bool,
}

/// The way the nodes are asked.
pub(crate) struct Asking {
    /// Whether to ask also for the remaining life of the key that refuses us, and its holder.
    pub(crate) remaining: bool,
    /// The node to ask first. The others are asked next, unless it refuses.
    pub(crate) first: Option<usize>,
    /// A refusal by the node that is asked first is no verdict from then on: all nodes are asked.
    pub(crate) ends_at: Instant,
}

/// The node that is asked first. The other nodes are asked unless it refuses.
#[derive(Clone, Copy)]
pub(crate) struct HeldBack {
    pub(crate) first: usize,
    /// From then on, its refusal is no verdict: the wait is over, and all nodes are asked.
    pub(crate) ends_at: Instant,
}

/// An attempt that was begun.
pub(crate) struct Begun {
    pub(crate) round: RoundId,
    pub(crate) attempt: AttemptId,
    pub(crate) asks_all: bool,
}

impl Locks {
    /// Sends one SET to every node that takes it, under a token of its own.
    pub(crate) fn attempt(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        acquire: AcquireRequest,
        asking: Asking,
    ) -> Option<Begun> {
        let (life, warm) = (acquire.life(), acquire.warm());
        let AcquireRequest { keys, fences, ttl, lock_delay, label, at_least, .. } = acquire;
        let staying = Staying::of(at_least.as_deref().copied(), ttl.saturating_add(lock_delay));
        let is_warm = warm > Nanos::ZERO;
        let ballot = fences.map(|fences| Box::new(cx.masters.propose(cx.now, fences, is_warm)));
        let Asking { remaining, first, ends_at } = asking;
        // Never used before, and never again.
        let token = cx.masters.token()?;
        let claim = Claim { keys, token, life, ballot, label, unsettled: NodeSet::EMPTY };
        let id = AttemptId(self.attempts.reserve());
        let mut attempt = Attempt { warm, ..Attempt::new(id, cx.now, claim, ttl, staying) };
        let round_id = RoundId(self.rounds.reserve());
        let tally = Tally::new(cx.masters.settings.membership);
        let kind = RoundKind::Acquire { request, attempt: id, tally };
        let timeout = cx.masters.settings.round_timeout(ttl.span());
        let mut round = Round::new(cx, kind, timeout, &mut self.rooms);
        let membership = cx.masters.settings.membership;
        let patience = cx.masters.settings.patience(ttl.span());
        attempt.ask(cx, request, round_id, &mut round, remaining, |round, takers| {
            // A SET that could not win is not sent.
            if !membership.is_quorum(takers) {
                return NodeSet::EMPTY;
            }
            let Some(first) = first.filter(|first| takers.contains(*first)) else { return takers };
            round.held_back = Some(HeldBack { first, ends_at });
            round.timeout_at = round.started.after(patience);
            [first].into_iter().collect()
        });
        if attempt.touched != NodeSet::EMPTY {
            round.is_counted = true;
            cx.masters.window.begin();
        }
        self.rounds.open(cx, round_id, round);
        self.attempts.insert(id.0, attempt);
        Some(Begun { round: round_id, attempt: id, asks_all: first.is_none() })
    }

    /// Asks the other nodes, after the first has not refused or has not answered in time. They have
    /// a timeout of their own.
    pub(crate) fn ask_the_others(&mut self, at: &mut Around, id: RoundId) {
        let Some(round) = self.rounds.get_mut(id.0) else { return };
        let RoundKind::Acquire { request, attempt: attempt_id, .. } = round.kind else { return };
        let Some(attempt) = self.attempts.get_mut(attempt_id.0) else { return };
        if round.held_back.take().is_none() {
            return;
        }
        at.cx.timers.cancel(round.timeout_at, Timer::Round(id));
        let timeout = at.cx.masters.settings.round_timeout(attempt.ttl.span());
        round.timeout_at = at.cx.now.after(timeout);
        at.cx.timers.set(round.timeout_at, Timer::Round(id));
        let remaining = at.waiters.asks_remaining(&at.cx, request);
        attempt.ask(&mut at.cx, request, id, round, remaining, |_, takers| takers);
        self.judge(at, id);
    }
}

impl Hold {
    /// Creates a hold that nothing is to be done for yet.
    pub(crate) const fn until(deadline: Instant, keeper: Option<Keeper>) -> Self {
        Self { deadline, keeper, extend_at: None, notify: false }
    }
}

impl Attempt {
    /// Creates an attempt that begins now, and has asked no node.
    pub(crate) const fn new(
        id: AttemptId,
        now: Instant,
        claim: Claim,
        ttl: Millis,
        staying: Option<Box<Staying>>,
    ) -> Self {
        Self {
            id,
            claim,
            ttl,
            began: now,
            touched: NodeSet::EMPTY,
            refused: NodeSet::EMPTY,
            stage: Stage::Asked,
            staying,
            warm: Nanos::ZERO,
            reuses: 0,
        }
    }

    /// Sends its SET to those that are `chosen` among the nodes that take it and have neither answered nor been asked.
    /// With `remaining`, they are asked for what refuses it, too.
    fn ask(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        id: RoundId,
        round: &mut Round,
        remaining: bool,
        chosen: impl FnOnce(&mut Round, NodeSet) -> NodeSet,
    ) {
        let barred = cx.masters.barred(cx.now, self.claim.life.span());
        let set = self.claim.acquire(&mut cx.masters.packer);
        for node in round.outstanding.difference(self.touched).iter() {
            let takes = cx.masters.sessions[node].takes(set.len(), cx.now, barred.as_ref());
            takes.unwrap_or_else(|why| round.record(node, Answer::Refused(why), cx.now));
        }
        let takers = round.outstanding.difference(self.touched);
        let asked = chosen(round, takers);
        // A script's refusal reports the remaining life by itself.
        let looks = self.claim.looks() && remaining;
        let look = looks.then(|| wire::look(self.claim.keys.first()));
        for node in asked.iter() {
            let session = &mut cx.masters.sessions[node];
            session.load_all(self.claim.scripts());
            // Sent before the vote: once a refusal decides, its duration must be known.
            if let Some(look) = &look {
                session.push(PendingReply::Remaining(request, id, self.id), look);
            }
            session.push(session.vote(cx.now, id), set);
        }
        self.touched = self.touched.union(asked);
    }

    /// Returns the hold, as long as it may still be relied on.
    pub(crate) const fn held(&self) -> Option<&Hold> {
        let Stage::Held(hold) = &self.stage else { return None };
        Some(hold)
    }

    pub(crate) const fn held_mut(&mut self) -> Option<&mut Hold> {
        let Stage::Held(hold) = &mut self.stage else { return None };
        Some(hold)
    }

    /// Cancels the timers of a hold that is over, or that another guard is to have.
    pub(crate) fn cancel_timers(&self, timers: &mut Timers) {
        if let Some(hold) = self.hold() {
            timers.cancel(hold.deadline, Timer::Deadline(self.id));
            hold.extend_at.into_iter().for_each(|at| timers.cancel(at, Timer::Keep(self.id)));
        }
        if let Some(idle) = self.idle() {
            timers.cancel(idle.until, Timer::Deadline(self.id));
        }
    }

    /// Returns what ended the hold, if there was one.
    pub(crate) const fn loss(&self) -> Option<&LossReason> {
        let Stage::Lost(reason) = &self.stage else { return None };
        Some(reason)
    }

    /// Returns whether others are kept out for a while after the lock is lost.
    pub(crate) fn is_delayed(&self) -> bool {
        self.claim.life > self.ttl || self.staying.is_some()
    }

    /// Returns the fencing token that its guard has if it wins and is fenced.
    pub(crate) fn ballot(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.claim.ballot.as_ref()?.number)
    }
}
