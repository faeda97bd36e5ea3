//! The instant from which a node that has lost its memory may vote.

use super::instant::nanos;
use super::{ClockDrift, FencingWindow, Instant};
use std::time::Duration;

/// The grain of the clocks that the window is measured with. A ballot that is exactly as far from
/// an earlier one as the window is wide is not far enough: the two could be equal.
const GRAIN: Duration = Duration::from_millis(1);

/// A node reports its uptime as the difference of two whole seconds: up to this much too long.
const UPTIME_ROUNDS_UP: Duration = Duration::from_secs(1);

/// Returns how long a node that has lost its memory does not vote, and how long a fence is kept:
/// `D`.
///
/// ```text
///  the last grant before the restart            the node votes
///  |--- ttl, extensions included: its key ---|--- drift ---|
///  |-- ahead --|------- back -------|- grain-|--- drift ---|
///        the greatest ballot    the smallest one
///        that it has let in     that it lets in now
/// ```
pub fn quarantine(max_ttl: Duration, window: FencingWindow, drift: ClockDrift) -> Duration {
    let longest = max_ttl.max(window.width().saturating_add(GRAIN));
    longest.saturating_add(drift.of(longest))
}

/// The latest time at which a node has started; usually before the origin of the clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Start(i128);

impl Start {
    /// Returns the start of a node whose reported `uptime` was read at `read`.
    ///
    /// The instant of the question is no substitute. If a node was stopped in between, that time
    /// counts in its uptime, and it would vote that much too early.
    pub fn reported(read: Instant, uptime: Duration) -> Self {
        let ran = uptime.saturating_sub(UPTIME_ROUNDS_UP);
        Self(i128::from(read.as_nanos()) - i128::from(nanos(ran)))
    }

    /// Returns the start of a node that may have started as late as `now`.
    pub fn at(now: Instant) -> Self {
        Self::reported(now, Duration::ZERO)
    }

    /// Returns the instant from which its vote counts: `quarantine` after its start.
    pub fn votes_from(self, quarantine: Duration) -> Instant {
        let from = self.0.saturating_add(i128::from(nanos(quarantine)));
        Instant::from_nanos(u64::try_from(from.max(0)).unwrap_or(u64::MAX))
    }
}
