//! One attempt to hold a lock, from its first SET to its release: the life of one token.

use super::first_node::HeldBack;
use super::round;
use super::session::{Part, Purpose};
use super::timers::Timer;
use super::wire::{self, Ballot, Claim, Millis, Token};
use super::{AttemptId, Coordinator, Keys, Loss, RequestId, RoundId};
use crate::quorum::{Instant, Keeper, NodeSet, Tally};
use crate::report::Answer;
use std::sync::Arc;

/// The subject of an acquire, the same for all its attempts.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) keys: Keys,
    /// The fence of each key, if the acquire gets a fencing token.
    pub(super) fences: Option<Arc<Keys>>,
    pub(super) ttl: Millis,
    /// The life of the keys: longer than the ttl by the lock-delay, unless they are released.
    pub(super) life: Millis,
}

/// An attempt: what is needed to extend it, and to undo it.
pub(super) struct Attempt {
    pub(super) claim: Claim,
    pub(super) ttl: Millis,
    /// No SET of this attempt was sent before then.
    pub(super) began: Instant,
    /// The nodes where the keys may exist: all to which a SET has left.
    pub(super) touched: NodeSet,
    pub(super) stage: Stage,
}

/// The stage of an attempt.
pub(super) enum Stage {
    Asked,
    Held(Hold),
    /// Lost for good. The entry remains until its guard is gone.
    Lost(Loss),
}

/// A lock that was won.
pub(super) struct Hold {
    pub(super) deadline: Instant,
    /// Extends the lock in time, if the caller asked for that.
    pub(super) keeper: Option<Keeper>,
    /// The time of the keeper's next extension; `None` while a round of the keeper's is under way.
    pub(super) extend_at: Option<Instant>,
}

/// The way the nodes are asked.
pub(super) struct Asking {
    /// Whether to ask also for the remaining life of the key that refuses us.
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
        subject: &Subject,
        asking: &Asking,
    ) -> Option<(RoundId, AttemptId)> {
        let barred = self.barred(now, subject.life.span());
        let ballot = self.propose(now, subject);
        let mut attempt = Attempt::new(subject, now, self.random.bits()?, ballot);
        let attempt_id: AttemptId = self.attempts.reserve();
        let round_id: RoundId = self.rounds.reserve();
        let tally = Tally::new(self.settings.membership);
        let purpose = round::Purpose::Acquire { request, attempt: attempt_id, tally };
        let timeout = self.settings.round_timeout(subject.ttl.span());
        let mut round = self.new_round(purpose, now, timeout);
        let set = attempt.claim.acquire(&mut self.packer);

        let (mut takers, mut warming) = (NodeSet::EMPTY, NodeSet::EMPTY);
        for (node, session) in self.sessions.iter().enumerate() {
            match session.part(set.len(), now, barred.as_ref()) {
                Part::Vote => takers.insert(node),
                Part::Uncounted(reason) => {
                    warming.insert(node);
                    round.vote(node, Answer::Refused(reason), now);
                }
                Part::Absent(reason) => round.vote(node, Answer::Refused(reason), now),
            }
        }
        // A SET that could not win is not sent.
        if self.settings.membership.is_quorum(takers) {
            let mut asked = takers;
            if let Some(first) = asking.first.filter(|first| takers.contains(*first)) {
                asked = [first].into_iter().collect();
                let others = takers.union(warming).difference(asked);
                let patience = self.settings.patience(subject.ttl.span());
                round.hold_back(HeldBack { first, others, set: set.to_vec() }, patience);
                warming = NodeSet::EMPTY;
            }
            // A script's refusal reports the remaining life by itself.
            let pttl = attempt.claim.is_plain() && asking.remaining;
            let pttl = pttl.then(|| wire::pttl(subject.keys.first()));
            for node in asked.iter() {
                let session = &mut self.sessions[node];
                // Sent before the vote: once a refusal decides, its duration must be known.
                if let Some(pttl) = &pttl {
                    session.push(Purpose::Remaining(request, attempt_id), pttl);
                }
                session.push(Purpose::Vote(round_id), set);
            }
            for node in warming.iter() {
                self.sessions[node].push(Purpose::Uncounted, set);
            }
            attempt.touched = asked.union(warming);
        }
        self.timers.set(round.timeout_at, Timer::Round(round_id));
        self.rounds.insert(round_id, round);
        self.attempts.insert(attempt_id, attempt);
        Some((round_id, attempt_id))
    }
}

impl Attempt {
    /// Creates an attempt. `random` is 128 bits that were never used before and never will be
    /// again.
    pub(super) fn new(
        subject: &Subject,
        began: Instant,
        random: u128,
        ballot: Option<Box<Ballot>>,
    ) -> Self {
        let (keys, token) = (subject.keys.clone(), Token::new(random));
        let claim = Claim { keys, token, life: subject.life, ballot };
        Self { claim, ttl: subject.ttl, began, touched: NodeSet::EMPTY, stage: Stage::Asked }
    }

    /// Returns the hold, as long as it may still be relied on.
    pub(super) const fn held(&self) -> Option<&Hold> {
        match &self.stage {
            Stage::Held(hold) => Some(hold),
            Stage::Asked | Stage::Lost(_) => None,
        }
    }

    pub(super) const fn held_mut(&mut self) -> Option<&mut Hold> {
        match &mut self.stage {
            Stage::Held(hold) => Some(hold),
            Stage::Asked | Stage::Lost(_) => None,
        }
    }

    /// Returns what ended the hold, if there was one.
    pub(super) const fn loss(&self) -> Option<&Loss> {
        match &self.stage {
            Stage::Lost(loss) => Some(loss),
            Stage::Asked | Stage::Held(_) => None,
        }
    }

    /// Returns whether a lock-delay keeps others out for a while after the lock is lost.
    pub(super) fn is_delayed(&self) -> bool {
        self.claim.life > self.ttl
    }

    /// Returns the fencing token that the attempt has if it wins; zero if it is not fenced.
    pub(super) fn ballot(&self) -> u64 {
        self.claim.ballot.as_ref().map_or(0, |ballot| ballot.number)
    }
}
