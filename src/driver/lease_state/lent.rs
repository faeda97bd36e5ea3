//! A hold that its guard has taken from the shelf.

use super::LeaseState;
use crate::kind_name::KindName;
use quorumlock_core::quorum::Instant;
use quorumlock_core::shelf::{Lent, Shelf};
use std::sync::Arc;

/// The locks that no guard has and that are kept warm, for callers to take.
pub(crate) type IdleLocks = Shelf<Arc<LeaseState>>;

/// The place of one of them.
pub(super) type OnShelf = Lent<Arc<LeaseState>>;

impl LeaseState {
    /// Returns the state for a guard of an idle lock of the shelf.
    pub(crate) fn lent(lent: &Arc<OnShelf>, resource: Arc<str>, now: Instant) -> Self {
        let mut state = Self::new(lent.attempt(), resource, KindName::Plain, now, lent.deadline());
        state.lent = Some(lent.clone());
        state
    }

    /// Puts the lock of a guard that is over back on the shelf. Returns `false` if that is for the coordinator to
    /// do.
    pub(crate) fn put_back(&self, now: Instant) -> bool {
        self.lent.as_ref().is_some_and(|lent| lent.give_back(now))
    }

    /// Keeps the lock for its guard. Returns whether the coordinator has yet to learn of the guard.
    pub(crate) fn keep(&self) -> bool {
        self.lent.as_ref().is_some_and(|lent| lent.claim())
    }
}
