//! When a waiter looks again: by the speed of the queue, as long as it is far back.
//!
//! Among the [`FRONT`] first waiters, a look is due once a second. One that is behind them learns at two looks
//! how fast it comes nearer. Its next look is due when a quarter of the time is over after which it would be
//! among them. So at that speed, its place is over before it is, if it has died.

use crate::quorum::Instant;
use crate::wire::PLACE_LIVES;
use std::time::Duration;

/// How many waiters look once a second. A release looks at the places of the first and the last of them: if one
/// lives for longer, `leave.lua` shortens all.
const FRONT: usize = 256;

/// The shortest and the longest time between two looks. With three of the longest, a script that is called for a
/// short place takes no other for one from before its clock was set back: it drops what lives for ten places.
pub(super) const LOOKS_EVERY: Duration = Duration::from_secs(1);
const LOOKS_AT_LEAST_EVERY: Duration = Duration::from_secs(9);

/// How many waiters were ahead at a moment.
#[derive(Clone, Copy)]
struct Seen {
    at: Instant,
    ahead: usize,
}

/// The latest two looks that a quorum has answered.
#[derive(Clone, Copy, Default)]
pub(super) struct Pace {
    earlier: Option<Seen>,
    latest: Option<Seen>,
    /// Until when the places before it may end all at once.
    hurries_until: Option<Instant>,
}

impl Pace {
    /// Notes that so many were ahead when a look began; `None` if no quorum has answered.
    pub(super) fn note(&mut self, at: Instant, ahead: Option<usize>) {
        let latest = ahead.map(|ahead| Seen { at, ahead });
        let earlier = self.latest.and(latest).and(self.latest);
        *self = Self { earlier, latest, ..*self };
    }

    /// Forgets the speed: the queue was faster than that, and all places have been shortened now.
    pub(super) fn hurry(&mut self, now: Instant) {
        let hurries_until = Some(now.after(PLACE_LIVES + LOOKS_EVERY));
        *self = Self { hurries_until, ..Self::default() };
    }

    /// Returns the time from a look now to the next one.
    pub(super) fn next_look(self, now: Instant) -> Duration {
        if self.hurries_until.is_some_and(|until| now < until) {
            return LOOKS_EVERY;
        }
        let quarter = self.until_in_front(now).unwrap_or_default() / 4;
        quarter.clamp(LOOKS_EVERY, LOOKS_AT_LEAST_EVERY)
    }

    /// Returns the time after which the waiter is among the first ones. Between two looks, up to one waiter more
    /// than was seen has gone.
    fn until_in_front(self, now: Instant) -> Option<Duration> {
        let (earlier, latest) = (self.earlier?, self.latest?);
        let gone = earlier.ahead.checked_sub(latest.ahead)?.saturating_add(1);
        let behind = u32::try_from(latest.ahead.saturating_sub(FRONT)).ok()?;
        let for_each = latest.at.since(earlier.at) / u32::try_from(gone).ok()?;
        Some(for_each.saturating_mul(behind).saturating_sub(now.since(latest.at)))
    }
}
