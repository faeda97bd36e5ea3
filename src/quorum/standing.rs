//! From when on a node that has lost its memory may vote.

use super::instant::nanos;
use super::{Drift, Instant, Window};
use std::time::Duration;

/// The grain of the clocks that the window is measured with: to be *as* far from an earlier ballot
/// as the window is wide is not enough, the two could be equal.
const GRAIN: Duration = Duration::from_millis(1);

/// A node tells its uptime as the difference of two whole seconds: up to this much too long.
const UPTIME_ROUNDS_UP: Duration = Duration::from_secs(1);

/// How long a node that has lost its memory does not vote, and how long a fence is kept: `D`.
///
/// ```text
///  the last grant before the restart            the node votes
///  |--- ttl, extensions included: its key ---|--- drift ---|
///  |-- ahead --|------- back -------|- grain-|--- drift ---|
///        the greatest ballot    the smallest one
///        that it has let in     that it lets in now
/// ```
pub(crate) fn quarantine(max_ttl: Duration, window: Window, drift: Drift) -> Duration {
    let longest = max_ttl.max(window.width().saturating_add(GRAIN));
    longest.saturating_add(drift.of(longest))
}

/// When a node has started, at the latest; before the origin of the clock, as a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Start(i128);

impl Start {
    /// It said that it had run for `uptime`, and that was read at `read`.
    ///
    /// The instant at which it was asked is no substitute: a node that was stopped in between counts
    /// that time in its uptime, too, and would vote that much too early.
    pub(crate) fn told(read: Instant, uptime: Duration) -> Self {
        let ran = uptime.saturating_sub(UPTIME_ROUNDS_UP);
        Self(i128::from(read.as_nanos()) - i128::from(nanos(ran)))
    }

    /// It may have started as late as `now`.
    pub(crate) fn at(now: Instant) -> Self {
        Self::told(now, Duration::ZERO)
    }

    /// From when on its vote counts: `quarantine` after its start.
    pub(crate) fn votes_from(self, quarantine: Duration) -> Instant {
        let from = self.0.saturating_add(i128::from(nanos(quarantine)));
        Instant::from_nanos(u64::try_from(from.max(0)).unwrap_or(u64::MAX))
    }
}
