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

use super::attempt::Attempt;
use super::wire::{Claim, Millis};
use super::{AcquireRequest, AttemptId, Coordinator, RequestId};
use crate::quorum::{ClockDrift, Instant};
use std::time::Duration;

/// The time from the start of an attempt during which no other acquire may win its keys, if the
/// work ends well or its process dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtLeast {
    span: Duration,
    drift: ClockDrift,
}

impl AtLeast {
    pub const fn new(span: Duration, drift: ClockDrift) -> Self {
        Self { span, drift }
    }

    /// Returns what is left of it for an attempt that `began` then: nothing once it is over.
    pub(super) fn rest(self, began: Instant, now: Instant) -> Option<Self> {
        let span = self.span.checked_sub(now.since(began)).filter(|left| !left.is_zero())?;
        Some(Self { span, ..self })
    }

    /// Returns how long keys have to live, from the start of their attempt on.
    pub(super) fn life(self) -> Millis {
        self.left(Instant::default(), Instant::default()).unwrap_or(Duration::ZERO.into())
    }

    /// Returns how long the keys of an attempt that `began` then have yet to live; `None` once the
    /// time is over.
    pub(super) fn left(self, began: Instant, now: Instant) -> Option<Millis> {
        let left = self.rest(began, now)?.span;
        Some(Millis::rounded_up(left.saturating_add(self.drift.of(left))))
    }
}

/// What an attempt knows of the time that its keys stay.
pub(super) struct Staying {
    at_least: AtLeast,
    /// How long the keys live after an extension.
    renewed: Millis,
    /// The work has ended well.
    ended_well: bool,
}

impl Staying {
    /// Boxed, since few attempts have one.
    pub(super) fn of(acquire: &AcquireRequest) -> Option<Box<Self>> {
        let at_least = **acquire.at_least.as_ref()?;
        let renewed = acquire.ttl.saturating_add(acquire.lock_delay);
        Some(Box::new(Self { at_least, renewed, ended_well: false }))
    }

    /// What is left for a lock that was detached. Counted again from its adoption, it is longer by
    /// the time that the value was on its way.
    pub(super) fn of_adopted(at_least: Option<AtLeast>, renewed: Millis) -> Option<Box<Self>> {
        at_least.map(|at_least| Box::new(Self { at_least, renewed, ended_well: false }))
    }

    /// Returns the keys of this attempt, which stay.
    pub(super) fn keep(self, claim: Claim, began: Instant) -> Kept {
        Kept { claim, at_least: self.at_least, began }
    }
}

/// The keys of work that has ended well.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) claim: Claim,
    pub(super) at_least: AtLeast,
    /// The start of the attempt that won.
    pub(super) began: Instant,
}

impl Kept {
    /// Returns how long the keys have yet to live; nothing if they may be deleted.
    pub(super) fn left(&self, now: Instant) -> Millis {
        self.at_least.left(self.began, now).unwrap_or(Duration::ZERO.into())
    }
}

impl Coordinator {
    /// Gives up a hold whose work has ended well. Where its acquire has asked for that, the keys
    /// stay for some time yet; otherwise this is a release. `request` and `in_time` are those of
    /// [`Coordinator::handle_release`].
    pub fn handle_finish(
        &mut self,
        now: Instant,
        request: Option<RequestId>,
        attempt: AttemptId,
        in_time: bool,
    ) {
        let held = self.attempts.get_mut(attempt);
        if let Some(staying) = held.and_then(|attempt| attempt.staying.as_mut()) {
            staying.ended_well = true;
        }
        self.handle_release(now, request, attempt, in_time);
    }
}

impl Attempt {
    /// Returns what is left of the time that the keys stay.
    pub(super) fn rest_at(&self, now: Instant) -> Option<Duration> {
        let staying = self.staying.as_ref()?;
        staying.at_least.rest(self.began, now).map(|rest| rest.span)
    }

    /// Returns how long the keys live after an extension.
    pub(super) fn renewed_life(&self) -> Millis {
        self.staying.as_ref().map_or(self.claim.life, |staying| staying.renewed)
    }

    /// Returns how long keys live that are set at `now`: those of a node that has lost them.
    pub(super) fn life_at(&self, now: Instant) -> Millis {
        let left = self.staying.as_ref().and_then(|staying| staying.at_least.left(self.began, now));
        let renewed = self.renewed_life();
        left.map_or(renewed, |left| left.max(renewed))
    }

    /// Returns whether the keys stay when the hold is given up at `now`.
    pub(super) fn stays(&self, now: Instant) -> bool {
        let staying = self.staying.as_ref().filter(|staying| staying.ended_well);
        staying.is_some_and(|staying| staying.at_least.left(self.began, now).is_some())
    }
}
