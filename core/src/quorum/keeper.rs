//! When a lock that is kept alive is extended next, and where that ends.

use super::Instant;
use std::time::Duration;

/// A lock is extended this many times within its ttl, so that two failed rounds lose nothing. The
/// field's habit (Redisson's watchdog).
const EXTENSIONS_PER_TTL: u32 = 3;

/// A lock comes up to this share of a third earlier, each by its own: those that were won together would
/// otherwise be extended together for ever, and whoever wants a lock meanwhile wait behind them all.
const SPREAD: u32 = 4;

/// After a round without a quorum the next one comes when this share of what is left has passed:
/// sooner and sooner towards the deadline.
const RETRIES_IN_WHAT_IS_LEFT: u32 = 4;

/// No two rounds follow each other faster.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);

/// Extends a hold in time, up to an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keeper {
    /// No deadline is moved beyond this.
    ends_at: Instant,
}

impl Keeper {
    pub const fn new(ends_at: Instant) -> Self {
        Self { ends_at }
    }

    /// The deadline that an extension may give.
    pub fn cap(self, deadline: Instant) -> Instant {
        deadline.min(self.ends_at)
    }

    /// When to extend a hold whose last round that was won began at `started`; `None` once its
    /// deadline can't be moved any further. `place` is drawn at random, and stays that of the hold.
    pub fn next(
        self,
        started: Instant,
        ttl: Duration,
        deadline: Instant,
        place: u16,
    ) -> Option<Instant> {
        let more = deadline < self.ends_at;
        let pause = ttl / EXTENSIONS_PER_TTL;
        let step = pause / (SPREAD * (1 << u16::BITS));
        let early = step.saturating_mul(place.into());
        more.then(|| started.after(pause.saturating_sub(early)))
    }

    /// When to try again after a round that was not won, within what is left until `deadline`.
    pub fn retry(self, now: Instant, deadline: Instant) -> Instant {
        now.after((deadline.since(now) / RETRIES_IN_WHAT_IS_LEFT).max(SHORTEST_PAUSE))
    }
}
