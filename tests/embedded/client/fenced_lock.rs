//! Fencing tokens over several masters: a later win has a greater token.

use super::prelude::*;
use quorumlock::{FencedGuard, FencingToken, Redlock};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

const SHORT: Duration = Duration::from_millis(500);

async fn client(masters: &Masters) -> Redlock {
    masters.builder().acquire_timeout(LONG).connect().await.unwrap()
}

async fn three_and_two_clients() -> (Masters, [Redlock; 2]) {
    let masters = Masters::start(3);
    let clients = [client(&masters).await, client(&masters).await];
    (masters, clients)
}

async fn fenced(redlock: &Redlock) -> FencedGuard {
    redlock.acquire("r").ttl(LONG).fenced().await.unwrap()
}

/// The resource under a lock: it accepts no write with a smaller token than it has seen.
#[derive(Default)]
struct Storage(Mutex<Option<FencingToken>>);

impl Storage {
    fn write(&self, token: FencingToken) -> Result<(), FencingToken> {
        let mut greatest = self.0.lock().unwrap();
        match *greatest {
            Some(seen) if token < seen => Err(seen),
            _ => {
                *greatest = Some(token);
                Ok(())
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_win_of_any_client_has_a_greater_token_than_all_before() {
    let (_masters, clients) = three_and_two_clients().await;
    let mut last = None;
    for round in 0..30 {
        let guard = fenced(&clients[round % 3 % 2]).await;
        let token = Some(guard.fencing_token());
        assert!(token > last, "{token:?} after {last:?}");
        last = token;
        if round % 2 == 0 {
            guard.release().await.unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_crowd_writes_in_the_order_of_its_tokens() {
    let (_masters, clients) = three_and_two_clients().await;
    let written = Arc::new(Mutex::new(Vec::new()));
    let writers = (0..8).map(|task| {
        let (redlock, written) = (clients[task % 2].clone(), written.clone());
        tokio::spawn(async move {
            for _ in 0..5 {
                let acquire = redlock.acquire("r").fenced().timeout(3 * LONG);
                let write = async |lease: quorumlock::FencedLease| {
                    written.lock().unwrap().push(lease.fencing_token());
                };
                acquire.run(write).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let written = written.lock().unwrap();
    assert_eq!(written.len(), 40);
    assert!(written.is_sorted_by(|token, next| token < next), "{written:?}");
}

#[tokio::test(start_paused = true)]
async fn a_holder_back_after_its_deadline_is_refused_by_the_storage() {
    let (_masters, [paused, next]) = three_and_two_clients().await;
    let storage = Storage::default();
    let late = paused.acquire("r").ttl(SHORT).fenced().await.unwrap();
    storage.write(late.fencing_token()).unwrap();
    let guard = fenced(&next).await;
    assert!(!late.is_valid());
    storage.write(guard.fencing_token()).unwrap();
    assert_eq!(storage.write(late.fencing_token()), Err(guard.fencing_token()));
    storage.write(guard.fencing_token()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_token_stays_the_same_over_extensions() {
    let (_masters, [redlock, _]) = three_and_two_clients().await;
    let guard = fenced(&redlock).await;
    let token = guard.fencing_token();
    for _ in 0..3 {
        let before = guard.deadline();
        tokio::time::sleep(MS).await;
        assert!(guard.extend().await.unwrap() > before);
        assert_eq!((guard.fencing_token(), guard.lease().fencing_token()), (token, token));
    }
    guard.release().await.unwrap();
    assert!(fenced(&redlock).await.fencing_token() > token);
}

#[tokio::test(start_paused = true)]
async fn each_guard_of_a_warm_lock_has_the_next_token_and_the_fence_is_at_the_end_of_all() {
    let (masters, [redlock, other]) = three_and_two_clients().await;
    let warm = || redlock.acquire("r").ttl(LONG).keep_warm(LONG).fenced();
    let first = warm().await.unwrap();
    let token = first.fencing_token().as_u64();
    first.release().await.unwrap();
    for further in 1..=3 {
        let guard = warm().await.unwrap();
        assert_eq!(guard.fencing_token().as_u64(), token + further);
        guard.release().await.unwrap();
    }
    let end = token + 999;
    for server in masters.iter() {
        let at_the_end =
            async || witness::value(server, "quorumlock:fence:r").await == Some(end.to_string());
        eventually("the fence is at the end", SOON, at_the_end).await;
    }
    let guard = other.acquire("r").fenced().timeout(3 * LONG).await.unwrap();
    assert!(guard.fencing_token().as_u64() > end, "{:?} after {end}", guard.fencing_token());
}

#[tokio::test(start_paused = true)]
async fn fenced_and_unfenced_holders_exclude_each_other() {
    let (_masters, [client, other]) = three_and_two_clients().await;
    let plain = client.acquire("r").ttl(LONG).await.unwrap();
    assert!(other.try_acquire("r").fenced().await.unwrap_err().is_contended());
    plain.release().await.unwrap();
    let guard = fenced(&client).await;
    assert!(other.try_acquire("r").await.unwrap_err().is_contended());
    guard.release().await.unwrap();
    assert!(other.try_acquire("r").await.unwrap().is_valid());
}

#[tokio::test(start_paused = true)]
async fn a_token_is_the_time_in_microseconds_or_a_little_above() {
    let (_masters, [redlock, _]) = three_and_two_clients().await;
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_micros();
    let (before, second) = (now(), 1_000_000);
    let token = u128::from(fenced(&redlock).await.fencing_token().as_u64());
    assert!(before - second <= token && token <= now() + second, "{before} {token} {}", now());
}

#[tokio::test(start_paused = true)]
async fn several_resources_have_one_token_above_those_of_each() {
    let (_masters, [client, other]) = three_and_two_clients().await;
    let single = async |redlock: &Redlock, name: &str| {
        let guard = redlock.acquire(name).fenced().await.unwrap();
        let token = guard.fencing_token();
        guard.release().await.unwrap();
        token
    };
    let (a, b) = (single(&client, "a").await, single(&other, "b").await);
    let both = client.acquire_all(["b", "a"]).fenced().await.unwrap();
    let token = both.fencing_token();
    assert!(token > a && token > b);
    both.release().await.unwrap();
    assert!(single(&other, "a").await > token);
    assert!(single(&client, "b").await > token);
}

#[tokio::test(start_paused = true)]
async fn a_released_lock_leaves_only_its_prefixed_fence_to_expire() {
    let masters = Masters::start(3);
    let builder = masters.builder().key_prefix("locks:");
    let redlock = builder.connect().await.unwrap();
    let guard = fenced(&redlock).await;
    let token = guard.fencing_token().to_string();
    guard.release().await.unwrap();
    let fence = "locks:quorumlock:fence:r";
    for server in masters.iter() {
        let only_the_fence = async || witness::keys(server).await.unwrap() == [fence];
        eventually("only the fence is left", SOON, only_the_fence).await;
        assert_eq!(witness::value(server, fence).await, Some(token.clone()));
        assert!(witness::pttl(server, fence).await.unwrap() < Duration::MAX, "it expires");
    }
    let plain = redlock.acquire("s").await.unwrap();
    plain.release().await.unwrap();
    let no_lock = |key: &str| !key.contains("quorumlock:");
    witness::eventually_none(&masters, no_lock, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn the_guards_of_a_fenced_reentrant_handle_share_one_token() {
    let (_masters, [redlock, rival]) = three_and_two_clients().await;
    let before = fenced(&rival).await;
    let earlier = before.fencing_token();
    before.release().await.unwrap();
    let owner = redlock.reentrant().fenced();
    let (outer, inner) = (owner.acquire("r").await.unwrap(), owner.acquire("r").await.unwrap());
    assert_eq!(outer.fencing_token(), inner.fencing_token());
    assert!(outer.fencing_token() > earlier);
}
