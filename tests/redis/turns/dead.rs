//! What waiters pay for a waiter ahead of them that is dead, stopped, or cannot win, and for
//! masters that forget.

use super::processes::{Processes, Way};
use super::{nanos, queues, stand, write_waiters};
use crate::support::docker::tell;
use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::{Guard, Redlock};
use redis::cmd;
use rustix::process::Signal;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// A place in front lives for three seconds, and a waiter there looks each second.
const SKIPPED: Duration = Duration::from_secs(4);
/// On a busy machine.
pub(crate) const LATE: Duration = Duration::from_millis(1_500);

async fn client(masters: &Masters) -> Redlock {
    masters.builder().operation_timeout(900 * MS).ttl(LONG).connect().await.unwrap()
}

pub(crate) fn waiter(redlock: &Redlock) -> JoinHandle<(Guard, Instant)> {
    let acquire = redlock.acquire("r").fair().no_timeout();
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

/// A process that is first is stopped, or killed; returns how long the next one waits for it.
async fn next_after_a(signal: Signal) -> Duration {
    let masters = Masters::start(5);
    let mut process = Processes::start(&masters, 1);
    let [holder, next] = [client(&masters).await, client(&masters).await];
    let guard = holder.acquire("r").fair().await.unwrap();
    process.begin(0, Way::Fair, 1, nanos());
    let head = stand(&masters, 1).await;
    let next = waiter(&next);
    assert_eq!(stand(&masters, 2).await[0], head[0]);
    process.signal(0, signal);
    handed_over(guard, next).await.1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_head_is_skipped_once_its_place_is_over() {
    let took = next_after_a(Signal::STOP).await;
    tell(&format!("the next one is in {took:.1?} after the release to a stopped process"));
    assert!(took > SECOND, "{took:?}: the key is kept for it");
    assert!(took < SKIPPED + LATE, "{took:?}");
}

/// All at once, however many they are, and for however long their places live.
async fn next_after_dead(count: usize, life: Duration) -> Duration {
    let masters = Masters::start(5);
    let [holder, next] = [client(&masters).await, client(&masters).await];
    let guard = holder.acquire("r").fair().await.unwrap();
    let dead: Vec<String> = (0..count).map(|name| format!("{name:032x}")).collect();
    let next = waiter(&next);
    stand(&masters, 1).await;
    write_waiters(&masters, &dead, life).await;
    let stand = queues(&masters).await;
    assert!(
        stand.iter().all(|queue| queue.len() == count + 1 && queue[..count] == dead),
        "{stand:?}"
    );
    handed_over(guard, next).await.1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_dead_waiters_cost_no_more_than_one() {
    let took = next_after_dead(100, 3 * SECOND).await;
    tell(&format!("the next one is in {took:.1?} after the release to a hundred dead"));
    assert!(took > SECOND, "{took:?}: the key is kept for one of them");
    assert!(took < SKIPPED + LATE, "{took:?}");
}

/// They were far back when they died, and the queue has become faster since.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_waiters_that_were_far_back_cost_no_more_than_others() {
    let took = next_after_dead(300, 27 * SECOND).await;
    tell(&format!("the next one is in {took:.1?} after the release to dead ones of long lives"));
    assert!(took > SECOND, "{took:?}: the key is kept for one of them");
    assert!(took < SKIPPED + LATE, "{took:?}");
}

/// The figures that were asked for: `cargo nextest run --all-features --test redis turns::dead
/// --run-ignored only --no-capture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn how_long_the_dead_hold_up_the_next() {
    for _ in 0..5 {
        let (stopped, killed) =
            (next_after_a(Signal::STOP).await, next_after_a(Signal::KILL).await);
        let hundred = next_after_dead(100, 3 * SECOND).await;
        let crowd = next_after_dead(300, 27 * SECOND).await;
        tell(&format!(
            "stopped {stopped:.2?}, killed {killed:.2?}, a hundred dead {hundred:.2?}, \
             three hundred that were far back {crowd:.2?}"
        ));
        assert!(stopped.max(killed).max(hundred) < SKIPPED + SECOND / 2);
    }
}

/// A hand-over after each fault: to the next in turn, and without a pause.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forgotten_scripts_and_a_killed_master_cost_no_place() {
    let masters = Masters::start(5);
    let clients = join_all([(); 5].map(|()| client(&masters))).await;
    let mut guard = clients[0].acquire("r").fair().await.unwrap();
    let mut waiters = Vec::new();
    for (place, redlock) in clients[1..].iter().enumerate() {
        waiters.push(waiter(redlock));
        stand(&masters, place + 1).await;
    }
    for (round, waiter) in waiters.into_iter().enumerate() {
        match round {
            1 => masters[0].restart(),
            2 => masters[4].restart(),
            _ => {}
        }
        let flush = cmd("SCRIPT").arg("FLUSH").to_owned();
        for server in masters.iter() {
            witness::ask::<()>(server, &flush).await.unwrap();
        }
        let released = Instant::now();
        // A restart soon after a win by the fewest masters may have cost the lock itself.
        drop(guard.release().await);
        let (next, got) = tokio::time::timeout(LONG, waiter).await.unwrap().unwrap();
        let took = got - released;
        tell(&format!("hand-over {round} in {took:.1?}"));
        assert!(took < SECOND + LATE, "hand-over {round} in {took:?}");
        guard = next;
    }
    guard.release().await.unwrap();
    witness::eventually_no_keys(&masters, 2 * SOON).await;
}
