//! The API without `async`, against real masters: the same promises, from plain threads and from
//! within runtimes.
//! On a real clock: threads block.

mod body;
mod connecting;
mod ending;
mod holding;
mod once;
mod runtimes;

use crate::support::prelude::*;
use quorumlock::blocking::{
    self, Acquire, FencedGuard, FencedLease, FencedReentrantGuard, Guard, Lease, Redlock,
    Reentrant, ReentrantGuard,
};
use quorumlock::kind::Fenced;
use std::fmt::Debug;
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
    patient(masters).connect().unwrap()
}

/// Configures long timeouts: a loaded machine must not look like an outage.
fn patient(masters: &Masters) -> blocking::Builder {
    let slow = Duration::from_secs(3);
    let builder = blocking::Builder::from(masters.builder());
    builder.ttl(TTL).operation_timeout(slow).connect_timeout(slow).acquire_timeout(SOON)
}

/// Runs the async witness on its own runtime.
fn look<T>(at: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(at)
}

fn assert_nothing_stays(masters: &Masters) {
    look(witness::eventually_no_keys(masters, SOON));
}

const fn is_shared<T: Send + Sync + Debug + Unpin + 'static>() {}

const _: () = {
    is_shared::<Redlock>();
    is_shared::<Acquire>();
    is_shared::<Acquire<FencedGuard>>();
    is_shared::<Guard>();
    is_shared::<FencedGuard>();
    is_shared::<Lease>();
    is_shared::<FencedLease>();
    is_shared::<blocking::Builder>();
    is_shared::<Reentrant>();
    is_shared::<Reentrant<Fenced>>();
    is_shared::<Acquire<ReentrantGuard>>();
    is_shared::<ReentrantGuard>();
    is_shared::<FencedReentrantGuard>();
};
