//! Claims about the end of a hold: release, drop, forget, shutdown.

use super::{Backend, Cluster, LONG, SHORT, SOON, all, assert_contended};
use quorumlock::error::LossReason;
use quorumlock::{AcquireError, Released};
use std::time::Duration;
use tokio::time::Instant;

pub(crate) async fn a_release_deletes_our_key_from_every_master<B: Backend>() {
    let cluster = B::masters(5).await;
    let guard = cluster.client().await.acquire("r").await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    let still_there = cluster.values("r").await.iter().flatten().count();
    assert!(still_there <= 2, "a quorum had deleted it when the release returned");
    cluster.eventually_gone("r").await;
}

/// Others can win a released lock at once, so a worker that relies on a lease must not treat it as
/// held until its old deadline.
pub(crate) async fn a_lease_ends_with_its_guard<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    for way in ["release", "drop", "forget"] {
        let guard = client.acquire(way).ttl(LONG).await.unwrap();
        let lease = guard.lease();
        let watching = tokio::spawn({
            let lease = lease.clone();
            async move { lease.lost().await }
        });
        match way {
            "release" => drop(guard.release().await),
            "drop" => drop(guard),
            _ => guard.forget(),
        }
        let lost = tokio::time::timeout(SOON, watching).await.expect(way).unwrap();
        assert_eq!(lost.reason, LossReason::Released, "{way}");
        assert!(lost.held_for < SOON && lease.check() == Err(lost), "{way}");
    }
}

pub(crate) async fn a_release_deletes_only_ours<B: Backend>() {
    let cluster = B::masters(5).await;
    let guard = cluster.client().await.acquire("r").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    for node in [1, 4] {
        cluster.set_foreign(node, "r", "theirs", LONG).await;
    }
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    cluster.eventually_held_by("r", &[1, 4]).await;
    assert_eq!(cluster.value(1, "r").await.as_deref(), Some("theirs"));
    assert_eq!(cluster.value(4, "r").await.as_deref(), Some("theirs"));
}

pub(crate) async fn a_release_after_the_end_says_so_and_spares_the_next_holder<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let guard = client.acquire("r").ttl(SHORT).await.unwrap();
    let next = other.acquire("r").ttl(LONG).timeout(SHORT + SOON).await.unwrap();
    assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
    // On the same connections, after the release.
    client.try_acquire("another").await.unwrap().release().await.unwrap();
    next.extend().await.expect("a quorum still has the key of the next holder");
}

pub(crate) async fn a_guard_that_is_dropped_releases<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    let guard = client.acquire("r").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    drop(guard);
    cluster.eventually_gone("r").await;
    assert!(client.try_acquire("r").await.unwrap().is_valid());
}

pub(crate) async fn a_guard_that_leaves_keeps_the_key_until_it_expires<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    let began = Instant::now();
    client.acquire("r").ttl(SHORT).await.unwrap().forget();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    assert_contended(client.try_acquire("r").await);
    cluster.eventually_gone("r").await;
    let kept = began.elapsed();
    let expected = SHORT..SHORT + Duration::from_secs(1);
    assert!(expected.contains(&kept), "it was to be there for {SHORT:?} and was for {kept:?}");
}

pub(crate) async fn a_shutdown_waits_for_the_releases_and_ends_every_clone<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    let (released, held) = (client.acquire("released").await.unwrap(), client.acquire("held"));
    let held = held.ttl(LONG).await.unwrap();
    drop(released);
    client.clone().shutdown().await.unwrap();
    assert_eq!(cluster.values("released").await, [None, None, None]);
    assert_eq!(held.lost().await.reason, LossReason::Closed);
    match client.acquire("more").await {
        Err(AcquireError::Closed(_)) => {}
        other => panic!("{other:?}"),
    }
    client.shutdown().await.unwrap();
}

pub(crate) async fn work_that_ends_well_keeps_the_key_for_as_long_as_was_asked_for<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let acquire = || client.acquire("r").ttl(SHORT).min_hold(LONG);
    let guard = acquire().await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    for redlock in [&client, &other] {
        assert_contended(redlock.try_acquire("r").await);
    }
    for node in 0..cluster.len() {
        let left = cluster.pttl(node, "r").await;
        assert!((1..=i64::try_from(LONG.as_millis()).unwrap() * 102 / 100).contains(&left));
    }
    for node in 0..cluster.len() {
        cluster.delete(node, "r").await;
    }
    drop(acquire().await.unwrap());
    cluster.eventually_gone("r").await;
}
