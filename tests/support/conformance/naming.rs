//! Claims about names: the key of each resource.

use super::{Backend, Cluster, LONG, all, assert_contended};

pub(crate) async fn a_key_is_the_prefix_and_the_resource<B: Backend>() {
    let cluster = B::masters(3).await;
    let client = cluster.builder().key_prefix("locks:").connect().await.unwrap();
    let guard = client.acquire("orders:42").ttl(LONG).await.unwrap();
    cluster.eventually_held_by("locks:orders:42", &all(&cluster)).await;
    assert_eq!(cluster.values("orders:42").await, [None, None, None]);
    assert_eq!(guard.resource(), "orders:42", "what the caller named, without the prefix");
    guard.extend().await.unwrap();
    guard.release().await.unwrap();
    cluster.eventually_gone("locks:orders:42").await;
}

pub(crate) async fn clients_of_different_prefixes_do_not_meet<B: Backend>() {
    let cluster = B::masters(3).await;
    let with = async |prefix: &str| cluster.builder().key_prefix(prefix).connect().await.unwrap();
    let (client, same, other) = (with("a:").await, with("a:").await, with("b:").await);
    let guard = client.acquire("r").ttl(LONG).await.unwrap();
    assert_contended(same.try_acquire("r").await);
    assert!(other.try_acquire("r").await.unwrap().is_valid());
    assert!(guard.is_valid());
}

pub(crate) async fn databases_do_not_meet<B: Backend>() {
    let cluster = B::masters(3).await;
    let of = async |database| cluster.builder_in(database).connect().await.unwrap();
    let (zero, two, also_two) = (of(0).await, of(2).await, of(2).await);
    let guard = two.acquire("r").ttl(LONG).await.unwrap();
    assert_contended(also_two.try_acquire("r").await);
    assert_eq!(cluster.values("r").await, [None, None, None], "the witness looks at database 0");
    assert!(zero.try_acquire("r").await.unwrap().is_valid());
    guard.extend().await.unwrap();
    guard.release().await.unwrap();
    assert!(also_two.try_acquire("r").await.unwrap().is_valid());
}

pub(crate) async fn any_text_is_a_resource<B: Backend>() {
    let cluster = B::masters(1).await;
    let client = cluster.client().await;
    let long = "x".repeat(4096);
    for resource in [
        " ",
        "zażółć gęślą jaźń",
        "注文:42",
        "🔒",
        "a\r\nDEL b\r\n",
        "$3\r\nfoo",
        "nul\0inside",
        "quo\"te and back\\slash",
        "{hash}tag*?[x]",
        // Similar to a reserved name, but not reserved.
        "quorumlock",
        "quorum:lock:r",
        &long,
    ] {
        let guard = client.try_acquire(resource).await.unwrap();
        assert!(cluster.value(0, resource).await.is_some(), "{resource:?} is its own key");
        guard.extend().await.unwrap();
        guard.release().await.unwrap();
        assert_eq!(cluster.value(0, resource).await, None, "{resource:?}");
    }
}

pub(crate) async fn resources_that_look_alike_are_different<B: Backend>() {
    let cluster = B::masters(1).await;
    let client = cluster.client().await;
    let alike = [
        // Careless concatenation would make these equal.
        "a:b:c", "a:bc", "ab:c", "a::bc", "abc", ":abc", "abc:", "a b c", "a\0bc",
        // A careless comparison would make these equal.
        "ABC", "abc ", " abc", "é", "e\u{301}", "e", "1", "01", "1.0",
    ];
    let mut held = Vec::new();
    for resource in alike {
        held.push(client.try_acquire(resource).ttl(LONG).await.unwrap());
    }
    assert_eq!(cluster.keys(0).await.len(), alike.len());
    for guard in held {
        assert!(guard.is_valid());
        guard.release().await.unwrap();
    }
}
