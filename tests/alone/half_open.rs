//! A connection that looks alive and carries nothing makes one node unavailable for a bounded time,
//! and costs the lock nothing at all.

use crate::support::prelude::*;
use crate::support::proxy::{Cut, Direction::*, Proxy};
use crate::support::samples::Samples;
use quorumlock::{AcquireError, Redlock, Released};
use std::time::{Duration, Instant};

const OPERATION_TIMEOUT: Duration = Duration::from_millis(200);

/// Time after which a silent connection is replaced.
const SILENCE: Duration = Duration::from_millis(600);

/// Time that a busy machine adds.
const SLACK: Duration = Duration::from_millis(600);

const SOON: Duration = Duration::from_secs(10);

/// Connects with the first node behind the proxy.
async fn connect(proxy: &Proxy, masters: &[Server], operation_timeout: Duration) -> Redlock {
    let direct = masters[1..].iter().map(Server::url);
    let builder = builder().node(proxy.url()).nodes(direct);
    builder.operation_timeout(operation_timeout).connect().await.unwrap()
}

async fn cycle(redlock: &Redlock, samples: &mut Samples) {
    let guard = samples.time(redlock.acquire("r").into_future()).await.unwrap();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
}

#[tokio::test]
async fn a_half_open_connection_slows_no_lock_until_it_is_replaced() {
    let _turn = crate::alone().await;
    let masters = Masters::start(5);
    let proxy = Proxy::start(masters[0].addr());
    let redlock = connect(&proxy, &masters, OPERATION_TIMEOUT).await;
    let mut healthy = Samples::new();
    for _ in 0..300 {
        cycle(&redlock, &mut healthy).await;
    }
    eventually("the node behind the proxy has answered everything", SOON, async || {
        let calls = witness::calls(&masters[0]).await;
        calls["set"] >= 300
            && calls["set"] == witness::releases(&calls)
            && proxy.waiting(ToClient) == 0
    })
    .await;

    proxy.half_open();
    let since = Instant::now();
    let mut half_open = Samples::new();
    while proxy.connections() == 1 {
        cycle(&redlock, &mut half_open).await;
        assert!(since.elapsed() < SILENCE + SLACK, "not replaced after {:?}", since.elapsed());
    }
    let replaced_after = since.elapsed();
    eprintln!("healthy {healthy}; half-open {half_open}; replaced after {replaced_after:?}");
    assert!(replaced_after >= SILENCE, "{replaced_after:?}");
    assert!(half_open.len() >= 100, "{half_open}");
    let noise = Duration::from_millis(3);
    assert!(half_open.p50() <= 2 * healthy.p50() + noise, "{healthy}, then {half_open}");
    assert!(half_open.p99() < OPERATION_TIMEOUT / 2, "no acquire waits for it: {half_open}");

    eventually("the new connection takes part", SOON, async || {
        let guard = redlock.acquire("r").await.unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
        let holders = witness::holders(&masters, "r").await;
        guard.release().await.unwrap();
        holders == [0, 1, 2, 3, 4]
    })
    .await;
    assert_eq!(proxy.connections(), 2);
    assert!(
        witness::kills(&masters[0]).await.is_none_or(|kills| kills == 1),
        "the old one is dead"
    );
    assert_eq!(witness::client_count(&masters[0]).await, 1);
    redlock.shutdown().await.unwrap();
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
async fn a_needed_half_open_master_costs_each_attempt_a_timeout() {
    let _turn = crate::alone().await;
    let masters = Masters::start(3);
    let proxy = Proxy::start(masters[0].addr());
    masters.kill(1);
    let redlock = connect(&proxy, &masters, OPERATION_TIMEOUT).await;
    let mut healthy = Samples::new();
    cycle(&redlock, &mut healthy).await;

    proxy.half_open();
    let began = Instant::now();
    let refused = redlock.try_acquire("r").await.unwrap_err();
    let took = began.elapsed();
    assert!(matches!(refused, AcquireError::NoQuorum(_)), "{refused}");
    assert!(took >= OPERATION_TIMEOUT && took < OPERATION_TIMEOUT + SLACK, "{took:?}");

    // A waiter is served as soon as the connection is replaced.
    let guard = redlock.acquire("r").await.unwrap();
    let took = began.elapsed();
    assert!(took < SILENCE + 2 * SLACK, "{took:?}");
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    redlock.shutdown().await.unwrap();
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test]
async fn an_operation_timeout_costs_a_tenth_of_the_ttl_at_most() {
    let _turn = crate::alone().await;
    let masters = Masters::start(3);
    let proxy = Proxy::start(masters[0].addr());
    masters.kill(1);
    let redlock = connect(&proxy, &masters, Duration::from_secs(2)).await;
    proxy.half_open();
    let ttl = Duration::from_secs(1);
    let began = Instant::now();
    let refused = redlock.try_acquire("r").ttl(ttl).await.unwrap_err();
    let took = began.elapsed();
    assert!(matches!(refused, AcquireError::NoQuorum(_)), "{refused}");
    assert!(took >= ttl / 10 && took < ttl / 10 + SLACK, "{took:?}");
    proxy.cut(Cut::Reset);
    redlock.shutdown().await.unwrap();
    witness::assert_no_keys_now(&masters).await;
}
