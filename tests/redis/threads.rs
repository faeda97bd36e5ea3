//! Clients with a thread of their own, against real masters: the same promises to plain threads, and
//! to those within runtimes.
//! On a real clock: threads block.

mod body;
mod connecting;
mod ending;
mod holding;
mod once;
mod runtimes;

use crate::support::prelude::*;
use quorumlock::{Guard, Redlock, RedlockBuilder, Wait};
use std::future::Future;
use std::time::Duration;

/// Longer than [`SOON`]: a key that is gone by then was deleted and has not expired.
const TTL: Duration = Duration::from_secs(30);
/// Bound for operations that take milliseconds on an idle machine.
const SOON: Duration = Duration::from_secs(20);

fn three() -> (Masters, Redlock) {
    let masters = Masters::start(3);
    let redlock = connect(&masters);
    (masters, redlock)
}

fn connect(masters: &Masters) -> Redlock {
    patient(masters).connect().wait().unwrap()
}

/// Configures long timeouts: a loaded machine must not look like an outage.
fn patient(masters: &Masters) -> RedlockBuilder {
    let slow = Duration::from_secs(3);
    let builder = masters.builder().own_thread(true);
    builder.ttl(TTL).operation_timeout(slow).connect_timeout(slow).acquire_timeout(SOON)
}

/// Runs the async witness on its own runtime.
fn look<T>(at: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(at)
}

fn assert_nothing_stays(masters: &Masters) {
    look(witness::eventually_no_keys(masters, SOON));
}
