//! What waiters pay for a waiter ahead of them that is dead or stopped.

use super::nanos;
use super::processes::{Processes, Way};
use crate::support::docker::tell;
use crate::support::prelude::*;
use quorumlock::{Guard, Redlock};
use rustix::process::Signal;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// On a busy machine.
pub(crate) const LATE: Duration = Duration::from_millis(1_500);

async fn client(masters: &Masters) -> Redlock {
    masters.builder().operation_timeout(900 * MS).ttl(LONG).connect().await.unwrap()
}

pub(crate) fn waiter(redlock: &Redlock) -> JoinHandle<(Guard, Instant)> {
    let acquire = redlock.acquire("r").fair(true).timeout(Duration::MAX);
    tokio::spawn(async move { (acquire.await.unwrap(), Instant::now()) })
}

/// Releases the lock, and returns how long it took the waiter to get in.
pub(crate) async fn handed_over(
    guard: Guard,
    waiter: JoinHandle<(Guard, Instant)>,
) -> (Guard, Duration) {
    let released = Instant::now();
    guard.release().await.unwrap();
    let (next, got) = tokio::time::timeout(LONG, waiter).await.unwrap().unwrap();
    (next, got - released)
}

/// One that is called and does not come is passed over, and one whose connection has ended is not called.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_that_is_stopped_or_killed_holds_up_no_waiter() {
    for signal in [Signal::STOP, Signal::KILL] {
        let masters = Masters::start(5);
        let mut process = Processes::start(&masters, 1);
        let [holder, next] = [client(&masters).await, client(&masters).await];
        let guard = holder.acquire("r").fair(true).await.unwrap();
        process.begin(0, Way::Fair, 1, nanos());
        stand(&masters, 1).await;
        let next = waiter(&next);
        stand(&masters, 2).await;
        process.signal(0, signal);
        let took = handed_over(guard, next).await.1;
        tell(&format!("the next one is in {took:.1?} after the release, {signal:?}"));
        assert!(took < LATE, "{took:?}");
    }
}
