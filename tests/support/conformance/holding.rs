//! Claims about a lock that is held: what an extension does, and what it never does.

use super::{Backend, Cluster, LONG, SHORT, SOON, all, assert_gone};
use quorumlock::ExtendError;
use quorumlock::error::LossReason;
use quorumlock::report::Answer;
use std::time::Duration;

/// Less than [`LONG`]: the remaining ttl of a key that an extension must prolong.
const LITTLE: Duration = Duration::from_secs(10);

async fn shorten(cluster: &impl Cluster, node: usize, key: &str, life: Duration) {
    let ms = u64::try_from(life.as_millis()).unwrap();
    let shortened: i64 = cluster.read(node, redis::cmd("PEXPIRE").arg(key).arg(ms)).await;
    assert_eq!(shortened, 1, "\"{key}\" was not there on node {node}");
}

fn millis(span: Duration) -> i64 {
    span.as_millis().try_into().unwrap()
}

pub(crate) async fn an_extension_prolongs_the_key_and_the_deadline<B: Backend>() {
    let cluster = B::masters(3).await;
    let guard = cluster.client().await.acquire("r").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    for node in 0..3 {
        shorten(&cluster, node, "r", LITTLE).await;
    }
    let (before, lease) = (guard.deadline(), guard.lease());
    let after = guard.extend().await.unwrap();
    assert!(after > before);
    assert_eq!((guard.deadline(), lease.deadline()), (after, after));
    let prolonged = async || {
        let mut lives = Vec::new();
        for node in 0..3 {
            lives.push(cluster.pttl(node, "r").await);
        }
        lives.iter().all(|life| (millis(LITTLE) + 1..=millis(LONG)).contains(life))
    };
    super::eventually("every key was prolonged", SOON, prolonged).await;
    assert!(guard.remaining() <= LONG.mul_f64(0.99) - Duration::from_millis(2));
}

pub(crate) async fn an_extension_shortens_no_key<B: Backend>() {
    let cluster = B::masters(1).await;
    let guard = cluster.client().await.acquire("r").ttl(LITTLE).await.unwrap();
    shorten(&cluster, 0, "r", LONG).await;
    let before = guard.deadline();
    assert!(guard.extend().await.unwrap() > before);
    let life = cluster.pttl(0, "r").await;
    assert!((millis(LITTLE) + 1..=millis(LONG)).contains(&life), "{life} ms");
}

pub(crate) async fn an_extension_never_acquires_again_after_an_expiry<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let guard = client.acquire("r").ttl(SHORT).await.unwrap();
    let between = other.acquire("r").timeout(SHORT + SOON).await.unwrap();
    between.release().await.unwrap();
    cluster.eventually_gone("r").await;
    match guard.extend().await {
        Err(ExtendError::Lost(lost)) => assert_eq!(lost.reason, LossReason::Lapsed),
        other => panic!("{other:?}"),
    }
    assert_eq!(cluster.values("r").await, [None, None, None]);
    assert!(!guard.is_valid() && guard.remaining().is_zero());
}

/// As above, but the masters forget the key early, so that the answer must come from them and not
/// from our own clock.
pub(crate) async fn an_extension_never_acquires_again_after_another_holder<B: Backend>() {
    let cluster = B::masters(3).await;
    let (client, other) = (cluster.client().await, cluster.client().await);
    let guard = client.acquire("r").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    for node in 0..3 {
        cluster.delete(node, "r").await;
    }
    other.try_acquire("r").await.unwrap().release().await.unwrap();
    cluster.eventually_gone("r").await;
    assert_gone(&guard).await;
    assert_eq!(cluster.values("r").await, [None, None, None]);
}

pub(crate) async fn an_extension_leaves_the_key_of_another_alone<B: Backend>() {
    let cluster = B::masters(3).await;
    let guard = cluster.client().await.acquire("r").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    for node in 0..3 {
        cluster.set_foreign(node, "r", "theirs", LITTLE).await;
    }
    assert_gone(&guard).await;
    let lost = guard.lost().await;
    let LossReason::QuorumGone(nodes) = &lost.reason else { panic!("{lost}") };
    assert!(nodes.iter().filter(|node| node.answer == Answer::Taken).count() >= 2, "{lost}");
    assert_eq!(guard.release().await, Err(lost));
    for node in 0..3 {
        assert_eq!(cluster.value(node, "r").await.as_deref(), Some("theirs"));
        assert!(cluster.pttl(node, "r").await <= millis(LITTLE), "node {node} was prolonged");
    }
}

pub(crate) async fn a_master_that_lost_the_key_regains_it_and_then_counts_again<B: Backend>() {
    let cluster = B::masters(3).await;
    let guard = cluster.client().await.acquire("r").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    let token = cluster.value(1, "r").await;
    cluster.delete(0, "r").await;
    guard.extend().await.unwrap();
    cluster.eventually_held_by("r", &[0, 1, 2]).await;
    assert_eq!(cluster.value(0, "r").await, token, "ours, not a new one");
    // Without the master that came back, only one of three would remain.
    cluster.delete(1, "r").await;
    guard.extend().await.unwrap();
    cluster.eventually_held_by("r", &[0, 1, 2]).await;
    guard.release().await.unwrap();
    cluster.eventually_gone("r").await;
}

/// One of three still has the key. The two others would take it again, which must not count.
pub(crate) async fn no_master_is_topped_up_after_a_lost_extension<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    let guard = client.acquire("r").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("r", &all(&cluster)).await;
    cluster.delete(0, "r").await;
    cluster.delete(2, "r").await;
    assert_gone(&guard).await;
    // On the same connections, after anything that the extension has sent.
    client.try_acquire("another").await.unwrap().release().await.unwrap();
    let values = cluster.values("r").await;
    assert_eq!((&values[0], &values[2]), (&None, &None));
}
