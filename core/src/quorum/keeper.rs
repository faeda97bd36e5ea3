//! The schedule of a lock that is kept alive: its next extension, and the end of that.

use super::{Instant, Nanos};
use std::time::Duration;

/// The number of extensions within a ttl, so that two failed rounds lose nothing. This is the
/// common practice (Redisson's watchdog).
const EXTENSIONS_PER_TTL: u32 = 3;

/// The share of a third of the ttl by which a lock is extended earlier, at most. Each lock has its
/// own part of it. Otherwise, locks that were won together would be extended together forever, and
/// an acquire in the meantime would wait behind them all.
const SPREAD: u32 = 4;

/// Locks that are due within such a moment are extended together, a little early: in one write to each master instead of
/// one for each lock, and few enough that an acquire in the meantime does not wait for long. It is at most this share of
/// a third of the ttl.
const TOGETHER: Duration = Duration::from_millis(5);
const TOGETHER_SHARE: u32 = 16;

/// The share of the remaining time after which a round without a quorum is followed by the next
/// one. The rounds come sooner and sooner towards the deadline.
const RETRIES_IN_WHAT_IS_LEFT: u32 = 4;

/// The shortest pause between two rounds.
const SHORTEST_PAUSE: Duration = Duration::from_millis(5);

/// A keeper: it extends a hold in time, up to an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keeper {
    /// No deadline is moved beyond this.
    ends_at: Instant,
}

impl Keeper {
    pub const fn new(ends_at: Instant) -> Self {
        Self { ends_at }
    }

    /// Returns the time left at `now` until its end.
    pub fn left(self, now: Instant) -> Nanos {
        if self.ends_at == Instant::NEVER {
            Nanos::FOREVER
        } else {
            Nanos::of(self.ends_at.since(now))
        }
    }

    /// Returns the deadline that an extension may give.
    pub fn cap(self, deadline: Instant) -> Instant {
        deadline.min(self.ends_at)
    }

    /// Returns whether `deadline` is the last one: no extension moves it any further.
    pub fn is_last(self, deadline: Instant) -> bool {
        deadline >= self.ends_at
    }

    /// Returns when to extend a hold whose last won round began at `started`; `None` once its
    /// deadline can't be moved any further. `place` is drawn at random, and stays the same for the
    /// hold. Holds of the same ttl have the same moments.
    pub fn next(
        self,
        started: Instant,
        ttl: Duration,
        deadline: Instant,
        place: u16,
    ) -> Option<Instant> {
        let more = !self.is_last(deadline);
        let pause = ttl / EXTENSIONS_PER_TTL;
        let step = pause / (SPREAD * (1 << u16::BITS));
        let early = step.saturating_mul(place.into());
        more.then(|| {
            let at = started.after(pause.saturating_sub(early));
            at.in_steps_of(TOGETHER.min(pause / TOGETHER_SHARE)).max(started)
        })
    }

    /// Returns when to try again after a round that was not won, within the time left until
    /// `deadline`.
    pub fn retry(self, now: Instant, deadline: Instant) -> Instant {
        now.after((deadline.since(now) / RETRIES_IN_WHAT_IS_LEFT).max(SHORTEST_PAUSE))
    }
}
