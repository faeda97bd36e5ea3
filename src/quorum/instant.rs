//! A point in time as the deciding layers see it: handed in, never read.

use std::time::Duration;

/// Nanoseconds on a clock that never goes back and that counts suspend. The origin is the
/// process's own, so an instant means nothing to anybody else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Instant(u64);

impl Instant {
    pub(crate) const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub(crate) const fn as_nanos(self) -> u64 {
        self.0
    }

    /// `self + span`, stopping at the end of time (584 years after the origin).
    pub(crate) fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }

    /// The time from `earlier` to `self`; zero if `earlier` is the later one.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A span in whole nanoseconds, stopping at `u64::MAX`.
pub(crate) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
