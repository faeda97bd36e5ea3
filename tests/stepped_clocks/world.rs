//! What these tests have in common.

use crate::support::clock;
use crate::support::masters::Masters;
use quorumlock::{Redlock, RedlockBuilder};
use std::ops::Range;
use std::time::Duration;

pub(crate) const MS: Duration = Duration::from_millis(1);
/// Of a lock that shall not lapse while the test runs.
pub(crate) const LONG: Duration = Duration::from_secs(20);
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// As masters are set, in milliseconds.
pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const AN_HOUR: Duration = Duration::from_secs(3_600);

/// A client that leaves no master out, however busy the machine is.
pub(crate) async fn connect(builder: RedlockBuilder) -> Redlock {
    builder.connect_timeout(SOON).operation_timeout(SOON).connect().await.unwrap()
}

/// Two clients that know nothing of each other.
pub(crate) async fn two(masters: &Masters) -> [Redlock; 2] {
    [connect(masters.builder()).await, connect(masters.builder()).await]
}

pub(crate) async fn set(masters: &Masters, which: Range<usize>, ahead_ms: i64) {
    clock::set(&masters[which], ahead_ms).await;
}
