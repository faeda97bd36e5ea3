//! Masters that forget their scripts under a held lock: nothing is lost.

use super::prelude::*;
use quorumlock::kind::Kind;
use quorumlock::{Acquire, Guard, Redlock, Released};
use std::future::IntoFuture;
use std::time::Duration;

const TTL: Duration = Duration::from_millis(1_500);

async fn connect(masters: &Masters) -> Redlock {
    masters.builder().ttl(TTL).connect().await.unwrap()
}

async fn flush(masters: &[Master]) {
    let flush = redis::cmd("SCRIPT").arg("FLUSH").to_owned();
    for server in masters {
        witness::ask::<()>(server, &flush).await.unwrap();
    }
}

/// A quorum forgets its scripts repeatedly under a lock that is kept alive, and under one that its
/// holder extends.
async fn a_quorum_forgets<K: Kind>(acquire: impl Fn(&Redlock, &'static str) -> Acquire<Guard<K>>) {
    let masters = Masters::start(5);
    let (redlock, rival) = (connect(&masters).await, connect(&masters).await);
    let kept = acquire(&redlock, "kept").keep_alive().await.unwrap();
    let held: Guard<K> = acquire(&redlock, "held").ttl(LONG).await.unwrap();
    everywhere(&masters, "kept").await;
    everywhere(&masters, "held").await;
    for round in 0..3 {
        flush(&masters[..3]).await;
        let before = held.deadline();
        tokio::time::sleep(MS).await;
        // This may cost one round, but never the lock.
        if held.extend().await.is_err() {
            assert!(held.is_valid(), "round {round}");
            assert!(held.extend().await.unwrap() > before, "round {round}");
        }
        flush(&masters[2..]).await;
        // An acquire works at once, whichever client makes it.
        for client in [&redlock, &rival] {
            let guard = acquire(client, "another").timeout(Duration::ZERO).await;
            assert_eq!(guard.unwrap().release().await, Ok(Released::Confirmed), "round {round}");
        }
        flush(&masters[1..4]).await;
        tokio::time::sleep(TTL).await;
        kept.check().unwrap();
        assert!(rival.try_acquire("kept").await.unwrap_err().is_contended());
    }
    assert_eq!(kept.release().await, Ok(Released::Confirmed));
    assert_eq!(held.release().await, Ok(Released::Confirmed));
    let locks = |key: &str| !key.contains("quorumlock:");
    witness::eventually_none(&masters, locks, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn scripts_flushed_on_a_quorum_lose_and_delay_no_lock() {
    a_quorum_forgets(|redlock, name| redlock.acquire(name)).await;
}

#[tokio::test(start_paused = true)]
async fn scripts_flushed_on_a_quorum_lose_and_delay_no_fenced_lock() {
    a_quorum_forgets(|redlock, name| redlock.acquire(name).fenced()).await;
}

/// Each release serves the next in order, without a pause.
#[tokio::test(start_paused = true)]
async fn forgotten_scripts_and_the_loss_of_the_lists_master_cost_no_place() {
    let masters = Masters::start(5);
    let mut guard = connect(&masters).await.acquire("r").fair(true).ttl(LONG).await.unwrap();
    let (mut waiters, mut first) = (Vec::new(), 0);
    for place in 1..5 {
        let acquire = connect(&masters).await.acquire("r").fair(true).ttl(LONG);
        waiters.push(tokio::spawn(acquire.timeout(Duration::MAX).into_future()));
        first = stand(&masters, place).await;
        // Those that come within a round trip of each other may change places where the list moves.
        tokio::time::sleep(100 * MS).await;
    }
    for (round, waiter) in waiters.into_iter().enumerate() {
        // An order is promised only where the hold has its key.
        let alive = if round > 1 { 4 } else { 5 };
        eventually("all masters have the key", SOON, async || {
            // The first one may find that the scripts are forgotten.
            drop(guard.extend().await);
            witness::holders(&masters, "r").await.len() == alive
        })
        .await;
        if round == 1 {
            masters[first].kill();
            stand(&masters, 3).await;
        }
        flush(&masters[..first]).await;
        flush(&masters[first + 1..]).await;
        // They ask meanwhile.
        tokio::time::sleep(2 * SECOND).await;
        let released = Instant::now();
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
        guard = waiter.await.unwrap().unwrap();
        assert!(released.elapsed() < 5 * MS, "hand-over {round} in {:?}", released.elapsed());
    }
    guard.release().await.unwrap();
    masters[first].restart();
    witness::eventually_no_keys(&masters, 2 * SOON).await;
}
