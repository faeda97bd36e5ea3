//! One attempt to hold a lock, from its first SET to its release: the life of one token.

use super::wire::{Ballot, Claim};
use super::{Keys, Loss};
use crate::quorum::{Instant, Keeper, NodeSet};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;

/// What an acquire is about, the same for all its attempts.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) keys: Keys,
    /// Where the fence of each key stands, if there is to be a fencing token.
    pub(super) fences: Option<Arc<Keys>>,
    pub(super) ttl: Duration,
    /// How much longer the keys live, unless they are released.
    pub(super) lock_delay: Duration,
    pub(super) label: Option<Arc<str>>,
}

/// What must be known to extend it, and to undo it.
pub(super) struct Attempt {
    pub(super) claim: Claim,
    pub(super) ttl: Duration,
    /// No SET of it was sent before.
    pub(super) began: Instant,
    /// The encoded compare-and-delete.
    pub(super) release: Bytes,
    /// The nodes where the keys may stand: all to which a SET has left.
    pub(super) touched: NodeSet,
    /// What a win has made of it.
    pub(super) hold: Option<Hold>,
}

/// A lock that was won.
pub(super) struct Hold {
    pub(super) deadline: Instant,
    /// Extends it in time, if that was asked for.
    pub(super) keeper: Option<Keeper>,
    /// When the keeper extends it next; `None` while a round of its own is under way.
    pub(super) extend_at: Option<Instant>,
    /// Once it is lost it stays lost; the entry remains until its guard is gone.
    pub(super) lost: Option<Loss>,
}

impl Attempt {
    /// `random` is 128 bits that were never used before and never will be.
    pub(super) fn new(
        subject: &Subject,
        began: Instant,
        random: u128,
        ballot: Option<Box<Ballot>>,
    ) -> Self {
        let token = match &subject.label {
            None => format!("{random:032x}"),
            Some(label) => format!("{random:032x}:{label}"),
        };
        let life = subject.ttl.saturating_add(subject.lock_delay);
        let claim = Claim { keys: subject.keys.clone(), token, life, ballot };
        let (ttl, release) = (subject.ttl, claim.release());
        Self { claim, ttl, began, release, touched: NodeSet::EMPTY, hold: None }
    }

    /// The hold, as long as it may still be relied on.
    pub(super) fn held(&self) -> Option<&Hold> {
        self.hold.as_ref().filter(|hold| hold.lost.is_none())
    }

    /// A lock-delay keeps others out for a while after it was lost.
    pub(super) fn is_delayed(&self) -> bool {
        self.claim.life > self.ttl
    }

    /// The fencing token that a win of it has; zero if it is not fenced.
    pub(super) fn ballot(&self) -> u64 {
        self.claim.ballot.as_ref().map_or(0, |ballot| ballot.number)
    }
}
