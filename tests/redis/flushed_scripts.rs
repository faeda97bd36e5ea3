//! Masters that forget their scripts, or refuse to write for a while, under a held lock: nothing is
//! lost, and debts are paid.

use crate::support::prelude::*;
use quorumlock::kind::Kind;
use quorumlock::{Acquire, FencingWindow, Guard, Lost, Redlock, Released, RestartGuard};
use std::time::Duration;

const TTL: Duration = Duration::from_millis(1_500);

async fn connect(masters: &Masters) -> Redlock {
    let builder =
        Redlock::builder().nodes(masters.urls()).ttl(TTL).restart_guard(RestartGuard::Off);
    builder.connect().await.unwrap()
}

async fn flush(masters: &[Server]) {
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

#[tokio::test]
async fn scripts_flushed_on_a_quorum_lose_and_delay_no_lock() {
    a_quorum_forgets(|redlock, name| redlock.acquire(name)).await;
}

#[tokio::test]
async fn scripts_flushed_on_a_quorum_lose_and_delay_no_fenced_lock() {
    a_quorum_forgets(|redlock, name| redlock.acquire(name).fenced()).await;
}

/// `NOREPLICAS`: they answer, and write nothing.
#[tokio::test]
async fn a_release_is_owed_until_masters_that_refuse_writes_accept_it() {
    for fenced in [false, true] {
        let masters = Masters::start(3);
        let redlock = connect(&masters).await;
        let released = if fenced {
            let guard = redlock.acquire("r").ttl(LONG).fenced().await.unwrap();
            release_unwritten(&masters, guard).await
        } else {
            let guard = redlock.acquire("r").ttl(LONG).await.unwrap();
            release_unwritten(&masters, guard).await
        };
        let Ok(Released::Unconfirmed(nodes)) = released else { panic!("{released:?}") };
        let refused = nodes.iter().filter(|node| node.to_string().contains("NOREPLICAS")).count();
        assert!(refused >= 2, "{nodes:?}");
        assert_eq!(witness::holders(&masters, "r").await, [0, 1, 2], "nothing was written");
        let rival = connect(&masters).await;
        assert!(rival.try_acquire("r").await.is_err());
        need_replicas(&masters, 0).await;
        // Long before the keys would have expired.
        witness::eventually_none(&masters, |key| key == "r", SOON).await;
        assert!(redlock.try_acquire("r").await.is_ok());
    }
}

async fn need_replicas(masters: &Masters, count: u8) {
    let mut set = redis::cmd("CONFIG");
    set.arg("SET").arg("min-replicas-to-write").arg(count);
    for server in masters.iter() {
        witness::ask::<()>(server, &set).await.unwrap();
    }
}

async fn release_unwritten<K: Kind>(masters: &Masters, guard: Guard<K>) -> Result<Released, Lost> {
    everywhere(masters, "r").await;
    need_replicas(masters, 1).await;
    guard.release().await
}

/// A fence lives for `D` and a second. For a lock that is held for longer, the release must set the
/// fence again, and a master without memory refuses that.
#[tokio::test]
async fn masters_out_of_memory_delete_keys_though_fences_have_expired() {
    const SHORT: Duration = Duration::from_secs(1);
    const WINDOW: Duration = Duration::from_millis(100);
    let masters = Masters::start(3);
    let builder = Redlock::builder().nodes(masters.urls()).ttl(SHORT).max_ttl(SHORT);
    let builder = builder
        .fencing_window(FencingWindow { back: WINDOW, ahead: WINDOW })
        .restart_guard(RestartGuard::Off);
    let redlock = builder.connect().await.unwrap();
    let (single, several) =
        (redlock.acquire("one").fenced(), redlock.acquire_all(["a", "b"]).fenced());
    let single = single.keep_alive().await.unwrap();
    let several = several.keep_alive().await.unwrap();
    everywhere(&masters, "one").await;
    everywhere(&masters, "a").await;
    let no_fence = async || {
        let mut keys = Vec::new();
        for server in masters.iter() {
            keys.extend(witness::keys(server).await.unwrap());
        }
        !keys.iter().any(|key| key.contains("fence"))
    };
    eventually("every fence has expired", 2 * SOON, no_fence).await;
    let mut full = redis::cmd("CONFIG");
    full.arg("SET").arg("maxmemory").arg(1);
    for server in masters.iter() {
        witness::ask::<()>(server, &full).await.unwrap();
    }
    assert_eq!(single.release().await, Ok(Released::Confirmed));
    assert_eq!(several.release().await, Ok(Released::Confirmed));
    let locks = |key: &str| !key.contains("quorumlock:");
    witness::eventually_none(&masters, locks, SHORT / 2).await;
}
