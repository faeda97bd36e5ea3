//! Claims about acquiring: which client gets the lock, what the masters then hold, which client is
//! refused.

use super::{
    Backend, Cluster, LONG, SHORT, SOON, all, assert_contended, assert_prompt, eventually,
};
use quorumlock::report::{Answer, Refusal};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

pub(crate) async fn an_acquire_sets_one_token_with_the_ttl_on_every_master<B: Backend>() {
    let cluster = B::masters(5).await;
    let began = Instant::now();
    let guard = cluster.client().await.acquire("orders:42").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("orders:42", &all(&cluster)).await;
    let values: BTreeSet<_> = cluster.values("orders:42").await.into_iter().flatten().collect();
    let token = values.first().unwrap().split(':').next().unwrap();
    assert_eq!(values.len(), 1, "one token everywhere: {values:?}");
    let hexadecimal = token.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(token.len() >= 32 && hexadecimal, "128 bits in hex: {token}");
    for node in 0..5 {
        let left = Duration::from_millis(cluster.pttl(node, "orders:42").await.unsigned_abs());
        let passed = began.elapsed() + Duration::from_millis(1);
        assert!(left <= LONG && left + passed >= LONG, "node {node}: {left:?} after {passed:?}");
    }
    assert_eq!(guard.resource(), "orders:42");
}

pub(crate) async fn two_clients_exclude_each_other<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let guard = client.acquire("r").await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    let before = cluster.values("r").await;
    assert_contended(other.try_acquire("r").await);
    assert_contended(client.try_acquire("r").await);
    assert_eq!(cluster.values("r").await, before, "a refused attempt changes nothing");
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    assert!(other.try_acquire("r").await.unwrap().is_valid());
}

pub(crate) async fn no_token_is_used_twice<B: Backend>() {
    let cluster = B::masters(1).await;
    let client = cluster.client().await;
    let mut tokens = BTreeSet::new();
    for _ in 0..20 {
        let guard = client.try_acquire("r").await.unwrap();
        assert!(tokens.insert(cluster.value(0, "r").await.unwrap()));
        guard.release().await.unwrap();
    }
}

pub(crate) async fn a_key_of_another_client_on_a_quorum_refuses_and_stays<B: Backend>() {
    let cluster = B::masters(5).await;
    for node in [0, 2, 4] {
        cluster.set_foreign(node, "r", "theirs", LONG).await;
    }
    let refused = assert_contended(cluster.client().await.try_acquire("r").await);
    assert_eq!((&*refused.resource, refused.attempts), ("r", 1));
    cluster.eventually_held_by("r", &[0, 2, 4]).await;
    for node in [0, 2, 4] {
        assert_eq!(cluster.value(node, "r").await.as_deref(), Some("theirs"));
    }
}

pub(crate) async fn a_key_of_another_client_on_a_minority_refuses_no_client<B: Backend>() {
    let cluster = B::masters(5).await;
    for node in [1, 3] {
        cluster.set_foreign(node, "r", "theirs", LONG).await;
    }
    let guard = cluster.client().await.try_acquire("r").await.unwrap();
    guard.release().await.unwrap();
    cluster.eventually_held_by("r", &[1, 3]).await;
}

pub(crate) async fn an_expired_key_frees_the_resource<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let guard = client.acquire("r").ttl(SHORT).await.unwrap();
    let began = Instant::now();
    let next = other.acquire("r").ttl(LONG).timeout(SHORT + SOON).await.unwrap();
    assert!(!guard.is_valid(), "the first lapsed before the second was won");
    assert_prompt::<B>(began.elapsed(), SHORT + Duration::from_secs(1));
    assert!(next.is_valid());
}

pub(crate) async fn a_waiter_is_next_when_the_holder_releases<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let guard = client.acquire("r").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    let first = cluster.calls(0, "set").await;
    let waiting = tokio::spawn(other.acquire("r").timeout(SOON).into_future());
    // The waiter has asked and was refused: only then does it have something to wait for.
    let asked = async || cluster.calls(0, "set").await > first;
    eventually("the second client has asked", SOON, asked).await;
    assert!(!waiting.is_finished());
    guard.release().await.unwrap();
    let began = Instant::now();
    assert!(waiting.await.unwrap().unwrap().is_valid());
    assert_prompt::<B>(began.elapsed(), Duration::from_secs(1));
}

pub(crate) async fn a_refusal_reports_what_every_master_answered_and_for_how_long<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    for node in 0..3 {
        cluster.set_foreign(node, "r", "theirs", LONG).await;
    }
    let wait = Duration::from_millis(200);
    let began = Instant::now();
    let refused = assert_contended(client.acquire("r").timeout(wait).await);
    assert!((wait..began.elapsed() + SOON).contains(&refused.waited), "{:?}", refused.waited);
    assert!(refused.attempts > 1, "{} attempts in {wait:?}", refused.attempts);
    assert_eq!(refused.nodes.len(), 3, "every master, whether it was waited for or not");
    let lives = refused.nodes.iter().filter_map(|node| match node.answer {
        Answer::Refused(Refusal::Held { remaining }) => Some(remaining),
        Answer::Outstanding => None,
        ref other => panic!("{} answered {other:?}", node.node),
    });
    let lives: Vec<_> = lives.collect();
    assert!(lives.len() >= 2, "a quorum refused: {refused}");
    for life in lives {
        let life = life.unwrap_or_else(|| panic!("for how long? {refused}"));
        assert!(life <= LONG && life + SOON > LONG, "{life:?}");
    }
}

pub(crate) async fn an_acquire_that_is_dropped_leaves_nothing<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    let mut acquire = std::pin::pin!(client.acquire("r").into_future());
    assert!(futures::poll!(acquire.as_mut()).is_pending(), "the request is made at the first poll");
    acquire.set(client.acquire("never polled").into_future());
    // Sent after the rollback on every connection, so the lock is free for it.
    client.try_acquire("r").await.unwrap().release().await.unwrap();
    cluster.eventually_gone("r").await;
    assert_eq!(cluster.values("never polled").await, [None, None, None]);
}
