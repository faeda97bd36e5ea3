//! What an acquire asks for.

use super::Keys;
use crate::quorum::{Instant, Keeper, Nanos};
use std::sync::Arc;
use std::time::Duration;

/// What an acquire asks for.
#[derive(Clone, Debug)]
pub struct Acquire {
    pub keys: Keys,
    /// Where the fence of each key stands, if there is to be a fencing token.
    pub fences: Option<Arc<Keys>>,
    pub ttl: Duration,
    /// How much longer than the ttl the keys live, unless they are released.
    pub lock_delay: Duration,
    /// For how long new attempts may begin; zero for a single one, `None` for ever.
    pub wait: Option<Duration>,
    pub keep_alive: Option<KeepAlive>,
}

/// Extend the hold in time, without being asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeepAlive {
    /// Counted from the start of the attempt that wins.
    max_hold: Nanos,
}

impl KeepAlive {
    pub const FOREVER: Self = Self { max_hold: Nanos::FOREVER };

    pub const fn at_most(max_hold: Duration) -> Self {
        Self { max_hold: Nanos::of(max_hold) }
    }

    pub const fn max_hold(self) -> Duration {
        self.max_hold.span()
    }

    pub(super) const fn keeper(self, began: Instant) -> Keeper {
        Keeper::new(began.after(self.max_hold()))
    }
}
