//! A lock-delay: the keys outlive the validity, unless they are released.

use super::prelude::*;
use quorumlock::error::LossReason;
use quorumlock::{Redlock, RedlockBuilder};
use std::time::Duration;

const TTL: Duration = Duration::from_millis(500);
const DELAY: Duration = Duration::from_millis(700);
const LONG: Duration = Duration::from_secs(10);

fn builder(masters: &Masters) -> RedlockBuilder {
    masters.builder().acquire_timeout(LONG)
}

async fn three_and_two_clients() -> (Masters, Redlock, Redlock) {
    let masters = Masters::start(3);
    let (client, other) = (builder(&masters).connect().await, builder(&masters).connect().await);
    (masters, client.unwrap(), other.unwrap())
}

/// Returns the key's ttl on one master, once it is there.
async fn life(server: &Master) -> Duration {
    let mut life = None;
    let stands = async || {
        life = witness::pttl(server, "r").await;
        life.is_some()
    };
    eventually("the key stands", SOON, stands).await;
    life.unwrap()
}

#[tokio::test(start_paused = true)]
async fn keys_live_for_ttl_and_delay_and_the_holder_relies_on_the_ttl() {
    let (masters, redlock, _) = three_and_two_clients().await;
    let (ttl, delay) = (LONG, LONG + SOON);
    for several in [&["r"][..], &["r", "s"]] {
        for extended in [false, true] {
            let guard = redlock.acquire_all(several).ttl(ttl).lock_delay(delay).await.unwrap();
            if extended {
                guard.extend().await.unwrap();
            }
            assert!(guard.remaining() <= ttl);
            for server in masters.iter() {
                let left = life(server).await;
                assert_eq!(left, ttl + delay);
            }
            guard.release().await.unwrap();
            witness::eventually_no_keys(&masters, SOON).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_crashed_holders_resource_stays_closed_for_the_delay() {
    let (_masters, crashing, next) = three_and_two_clients().await;
    let began = Instant::now();
    let guard = crashing.acquire("r").ttl(TTL).lock_delay(DELAY).await.unwrap();
    // No client releases or extends from now on.
    crashing.shutdown().await.unwrap();
    assert_eq!(guard.lost().await.reason, LossReason::Closed);
    let guard = next.acquire("r").await.unwrap();
    assert_eq!(began.elapsed(), TTL + DELAY + MS);
    assert!(guard.is_valid());
}

#[tokio::test(start_paused = true)]
async fn a_lapse_is_reported_at_the_ttl_and_the_delay_bars_others() {
    let (_masters, lapsing, next) = three_and_two_clients().await;
    let began = Instant::now();
    let guard = lapsing.acquire("r").ttl(TTL).lock_delay(LONG).await.unwrap();
    assert_eq!(guard.lost().await.reason, LossReason::Lapsed);
    assert!(began.elapsed() < TTL);
    let refused = next.acquire("r").timeout(DELAY).await.unwrap_err();
    assert!(refused.is_contended(), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_released_resource_opens_at_once() {
    let (_masters, redlock, next) = three_and_two_clients().await;
    let acquire = || redlock.acquire("r").ttl(LONG).lock_delay(LONG).timeout(LONG);
    for _ in 0..3 {
        let began = Instant::now();
        acquire().await.unwrap().release().await.unwrap();
        drop(next.acquire("r").timeout(SOON).await.unwrap());
        drop(acquire().await.unwrap());
        next.acquire("r").timeout(SOON).await.unwrap().release().await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO, "nothing was waited for");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollback_leaves_nothing_for_the_delay() {
    let (masters, redlock, _) = three_and_two_clients().await;
    for master in &masters[..2] {
        witness::set_foreign(master, "r", "theirs", LONG).await;
    }
    let refused = redlock.try_acquire("r").ttl(LONG).lock_delay(LONG).await.unwrap_err();
    assert!(refused.is_contended(), "{refused}");
    witness::eventually_none(&masters[2..], |_| true, SOON).await;
}

#[tokio::test(start_paused = true)]
async fn the_builders_delay_applies_unless_a_call_sets_its_own() {
    let masters = Masters::start(1);
    let redlock = builder(&masters).ttl(LONG).lock_delay(LONG).connect().await.unwrap();
    let guard = redlock.acquire("r").await.unwrap();
    assert!(life(&masters[0]).await > LONG);
    guard.release().await.unwrap();
    let guard = redlock.acquire("r").lock_delay(Duration::ZERO).await.unwrap();
    assert!(life(&masters[0]).await <= LONG);
    guard.release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_fraction_of_a_millisecond_of_delay_is_a_whole_one() {
    let masters = Masters::start(1);
    let redlock = builder(&masters).connect().await.unwrap();
    let acquire = redlock.acquire("r").ttl(LONG).lock_delay(Duration::from_nanos(1));
    let _guard = acquire.await.unwrap();
    assert_eq!(life(&masters[0]).await, LONG + MS);
}

#[tokio::test(start_paused = true)]
async fn a_delay_changes_nothing_for_a_fenced_lock() {
    let (_masters, crashing, next) = three_and_two_clients().await;
    let began = Instant::now();
    let first = crashing.acquire("r").ttl(TTL).lock_delay(DELAY).fenced().await.unwrap();
    crashing.shutdown().await.unwrap();
    let second = next.acquire("r").fenced().await.unwrap();
    assert_eq!(began.elapsed(), TTL + DELAY + MS);
    assert!(second.fencing_token() > first.fencing_token());
}
