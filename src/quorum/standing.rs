//! When a master that has started may vote.
//!
//! A master that has lost its memory grants again what it had granted before. It must not vote
//! until every lock that it may have granted has expired: without that, one restart gives two
//! holders in nine steps, and with a delay one tick short of the ttl in ten (`SAFETY.md`).

use super::fence::Window;
use super::{Drift, Instant};
use std::time::Duration;

/// A server counts its uptime in whole seconds and rounds up by as much as one.
const UPTIME_GRAIN: Duration = Duration::from_secs(1);

/// How long a master that has started does not vote: the longest life of a key, and of a fence
/// that a ballot may still have to be compared with, plus the drift of that. One for fenced and
/// unfenced locks alike.
pub(crate) fn quarantine(max_ttl: Duration, window: Window, drift: Drift) -> Duration {
    let longest = max_ttl.max(window.width());
    longest.saturating_add(drift.of(longest))
}

/// From when a master may vote that was heard to say, at `heard`, that it has been up for
/// `uptime`.
///
/// Counted from when its answer was heard, not from when it was asked: it may have been asked long
/// before it looked at its clock.
pub(crate) fn votes_from(heard: Instant, uptime: Duration, quarantine: Duration) -> Instant {
    let surely_up = uptime.saturating_sub(UPTIME_GRAIN);
    let started_ago = quarantine.checked_sub(surely_up);
    started_ago.map_or(Instant::from_nanos(0), |left| heard.after(left))
}
