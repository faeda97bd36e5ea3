//! One attempt to hold a lock, from its first SET to its release: the life of one token.

use super::at_least::Staying;
use super::first_node::HeldBack;
use super::purpose::Change;
use super::round::RoundKind;
use super::session::{Part, PendingReply};
use super::timers::Timer;
use super::wire::{self, Claim, Millis, Token};
use super::{AcquireRequest, AttemptId, Coordinator, RequestId, RoundId};
use crate::quorum::{Instant, Keeper, NodeSet, Tally};
use crate::report::{Answer, LossReason};
use std::num::NonZeroU64;

/// An attempt: what is needed to extend it, and to undo it.
pub(super) struct Attempt {
    pub(super) claim: Claim,
    pub(super) ttl: Millis,
    /// No SET of this attempt was sent before then.
    pub(super) began: Instant,
    /// The nodes where the keys may exist: all to which a SET has left.
    pub(super) touched: NodeSet,
    pub(super) stage: Stage,
    /// Present if the keys stay for some time after work that has ended well.
    pub(super) staying: Option<Box<Staying>>,
}

/// The stage of an attempt.
pub(super) enum Stage {
    Asked,
    Held(Hold),
    /// Lost for good. The entry remains until its guard is gone.
    Lost(LossReason),
    /// An extension that changes the hold is under way.
    Changing(Box<Change>),
}

/// A lock that was won.
#[derive(Clone, Copy)]
pub(super) struct Hold {
    pub(super) deadline: Instant,
    /// Extends the lock in time, if the caller asked for that.
    pub(super) keeper: Option<Keeper>,
    /// The time of the keeper's next extension; `None` while a round of the keeper's is under way.
    pub(super) extend_at: Option<Instant>,
    /// Readers have not been notified yet that they may be let in beside this one.
    pub(super) untold: bool,
}

/// The way the nodes are asked.
pub(super) struct Asking {
    /// Whether to ask also for the remaining life of the key that refuses us, and its holder.
    pub(super) remaining: bool,
    /// The node to ask first. The others are asked next, unless it refuses.
    pub(super) first: Option<usize>,
}

impl Coordinator {
    /// Sends one SET to every node that takes it, under a token of its own.
    pub(super) fn attempt(
        &mut self,
        now: Instant,
        request: RequestId,
        acquire: AcquireRequest,
        asking: &Asking,
    ) -> Option<(RoundId, AttemptId)> {
        let (life, staying) = (acquire.life(), Staying::of(&acquire));
        let AcquireRequest { keys, fences, ttl, label, .. } = acquire;
        let barred = self.barred(now, life.span());
        let ballot = fences.map(|fences| self.propose(now, fences));
        let nodes = self.sessions.len();
        let turn = keys.queue().and_then(|_| self.acquisitions.turn_mut(request));
        let place = turn.map(|turn| {
            turn.begin_round(now, nodes);
            Box::new(turn.place)
        });
        // Never used before, and never again.
        let token = Token::new(self.random.bits()?);
        let mut attempt = Attempt {
            claim: Claim { keys, token, life, ballot, label, unsettled: NodeSet::EMPTY, place },
            ttl,
            began: now,
            touched: NodeSet::EMPTY,
            stage: Stage::Asked,
            staying,
        };
        let attempt_id: AttemptId = self.attempts.reserve();
        let round_id: RoundId = self.rounds.reserve();
        let tally = Tally::new(self.settings.membership);
        let kind = RoundKind::Acquire { request, attempt: attempt_id, tally };
        let timeout = self.settings.round_timeout(ttl.span());
        let mut round = self.new_round(kind, now, timeout);
        let set = attempt.claim.acquire(&mut self.packer);

        let mut takers = NodeSet::EMPTY;
        for (node, session) in self.sessions.iter().enumerate() {
            match session.part(set.len(), now, barred.as_ref()) {
                Part::Vote => takers.insert(node),
                // Nothing of an attempt that may lose is in the way of the holder there, who needs its
                // key back before that node votes again. The winner brings its own.
                Part::Uncounted(reason) | Part::Absent(reason) => {
                    round.record(node, Answer::Refused(reason), now);
                }
            }
        }
        // A SET that could not win is not sent.
        if self.settings.membership.is_quorum(takers) {
            let mut asked = takers;
            if let Some(first) = asking.first.filter(|first| takers.contains(*first)) {
                asked = [first].into_iter().collect();
                let others = takers.difference(asked);
                let patience = self.settings.patience(ttl.span());
                round.hold_back(HeldBack { first, others, set: set.to_vec() }, patience);
            }
            // A script's refusal reports the remaining life by itself.
            let looks = attempt.claim.looks() && asking.remaining;
            let look = looks.then(|| wire::look(attempt.claim.keys.first()));
            for node in asked.iter() {
                let session = &mut self.sessions[node];
                session.prepare(&attempt.claim);
                // Sent before the vote: once a refusal decides, its duration must be known.
                if let Some(look) = &look {
                    session.push(PendingReply::Remaining(request, attempt_id), look);
                }
                session.push(session.vote(now, round_id), set);
            }
            attempt.touched = asked;
            let place = attempt.claim.place.as_ref();
            if let Some(turn) = place.and_then(|_| self.acquisitions.turn_mut(request)) {
                turn.stands_at(attempt.touched);
            }
        }
        self.timers.set(round.timeout_at, Timer::Round(round_id));
        self.rounds.insert(round_id, round);
        self.attempts.insert(attempt_id, attempt);
        Some((round_id, attempt_id))
    }
}

impl Attempt {
    /// Returns the hold, as long as it may still be relied on.
    pub(super) const fn held(&self) -> Option<&Hold> {
        match &self.stage {
            Stage::Held(hold) => Some(hold),
            _ => None,
        }
    }

    pub(super) const fn held_mut(&mut self) -> Option<&mut Hold> {
        match &mut self.stage {
            Stage::Held(hold) => Some(hold),
            _ => None,
        }
    }

    /// Returns what ended the hold, if there was one.
    pub(super) const fn loss(&self) -> Option<&LossReason> {
        match &self.stage {
            Stage::Lost(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns whether others are kept out for a while after the lock is lost.
    pub(super) fn is_delayed(&self) -> bool {
        self.claim.life > self.ttl || self.staying.is_some()
    }

    /// Returns the fencing token that the attempt has if it wins and is fenced.
    pub(super) fn ballot(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.claim.ballot.as_ref()?.number)
    }
}
