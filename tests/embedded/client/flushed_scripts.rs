//! Masters that forget their scripts under a held lock: nothing is lost.

use super::prelude::*;
use quorumlock::kind::Kind;
use quorumlock::{Acquire, Guard, Redlock, Released};
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
