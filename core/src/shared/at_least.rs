//! The keys of work that has ended well, which stay until some time after its start.
//!
//! ```text
//!  T1, before the first byte      the work has ended well     at_least         the keys expire
//!  |------------- ttl, extended as often as need be --|          |                |
//!  |---------------------------- at_least ---------------------->|---- drift ---->|
//!                                                    |-- what is left, + drift -->|
//! ```
//!
//! The keys live that long from their SET on, so a crash keeps others out, too. The drift keeps a
//! master with a fast clock from opening too early. The deadline of the holder depends on the ttl
//! alone, and an extension prolongs by the ttl alone.

use crate::quorum::{ClockDrift, Instant};
use crate::wire::Millis;
use std::time::Duration;

/// The time from the start of an attempt during which no other acquire may win its keys, if the
/// work ends well or its process dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtLeast {
    pub(crate) span: Duration,
    drift: ClockDrift,
}

impl AtLeast {
    pub const fn new(span: Duration, drift: ClockDrift) -> Self {
        Self { span, drift }
    }

    /// Returns what is left of it for an attempt that `began` then: nothing once it is over.
    pub(crate) fn rest(self, began: Instant, now: Instant) -> Option<Self> {
        let span = self.span.checked_sub(now.since(began)).filter(|left| !left.is_zero())?;
        Some(Self { span, ..self })
    }

    /// Returns how long keys have to live, from the start of their attempt on.
    pub(crate) fn life(self) -> Millis {
        self.left(Instant::default(), Instant::default()).unwrap_or(Duration::ZERO.into())
    }

    /// Returns how long the keys of an attempt that `began` then have yet to live; `None` once the
    /// time is over.
    pub(crate) fn left(self, began: Instant, now: Instant) -> Option<Millis> {
        let left = self.rest(began, now)?.span;
        Some(Millis::rounded_up(left.saturating_add(self.drift.of(left))))
    }
}
