//! The end of a `Redlock`: debts are paid or reported, and no caller hangs.
//! On a real clock: servers list their connections.

use crate::support::prelude::*;
use crate::support::proxy::{Direction::*, Proxy};
use futures::future::join_all;
use futures::poll;
use quorumlock::error::LossReason;
use quorumlock::{AcquireError, ExtendError, Guard, Redlock};
use std::time::{Duration, Instant};
use tokio::time::timeout;

const GRACE: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(10);

async fn connect(masters: &Masters) -> Redlock {
    let patient = masters.builder().operation_timeout(Duration::from_millis(900));
    patient.connect().await.unwrap()
}

async fn hold(redlock: &Redlock, count: usize) -> Vec<Guard> {
    let acquires = (0..count).map(|n| redlock.acquire(format!("r{n}")).into_future());
    join_all(acquires).await.into_iter().map(Result::unwrap).collect()
}

/// Does the same, and waits until each lock is set on all masters.
async fn hold_everywhere(masters: &[Server], redlock: &Redlock, count: usize) -> Vec<Guard> {
    let guards = hold(redlock, count).await;
    eventually("the locks stand on all masters", SOON, async || {
        let keys = witness::total_keys(masters).await;
        keys.iter().all(|keys| *keys == Ok(count as u64))
    })
    .await;
    guards
}

#[tokio::test]
async fn a_shutdown_waits_until_each_owed_release_is_confirmed() {
    let masters = Masters::start(5);
    let proxy = Proxy::start(masters[0].addr());
    let patient = builder().operation_timeout(Duration::from_millis(900));
    let direct = masters[1..].iter().map(Server::url);
    let redlock = patient.node(proxy.url()).nodes(direct).connect().await.unwrap();
    let guards = hold_everywhere(&masters, &redlock, 200).await;
    let delay = Duration::from_millis(150);
    proxy.delay(ToServer, delay);
    let began = Instant::now();
    drop(guards);
    redlock.shutdown().await.unwrap();
    assert!(began.elapsed() >= delay);
    witness::assert_no_keys_now(&masters).await;
    eventually("no connection stays", SOON, async || {
        join_all(masters.iter().map(witness::client_count)).await == [0; 5]
    })
    .await;
}

#[tokio::test]
async fn a_shutdown_goes_on_when_no_caller_waits_for_it() {
    let masters = Masters::start(5);
    let redlock = connect(&masters).await;
    drop(hold(&redlock, 50).await);
    assert!(poll!(std::pin::pin!(redlock.shutdown())).is_pending());
    witness::eventually_no_keys(&masters, GRACE).await;
    assert!(matches!(redlock.acquire("r").await, Err(AcquireError::Closed(_))));
}

#[tokio::test]
async fn what_a_stopped_master_has_not_confirmed_is_reported_after_a_ttl() {
    let masters = Masters::start(5);
    let ttl = Duration::from_secs(1);
    let redlock = masters.builder().ttl(ttl).connect().await.unwrap();
    let guards = hold_everywhere(&masters, &redlock, 10).await;
    masters[0].stop();
    drop(guards);
    let began = Instant::now();
    let undrained = redlock.shutdown().await.unwrap_err();
    let took = began.elapsed();
    assert_eq!(undrained.owed, 10, "{undrained}");
    assert!(took >= ttl && took < ttl + GRACE, "{took:?}");
    witness::assert_no_keys_now(&masters[1..]).await;
    masters[0].cont();
    witness::eventually_no_keys(&masters, GRACE).await;
}

#[tokio::test]
async fn acquires_under_way_are_closed_and_rolled_back() {
    let masters = Masters::start(5);
    let redlock = connect(&masters).await;
    let other = connect(&masters).await;
    let held = other.acquire("held").await.unwrap();
    let waiting =
        (0..20).map(|_| tokio::spawn(redlock.acquire("held").timeout(Duration::MAX).into_future()));
    let waiting: Vec<_> = waiting.collect();
    let mut beginning: Vec<_> =
        (0..20).map(|n| Box::pin(redlock.acquire(format!("r{n}")).into_future())).collect();
    for acquire in &mut beginning {
        assert!(poll!(acquire.as_mut()).is_pending());
    }
    redlock.shutdown().await.unwrap();
    for ended in join_all(waiting).await {
        assert!(matches!(ended.unwrap(), Err(AcquireError::Closed(_))));
    }
    for ended in join_all(beginning).await {
        assert!(matches!(ended, Err(AcquireError::Closed(_))), "{ended:?}");
    }
    held.release().await.unwrap();
    witness::eventually_no_keys(&masters, GRACE).await;
}

/// Checks that any call on a lock and on a `Redlock` that are over is answered at once.
async fn is_over(redlock: &Redlock, guard: Guard) {
    let all = async {
        let lost = guard.lost().await;
        assert_eq!(lost.reason, LossReason::Closed);
        assert_eq!(guard.check().unwrap_err(), lost);
        assert!(!guard.is_valid());
        assert!(matches!(guard.extend().await, Err(ExtendError::Lost(same)) if same == lost));
        assert_eq!(guard.lease().lost().await, lost);
        assert_eq!(guard.release().await, Err(lost));
        for acquire in [redlock.acquire("r"), redlock.clone().try_acquire("r")] {
            assert!(matches!(acquire.await, Err(AcquireError::Closed(_))));
        }
        let _what_it_says_is_that_of_the_first = redlock.shutdown().await;
    };
    timeout(SOON, all).await.expect("nothing hangs");
}

#[tokio::test]
async fn a_guard_held_at_a_shutdown_ends_and_its_key_stays_for_a_ttl() {
    let masters = Masters::start(5);
    let redlock = connect(&masters).await;
    let ttl = Duration::from_secs(2);
    let guard = redlock.acquire("r").ttl(ttl).await.unwrap();
    let watching = tokio::spawn({
        let lease = guard.lease();
        async move { lease.lost().await }
    });
    redlock.shutdown().await.unwrap();
    let lost = timeout(SOON, watching).await.expect("it is notified").unwrap();
    assert_eq!(lost.reason, LossReason::Closed);
    assert!(witness::holders(&masters, "r").await.len() >= 3);
    is_over(&redlock, guard).await;
    witness::eventually_no_keys(&masters, ttl + GRACE).await;
}

#[test]
fn a_redlock_whose_runtime_is_gone_is_closed_and_nothing_hangs() {
    let masters = Masters::start(5);
    let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (theirs, ours) = (runtime(), runtime());
    let redlock = theirs.block_on(connect(&masters));
    let guard = ours.block_on(redlock.acquire("held").into_future()).unwrap();
    let waiting = ours.spawn(redlock.acquire("held").timeout(Duration::MAX).into_future());
    let watching = ours.spawn({
        let lease = guard.lease();
        async move { lease.lost().await }
    });
    drop(theirs);
    ours.block_on(async {
        let lost = timeout(SOON, watching).await.expect("it is notified").unwrap();
        assert_eq!(lost.reason, LossReason::Closed);
        let ended = timeout(SOON, waiting).await.expect("it is closed").unwrap();
        assert!(matches!(ended, Err(AcquireError::Closed(_))), "{ended:?}");
        is_over(&redlock, guard).await;
    });
}

#[tokio::test]
async fn when_the_last_handle_goes_what_is_owed_is_paid() {
    let masters = Masters::start(5);
    let redlock = connect(&masters).await;
    let guards = hold_everywhere(&masters, &redlock, 50).await;
    drop(redlock);
    drop(guards);
    witness::eventually_no_keys(&masters, GRACE).await;
    eventually("no connection stays", SOON, async || {
        join_all(masters.iter().map(witness::client_count)).await == [0; 5]
    })
    .await;
}

#[tokio::test]
async fn a_connect_dropped_at_any_poll_leaves_no_connection() {
    let masters = Masters::start(5);
    let mut dropped = 0;
    'sweeps: while dropped < 40 {
        for polls in 1.. {
            let mut connecting = Box::pin(masters.builder().connect());
            for _ in 0..polls {
                if poll!(connecting.as_mut()).is_ready() {
                    continue 'sweeps;
                }
                tokio::task::yield_now().await;
            }
            dropped += 1;
        }
    }
    eventually("no connection stays", SOON, async || {
        join_all(masters.iter().map(witness::client_count)).await == [0; 5]
    })
    .await;
}
