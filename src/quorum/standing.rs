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

/// From when on a node's vote counts: `quarantine` after its start. It said that it had run for
/// `uptime`, and that was read at `read`.
///
/// The instant at which it was asked is no substitute: a node that was stopped in between counts
/// that time in its uptime, too, and would vote that much too early.
pub(crate) fn votes_from(read: Instant, uptime: Duration, quarantine: Duration) -> Instant {
    let ran = uptime.saturating_sub(UPTIME_ROUNDS_UP);
    Instant::from_nanos(read.after(quarantine).as_nanos().saturating_sub(nanos(ran)))
}
