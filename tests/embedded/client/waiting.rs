//! What waiters in other processes cost the masters while a lock is held for long, and how soon one of
//! them has it then. `HELD_FOR=60` holds it for a minute; the figures are printed.

use super::prelude::*;
use crate::support::docker::tell;
use futures::future::{join_all, select_all};
use std::collections::BTreeMap;
use std::time::Duration;

/// What an attempt sends. Heartbeats are there with and without a wait.
const OF_ATTEMPTS: [&str; 4] = ["set", "pttl", "eval", "evalsha"];

async fn commands(masters: &Masters) -> f64 {
    witness::calls_of(masters, &OF_ATTEMPTS).await as f64
}

async fn assert_seldom(waiters: usize) {
    let held_for = std::env::var("HELD_FOR").map_or(12, |given| given.parse().unwrap());
    let (masters, holder) = five().await;
    // Seldom extended, so that this hardly counts.
    let guard = holder.acquire("job").ttl(LONG).keep_alive().await.unwrap();
    let clients = join_all((0..waiters).map(|_| masters.builder().connect())).await;
    let mut waiting = Vec::new();
    for client in clients {
        let client = client.unwrap();
        waiting.push(tokio::spawn(async move {
            let guard = client.acquire("job").timeout(Duration::MAX).await.unwrap();
            (Instant::now(), guard.release().await)
        }));
    }
    let (began, before) = (Instant::now(), commands(&masters).await);
    tokio::time::sleep(Duration::from_secs(held_for) / 2).await;
    let (half, middle) = (Instant::now(), commands(&masters).await);
    tokio::time::sleep(Duration::from_secs(held_for) / 2).await;
    let (end, after) = (Instant::now(), commands(&masters).await);
    guard.release().await.unwrap();
    let released = Instant::now();
    let (first, _, others) = select_all(waiting).await;
    let (acquired, _) = first.unwrap();
    let latency = acquired.saturating_duration_since(released);
    join_all(others).await;

    let each = 1.0 / waiters as f64;
    let at_first = (middle - before) / half.duration_since(began).as_secs_f64() * each;
    let then = (after - middle) / end.duration_since(half).as_secs_f64() * each;
    tell(&format!(
        "{waiters} behind a lock that is held for {held_for} s: {at_first:.1} commands a second each \
         in the first half, {then:.1} in the second; {latency:.1?} after the release"
    ));
    // Without the long pauses, 37.
    assert!(then < 25.0, "{then:.1} commands a second");
    assert!(latency < SOON, "{latency:?} after the release");
}

/// A client that waits would ask for it.
#[tokio::test(start_paused = true)]
async fn a_lock_that_no_client_waits_for_costs_two_commands_at_each_master() {
    let (masters, redlock) = five().await;
    let cycle = async || redlock.acquire("job").await.unwrap().release().await.unwrap();
    cycle().await;
    let all = ["set", "eval", "evalsha", "delifeq", "delex", "publish"];
    let before = witness::calls_of(&masters, &all).await;
    for _ in 0..10 {
        cycle().await;
    }
    assert_eq!(witness::calls_of(&masters, &all).await - before, 10 * 2 * 5);
}

#[tokio::test(start_paused = true)]
async fn one_waiter_behind_a_long_hold_asks_seldom() {
    assert_seldom(1).await;
}

#[tokio::test(start_paused = true)]
async fn ten_waiters_behind_a_long_hold_ask_seldom() {
    assert_seldom(10).await;
}

/// A master whose nil has counted has set nothing, so it is sent no rollback. Those that a verdict does not
/// wait for are.
#[tokio::test(start_paused = true)]
async fn a_refused_set_costs_a_master_one_command_and_not_two() {
    const TRIES: u64 = 50;
    let count = |calls: &[BTreeMap<String, u64>], name: &str| -> u64 {
        calls.iter().filter_map(|master| master.get(name)).sum()
    };
    for (nodes, not_waited_for) in [(1, 0), (3, 1)] {
        let masters = Masters::start(nodes);
        let connect = || masters.builder().operation_timeout(900 * MS).connect();
        let (holder, other) = (connect().await.unwrap(), connect().await.unwrap());
        let guard = holder.acquire("job").ttl(LONG).await.unwrap();
        everywhere(&masters, "job").await;
        for _ in 0..TRIES {
            other.try_acquire("job").await.unwrap_err();
        }
        let calls = async || join_all(masters.iter().map(witness::calls)).await;
        let all = (1 + TRIES) * nodes as u64;
        eventually("all have refused", SOON, async || count(&calls().await, "set") == all).await;
        // It waits for the answers to the last rollbacks.
        other.shutdown().await.unwrap();
        let calls = calls().await;
        // The look for the error's holder calls PTTL, and a rollback does not.
        let executed: u64 = calls.iter().map(witness::releases).sum();
        let rollbacks = executed - count(&calls, "pttl");
        assert!(rollbacks <= TRIES * not_waited_for, "{rollbacks}: {calls:?}");
        guard.release().await.unwrap();
    }
}
