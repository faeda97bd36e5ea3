//! Common parts of these tests.

use crate::support::clock;
use crate::support::prelude::*;
use quorumlock::{Redlock, RedlockBuilder};
use std::ops::Range;
use std::time::Duration;

pub(crate) const MS: Duration = Duration::from_millis(1);
/// The ttl of a lock that must not expire while the test runs.
pub(crate) const LONG: Duration = Duration::from_secs(20);
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// In milliseconds, the unit in which masters' clocks are set.
pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const AN_HOUR: Duration = Duration::from_secs(3_600);

/// Connects a client that leaves no master out, however busy the machine is.
pub(crate) async fn connect(builder: RedlockBuilder) -> Redlock {
    builder.connect_timeout(SOON).operation_timeout(SOON).connect().await.unwrap()
}

/// Connects two clients that know nothing of each other.
pub(crate) async fn two(masters: &Masters) -> [Redlock; 2] {
    [connect(masters.builder()).await, connect(masters.builder()).await]
}

pub(crate) async fn set(masters: &Masters, which: Range<usize>, ahead_ms: i64) {
    clock::set(&masters[which], ahead_ms).await;
}
