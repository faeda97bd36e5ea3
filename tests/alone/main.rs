//! Tests that run one at a time, since they compare times within one run, or count the threads or
//! the memory of the process. cargo-nextest runs them without any other test (.config/nextest.toml).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod availability;
#[cfg(target_os = "linux")]
mod descriptors;
mod half_open;
mod loss;
mod lost_on_time;
mod memory;
#[cfg(target_os = "linux")]
mod own_thread;
mod redials;
mod slow_masters;
#[path = "../support/mod.rs"]
mod support;

use tokio::sync::{Mutex, MutexGuard};

static TURN: Mutex<()> = Mutex::const_new(());

/// Waits for this test's turn. `cargo test` runs the tests of a binary next to each other.
async fn alone() -> MutexGuard<'static, ()> {
    TURN.lock().await
}
