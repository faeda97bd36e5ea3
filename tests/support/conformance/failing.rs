//! Claims about masters that die and come back. Their cost is measured elsewhere.

use super::{Backend, Cluster, LONG, SHORT, SOON, all, eventually};
use quorumlock::{AcquireError, Released};

pub(crate) async fn a_dead_minority_stops_no_client<B: Backend>() {
    let cluster = B::masters(5).await;
    cluster.kill(1).await;
    // One was down from the start, another dies later.
    let client = cluster.client().await;
    client.try_acquire("r").await.unwrap().release().await.unwrap();
    cluster.kill(3).await;
    let guard = client.try_acquire("r").ttl(LONG).await.unwrap();
    guard.extend().await.unwrap();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    for node in [0, 2, 4] {
        eventually("the key is gone", SOON, async || cluster.value(node, "r").await.is_none())
            .await;
    }
}

pub(crate) async fn a_master_that_returns_is_asked_again<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.builder().ttl(SHORT).connect().await.unwrap();
    cluster.kill(0).await;
    client.acquire("r").await.unwrap().release().await.unwrap();
    cluster.restart(0).await;
    let set_everywhere = async || {
        let guard = client.acquire("r").await.unwrap();
        let everywhere = async || cluster.values("r").await.iter().flatten().count();
        let holders = everywhere().await;
        guard.release().await.unwrap();
        holders == all(&cluster).len()
    };
    eventually("the master that came back has the key", SOON, set_everywhere).await;
}

pub(crate) async fn without_a_quorum_nothing_is_won_and_nothing_is_left<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.client().await;
    cluster.kill(0).await;
    cluster.kill(2).await;
    match client.try_acquire("r").ttl(LONG).await {
        Err(AcquireError::NoQuorum(error)) => {
            assert_eq!((&*error.resource, error.nodes.len()), ("r", 3));
        }
        other => panic!("{other:?}"),
    }
    eventually("the key is gone", SOON, async || cluster.value(1, "r").await.is_none()).await;
}
