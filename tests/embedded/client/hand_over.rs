//! The hand-over of a lock: in order within a process, at once between processes. In the end every
//! waiter gets it, whatever happens to other waiters and to the messages.

use super::prelude::*;
use futures::future::join_all;
use quorumlock::{Backoff, Redlock, RedlockBuilder};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);
/// A rare poll: a waiter that is served sooner was notified.
const SELDOM: (Duration, Duration) = (Duration::from_secs(8), Duration::from_secs(10));

/// Configures a client that hardly ever polls.
fn seldom(masters: &Masters) -> RedlockBuilder {
    masters.builder().backoff(Backoff { base: SELDOM.0, cap: SELDOM.1 }).acquire_timeout(PATIENCE)
}

/// Returns how many listen at this master for a release of `r`.
async fn listeners_at(master: &Master) -> usize {
    let command = redis::cmd("PUBSUB").arg("NUMSUB").arg("quorumlock:free:0:r").to_owned();
    witness::ask::<(String, usize)>(master, &command).await.unwrap().1
}

async fn listeners(masters: &Masters) -> usize {
    join_all(masters.iter().map(listeners_at)).await.into_iter().sum()
}

/// Acquires `r`, and records its number when it has it.
fn note(
    redlock: &Redlock,
    number: usize,
    order: &Arc<Mutex<Vec<usize>>>,
) -> tokio::task::JoinHandle<()> {
    let (redlock, order) = (redlock.clone(), order.clone());
    tokio::spawn(async move {
        let guard = redlock.acquire("r").timeout(PATIENCE).await.unwrap();
        order.lock().unwrap().push(number);
        tokio::time::sleep(MS).await;
        guard.release().await.unwrap();
    })
}

#[tokio::test(start_paused = true)]
async fn within_a_process_the_first_waiter_is_served_first() {
    let (masters, redlock) = five().await;
    let first = redlock.acquire("r").await.unwrap();
    let order = Arc::default();
    let mut waiters = Vec::new();
    for number in 0..20 {
        waiters.push(note(&redlock, number, &order));
        tokio::task::yield_now().await;
    }
    let before = witness::command_count(&masters[0]).await;
    tokio::time::sleep(50 * MS).await;
    let asked = witness::command_count(&masters[0]).await - before;
    assert!(asked <= 3, "{asked} commands of clients that only wait");
    first.release().await.unwrap();
    join_all(waiters).await;
    assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    witness::eventually_no_keys(&masters, PATIENCE).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_goes_leaves_the_others_their_places() {
    let (masters, redlock) = three().await;
    let first = redlock.acquire("r").await.unwrap();
    let order = Arc::default();
    let mut waiters = Vec::new();
    for number in 0..60 {
        waiters.push(note(&redlock, number, &order));
    }
    tokio::time::sleep(20 * MS).await;
    for (number, waiter) in waiters.iter().enumerate() {
        if number % 3 == 0 {
            waiter.abort();
        }
    }
    first.release().await.unwrap();
    let served = join_all(waiters).await.into_iter().filter(Result::is_ok).count();
    assert_eq!((served, order.lock().unwrap().len()), (40, 40));
    witness::eventually_no_keys(&masters, PATIENCE).await;
}

/// Returns how long a waiter of another client waits once the lock is free: the worst of some
/// tries.
async fn slowest_hand_over(masters: &Masters, waiting: RedlockBuilder, listens: usize) -> Duration {
    let (holder, waiter) =
        (masters.builder().connect().await.unwrap(), waiting.connect().await.unwrap());
    let mut slowest = Duration::ZERO;
    for _ in 0..5 {
        let guard = holder.acquire("r").await.unwrap();
        let waits = tokio::spawn({
            let waiter = waiter.clone();
            async move { waiter.acquire("r").await.unwrap() }
        });
        let ready = async || listeners(masters).await == listens;
        eventually("it listens, if it does", PATIENCE, ready).await;
        tokio::time::sleep(30 * MS).await;
        guard.release().await.unwrap();
        let free = Instant::now();
        waits.await.unwrap().release().await.unwrap();
        slowest = slowest.max(free.elapsed());
    }
    slowest
}

#[tokio::test(start_paused = true)]
async fn between_processes_a_release_notifies_the_waiter() {
    let masters = Masters::start(5);
    let slowest = slowest_hand_over(&masters, seldom(&masters), 1).await;
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    witness::eventually_no_keys(&masters, PATIENCE).await;
}

#[tokio::test(start_paused = true)]
async fn with_wake_ups_off_it_is_found_by_polling_and_no_client_listens() {
    let masters = Masters::start(3);
    let polling = masters
        .builder()
        .wake_ups(false)
        .backoff(Backoff { base: 20 * MS, cap: 200 * MS })
        .acquire_timeout(PATIENCE);
    let found = slowest_hand_over(&masters, polling, 0).await;
    assert!(found < Duration::from_secs(5), "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn masters_that_deny_channels_make_it_slower_and_never_wrong() {
    let masters = Masters::start(3);
    masters.iter().for_each(|master| master.deny(&["subscribe", "publish"]).unwrap());
    let polling = masters
        .builder()
        .backoff(Backoff { base: 20 * MS, cap: 200 * MS })
        .acquire_timeout(PATIENCE);
    let found = slowest_hand_over(&masters, polling, 0).await;
    assert!(found < Duration::from_secs(5), "{found:?}");
    witness::eventually_no_keys(&masters, PATIENCE).await;
}

/// The connection that notifies the waiter is lost: another master notifies it, or a poll does.
#[tokio::test(start_paused = true)]
async fn a_master_that_was_to_tell_and_dies_costs_a_poll_at_most() {
    let masters = Masters::start(5);
    let holder = masters.builder().connect().await.unwrap();
    let waiter = masters.builder().acquire_timeout(PATIENCE).connect().await.unwrap();
    let guard = holder.acquire("r").ttl(PATIENCE).await.unwrap();
    let waits = tokio::spawn(async move { waiter.acquire("r").await });
    let listens = async || listeners(&masters).await == 1;
    eventually("it listens", PATIENCE, listens).await;
    let mut teller = 0;
    for (node, master) in masters.iter().enumerate() {
        teller = if listeners_at(master).await == 0 { teller } else { node };
    }
    masters.kill(teller);
    guard.release().await.unwrap();
    let free = Instant::now();
    waits.await.unwrap().unwrap().release().await.unwrap();
    assert!(free.elapsed() < Duration::from_secs(3), "{:?}", free.elapsed());
}
