//! What most of these tests need: the names of `tests/support/prelude.rs`, for masters in virtual time.

// Each module uses a part of it.
#![allow(unused_imports)]

pub(crate) use crate::masters::{Master, Masters, builder};
pub(crate) use crate::support::poll::eventually;
pub(crate) use crate::support::prelude::{LONG, MS, SECOND, SOON, everywhere, stand};
pub(crate) use crate::support::witness::{self, AGREEMENT, outlives_clients};
use quorumlock::Redlock;
pub(crate) use tokio::time::Instant;

/// Starts three masters and connects a client of them.
pub(crate) async fn three() -> (Masters, Redlock) {
    connected(3).await
}

/// Starts five masters and connects a client of them.
pub(crate) async fn five() -> (Masters, Redlock) {
    connected(5).await
}

async fn connected(n: usize) -> (Masters, Redlock) {
    let masters = Masters::start(n);
    let redlock = masters.builder().connect().await.unwrap();
    (masters, redlock)
}
