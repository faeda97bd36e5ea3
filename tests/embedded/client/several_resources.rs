//! Several resources under one guard: all or nothing, in whatever order they are named.

use super::prelude::*;
use quorumlock::error::LossReason;
use quorumlock::{ExtendError, Guard, Redlock, Released};
use std::collections::BTreeSet;
use std::time::Duration;

const TTL: Duration = Duration::from_secs(20);
const BOTH: [&str; 2] = ["a", "b"];

async fn client(masters: &Masters) -> Redlock {
    masters.builder().ttl(TTL).connect().await.unwrap()
}

async fn three_and_client() -> (Masters, Redlock) {
    let masters = Masters::start(3);
    let redlock = client(&masters).await;
    (masters, redlock)
}

/// Waits until both keys are set on every master.
async fn stand_everywhere(masters: &Masters, keys: &[&str]) {
    let stand = async || {
        for server in masters.iter() {
            if witness::keys(server).await.unwrap() != keys {
                return false;
            }
        }
        true
    };
    eventually("every key stands on every master, and no other", SOON, stand).await;
}

async fn both(redlock: &Redlock) -> Guard {
    redlock.acquire_all(BOTH).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn one_token_stands_under_every_key_on_every_master() {
    let (masters, redlock) = three_and_client().await;
    let guard = redlock.acquire_all(["b", "a", "b"]).await.unwrap();
    assert_eq!(guard.resource(), "a, b");
    stand_everywhere(&masters, &BOTH).await;
    let mut tokens = BTreeSet::new();
    for key in BOTH {
        tokens.extend(witness::values(&masters, key).await);
        for server in masters.iter() {
            let left = witness::pttl(server, key).await.unwrap();
            assert!(left <= TTL && left + SOON > TTL, "{key}: {left:?}");
        }
    }
    assert!(tokens.len() == 1 && !tokens.contains(&None), "{tokens:?}");
}

#[tokio::test(start_paused = true)]
async fn a_release_and_a_drop_delete_all_of_them() {
    let (masters, redlock) = three_and_client().await;
    assert_eq!(both(&redlock).await.release().await, Ok(Released::Confirmed));
    witness::eventually_no_keys(&masters, SOON).await;
    drop(both(&redlock).await);
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn where_one_is_held_none_is_taken() {
    let (masters, redlock) = three_and_client().await;
    let rival = client(&masters).await;
    for held in BOTH {
        let guard = rival.acquire(held).await.unwrap();
        let error = redlock.try_acquire_all(BOTH).await.unwrap_err();
        assert!(error.is_contended(), "{error}");
        let begins = format!("\"{held}\" is held by another client: ");
        assert!(error.to_string().starts_with(&begins), "{error}");
        stand_everywhere(&masters, &[held]).await;
        guard.release().await.unwrap();
    }
    let guard = both(&redlock).await;
    for held in BOTH {
        assert!(rival.try_acquire(held).await.unwrap_err().is_contended());
        assert!(rival.try_acquire_all([held, "c"]).await.unwrap_err().is_contended());
    }
    assert!(rival.try_acquire_all(["c", "d"]).await.unwrap().is_valid());
    guard.release().await.unwrap();
    assert!(rival.try_acquire_all(BOTH).await.unwrap().is_valid());
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_several_ends_when_the_last_of_them_is_free() {
    let (masters, redlock) = three_and_client().await;
    let rival = client(&masters).await;
    let (a, b) = (rival.acquire("a").await.unwrap(), rival.acquire("b").await.unwrap());
    let mut waiting = Box::pin(redlock.acquire_all(BOTH).timeout(TTL).into_future());
    for guard in [b, a] {
        let early = tokio::time::timeout(Duration::from_millis(100), &mut waiting).await;
        assert!(early.is_err(), "{early:?}");
        guard.release().await.unwrap();
    }
    assert!(waiting.await.unwrap().is_valid());
}

#[tokio::test(start_paused = true)]
async fn resources_named_in_any_order_never_deadlock() {
    let (masters, first) = three_and_client().await;
    let other = client(&masters).await;
    let sets: [&[&'static str]; 4] = [&["a", "b"], &["b", "a"], &["b", "c"], &["c", "a", "b"]];
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let redlock = if task % 2 == 0 { first.clone() } else { other.clone() };
            tokio::spawn(async move {
                for round in 0..5 {
                    let acquire = redlock.acquire_all(sets[(task + round) % sets.len()]);
                    acquire.timeout(3 * TTL).await.unwrap().release().await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    witness::eventually_no_keys(&masters, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn an_extension_prolongs_all_of_them_under_one_deadline() {
    let (masters, redlock) = three_and_client().await;
    let guard = both(&redlock).await;
    stand_everywhere(&masters, &BOTH).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut before = Vec::new();
    for (server, key) in masters.iter().flat_map(|server| BOTH.map(|key| (server, key))) {
        before.push(witness::pttl(server, key).await.unwrap());
    }
    let deadline = guard.deadline();
    assert!(guard.extend().await.unwrap() > deadline);
    let mut before = before.into_iter();
    for (server, key) in masters.iter().flat_map(|server| BOTH.map(|key| (server, key))) {
        let before = before.next().unwrap();
        let prolonged = async || witness::pttl(server, key).await.unwrap() > before;
        eventually("the key lives longer", SOON, prolonged).await;
    }
}

#[tokio::test(start_paused = true)]
async fn to_lose_one_on_a_quorum_is_to_lose_the_lock() {
    let (masters, redlock) = three_and_client().await;
    let guard = both(&redlock).await;
    stand_everywhere(&masters, &BOTH).await;
    for server in &masters[..2] {
        witness::set_foreign(server, "b", "theirs", TTL).await;
    }
    let Err(ExtendError::Lost(lost)) = guard.extend().await else { panic!("extended") };
    assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
    assert_eq!(&*lost.resource, "a, b");
    assert_eq!(guard.release().await, Err(lost));
    let only_theirs = |key: &str| key != "b";
    witness::eventually_none(&masters, only_theirs, SOON).await;
    assert_eq!(witness::value(&masters[0], "b").await.as_deref(), Some("theirs"));
}

#[tokio::test(start_paused = true)]
async fn an_acquire_of_several_that_is_dropped_leaves_none() {
    let (masters, redlock) = three_and_client().await;
    for millis in 0..8 {
        let acquire = redlock.acquire_all(BOTH).into_future();
        let _ = tokio::time::timeout(Duration::from_millis(millis) / 4, acquire).await;
        witness::eventually_no_keys(&masters, SOON).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_extension_gives_all_keys_to_a_master_without_them() {
    let (masters, redlock) = three_and_client().await;
    masters[2].kill();
    let guard = both(&redlock).await;
    masters[2].restart();
    let topped_up = async || {
        tokio::time::sleep(50 * MS).await;
        let _ = guard.extend().await.unwrap();
        witness::keys(&masters[2]).await.unwrap() == BOTH
    };
    eventually("it holds both", SOON, topped_up).await;
    assert_eq!(witness::values(&masters, "a").await, witness::values(&masters, "b").await);
}

#[tokio::test(start_paused = true)]
async fn as_many_as_are_allowed_are_locked_and_released() {
    let (masters, redlock) = three_and_client().await;
    let mut names: Vec<String> = (0..64).map(|n| format!("resource {n}")).collect();
    names.sort();
    let guard = redlock.acquire_all(&names).await.unwrap();
    stand_everywhere(&masters, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    guard.extend().await.unwrap();
    guard.release().await.unwrap();
    witness::eventually_no_keys(&masters, SOON).await;
}
