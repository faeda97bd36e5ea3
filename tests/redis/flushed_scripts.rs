//! Masters that forget their scripts, or refuse to write for a while, under a held lock: nothing is
//! lost, and debts are paid.
//! On a real clock: it is servers that refuse to write, and why differs between them.

use crate::support::prelude::*;
use quorumlock::kind::Kind;
use quorumlock::{FencingWindow, Guard, Lost, Redlock, Released, RestartGuard};
use std::time::Duration;

const TTL: Duration = Duration::from_millis(1_500);

async fn connect(masters: &Masters) -> Redlock {
    let builder =
        Redlock::builder().nodes(masters.urls()).ttl(TTL).restart_guard(RestartGuard::Off);
    builder.connect().await.unwrap()
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
