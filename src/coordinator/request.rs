//! What an acquire asks for.

use super::Keys;
use crate::quorum::{Instant, Keeper, Nanos};
use std::sync::Arc;
use std::time::Duration;

/// What an acquire asks for.
#[derive(Clone, Debug)]
pub(crate) struct Acquire {
    pub(crate) keys: Keys,
    /// Where the fence of each key stands, if there is to be a fencing token.
    pub(crate) fences: Option<Arc<Keys>>,
    pub(crate) ttl: Duration,
    /// How much longer than the ttl the keys live, unless they are released.
    pub(crate) lock_delay: Duration,
    /// For how long new attempts may begin; zero for a single one, `None` for ever.
    pub(crate) wait: Option<Duration>,
    pub(crate) keep_alive: Option<KeepAlive>,
}

/// Extend the hold in time, without being asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KeepAlive {
    /// Counted from the start of the attempt that wins.
    max_hold: Nanos,
}

impl KeepAlive {
    pub(crate) const FOREVER: Self = Self { max_hold: Nanos::FOREVER };

    pub(crate) const fn at_most(max_hold: Duration) -> Self {
        Self { max_hold: Nanos::of(max_hold) }
    }

    pub(crate) const fn max_hold(self) -> Duration {
        self.max_hold.span()
    }

    pub(super) const fn keeper(self, began: Instant) -> Keeper {
        Keeper::new(began.after(self.max_hold()))
    }
}
