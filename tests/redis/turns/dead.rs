//! What waiters pay for a waiter ahead of them that is dead or stopped, and for masters that forget.

use super::processes::{Processes, Way};
use super::{nanos, stand};
use crate::support::docker::tell;
use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::{Guard, Redlock};
use redis::cmd;
use rustix::process::Signal;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// On a busy machine.
pub(crate) const LATE: Duration = Duration::from_millis(1_500);

/// Longer than any round trip to a master.
const APART: Duration = Duration::from_millis(300);

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

/// To the next in order, and without a pause.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forgotten_scripts_and_the_loss_of_the_lists_master_cost_no_place() {
    let masters = Masters::start(5);
    let clients = join_all([(); 5].map(|()| client(&masters))).await;
    let mut guard = clients[0].acquire("r").fair(true).await.unwrap();
    let (mut waiters, mut first) = (Vec::new(), 0);
    for (place, redlock) in clients[1..].iter().enumerate() {
        waiters.push(waiter(redlock));
        first = stand(&masters, place + 1).await;
        // Waiters that come within a round trip of each other may change places where the list moves.
        tokio::time::sleep(APART).await;
    }
    for (round, waiter) in waiters.into_iter().enumerate() {
        if round == 1 {
            // A win by the fewest masters would be lost with one of them. An extension brings it to the others.
            // The first one may find that the scripts are forgotten.
            eventually("the others are a quorum of the holder", 2 * SOON, async || {
                drop(guard.extend().await);
                let mut values = witness::values(&masters, "r").await;
                let lost = values.swap_remove(first);
                lost.is_some() && values.iter().filter(|value| **value == lost).count() >= 3
            })
            .await;
            // While it comes back, two masters have a list, and an order is not promised.
            masters[first].kill();
            stand(&masters, 3).await;
        }
        let flush = cmd("SCRIPT").arg("FLUSH").to_owned();
        for server in masters.iter() {
            let flushed = witness::ask::<()>(server, &flush).await;
            assert!(flushed.is_ok() || round > 0, "{flushed:?}");
        }
        let released = Instant::now();
        // Its loss soon after a win by the fewest masters may have cost the lock itself.
        drop(guard.release().await);
        let (next, got) = tokio::time::timeout(LONG, waiter).await.unwrap().unwrap();
        let took = got - released;
        tell(&format!("hand-over {round} in {took:.1?}"));
        assert!(took < LATE, "hand-over {round} in {took:?}");
        guard = next;
    }
    guard.release().await.unwrap();
    masters[first].restart();
    witness::eventually_no_keys(&masters, 2 * SOON).await;
}
