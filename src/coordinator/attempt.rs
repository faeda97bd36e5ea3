//! One attempt to hold a lock, from its first SET to its release: the life of one token.

use super::Loss;
use super::wire;
use crate::quorum::{Instant, Keeper, NodeSet};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;

/// What must be known to extend it, and to undo it.
pub(super) struct Attempt {
    pub(super) key: Arc<str>,
    pub(super) token: String,
    pub(super) ttl: Duration,
    /// No SET of it was sent before.
    pub(super) began: Instant,
    /// The encoded compare-and-delete.
    pub(super) release: Bytes,
    /// The nodes where the key may stand: all to which a SET has left.
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
    pub(super) fn new(key: Arc<str>, ttl: Duration, began: Instant, random: u128) -> Self {
        let token = format!("{random:032x}");
        let release = wire::release(&key, &token);
        Self { key, token, ttl, began, release, touched: NodeSet::EMPTY, hold: None }
    }

    /// The hold, as long as it may still be relied on.
    pub(super) fn held(&self) -> Option<&Hold> {
        self.hold.as_ref().filter(|hold| hold.lost.is_none())
    }
}
