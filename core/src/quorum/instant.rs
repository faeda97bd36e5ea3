//! A point in time as the deciding layers see it: passed in, never read from a clock.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

/// Nanoseconds on a clock that never goes back and that counts suspend. The origin is specific to
/// the process, so an instant means nothing to another process.
///
/// Stored as one more than the number: tables are full of optional instants, and these take no more
/// room that way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(NonZeroU64);

impl Instant {
    /// The end of time.
    pub const NEVER: Self = Self(NonZeroU64::MAX);

    pub const fn from_nanos(nanos: u64) -> Self {
        Self(NonZeroU64::MIN.saturating_add(nanos))
    }

    pub const fn as_nanos(self) -> u64 {
        self.0.get() - 1
    }

    /// Returns `self + span`, saturating at the end of time (584 years after the origin).
    pub const fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }

    /// Returns the latest multiple of `step` that is not later; the same if there is no step.
    pub(crate) fn in_steps_of(self, step: Duration) -> Self {
        let past = self.as_nanos().checked_rem(nanos(step)).unwrap_or_default();
        Self::from_nanos(self.as_nanos() - past)
    }

    /// Returns the time from `earlier` to `self`; zero if `earlier` is the later one.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// Returns the same in nanoseconds.
    #[inline]
    pub(crate) const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.get().saturating_sub(earlier.0.get())
    }
}

impl Default for Instant {
    fn default() -> Self {
        Self::from_nanos(0)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instant").field(&self.as_nanos()).finish()
    }
}

/// A span for storage: half as large as a [`Duration`], and no larger if it is optional. It
/// saturates at 584 years, which is as good as forever.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(NonZeroU64);

impl Nanos {
    pub const FOREVER: Self = Self(NonZeroU64::MAX);
    pub const ZERO: Self = Self(NonZeroU64::MIN);

    pub const fn of(span: Duration) -> Self {
        Self(NonZeroU64::MIN.saturating_add(nanos(span)))
    }

    pub const fn span(self) -> Duration {
        Duration::from_nanos(self.0.get() - 1)
    }
}

impl fmt::Debug for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.span().fmt(f)
    }
}

/// Returns a span in whole nanoseconds, saturating at `u64::MAX`.
pub const fn nanos(span: Duration) -> u64 {
    let nanos = span.as_nanos();
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}
