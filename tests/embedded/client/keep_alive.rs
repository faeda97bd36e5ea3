//! A lock with a keep-alive: held for as long as the work takes, within a bound, and never a moment
//! after the release or the loss.

use super::prelude::*;
use crate::proxy::{self, in_front_of};
use crate::support::proxy::Direction;
use crate::support::seed::Seed;
use futures::future::join_all;
use quorumlock::error::LossReason;
use quorumlock::{AcquireError, Redlock, Released};
use redis::cmd;
use std::time::Duration;

const TTL: Duration = Duration::from_millis(600);

async fn client(masters: &Masters) -> Redlock {
    masters.builder().ttl(TTL).connect().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_kept_lock_outlives_its_ttl_also_when_a_minority_dies() {
    let masters = Masters::start(5);
    let (redlock, rival) = (client(&masters).await, client(&masters).await);
    let guard = redlock.acquire("r").keep_alive().await.unwrap();
    for step in 0..10 {
        tokio::time::sleep(TTL / 2).await;
        guard.check().unwrap();
        assert!(rival.try_acquire("r").await.unwrap_err().is_contended());
        match step {
            3 => masters.kill(0),
            5 => masters[1].stop(),
            _ => {}
        }
    }
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    rival.try_acquire("r").await.unwrap().release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lock_kept_alive_for_a_span_ends_with_it() {
    let masters = Masters::start(3);
    let redlock = client(&masters).await;
    let began = Instant::now();
    let guard = redlock.acquire("r").keep_alive_for(TTL * 2).await.unwrap();
    let lost = guard.lost().await;
    let held = began.elapsed();
    assert_eq!(lost.reason, LossReason::Lapsed);
    assert_eq!(held, TTL * 2);
    // The last extension gave the keys a full ttl.
    redlock.acquire("r").timeout(TTL * 2).await.unwrap().release().await.unwrap();
    let refused = redlock.acquire("r").keep_alive_for(TTL / 2).await.unwrap_err();
    let text = "keep_alive_for: 300ms is below the ttl (600ms): lengthen it, or shorten the ttl";
    assert_eq!(refused.to_string(), text);
}

/// A renewal that is in flight when the lock is released revives nothing.
#[tokio::test(start_paused = true)]
async fn a_release_during_a_renewal_leaves_no_key() {
    let ttl = TTL * 5;
    let masters = Masters::start(5);
    let proxies = in_front_of(&masters);
    for proxy in &proxies {
        // A renewal is in flight for half of the time.
        proxy.delay(Direction::ToServer, ttl / 24);
        proxy.delay(Direction::ToClient, ttl / 24);
    }
    let patient = proxy::builder(&proxies).ttl(ttl).operation_timeout(ttl / 3);
    let redlock = patient.connect().await.unwrap();
    let seed = Seed::from_env("QUORUMLOCK_SEED");
    let mut rng = seed.rng();
    let rounds: Vec<_> = (0..60).map(|n| (n, rng.duration(ttl / 4..ttl), rng.chance(50))).collect();
    join_all(rounds.into_iter().map(|(n, held, dropped)| {
        let redlock = redlock.clone();
        async move {
            let guard =
                redlock.acquire(format!("r{n}")).keep_alive_for(Duration::MAX).await.unwrap();
            tokio::time::sleep(held).await;
            if dropped {
                drop(guard);
            } else {
                let lost = guard.release().await.err();
                assert_ne!(lost.map(|lost| lost.reason), Some(LossReason::Lapsed));
            }
        }
    }))
    .await;
    witness::eventually_no_keys(&masters, SOON).await;
    tokio::time::sleep(ttl * 2).await;
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test(start_paused = true)]
async fn a_kept_lock_whose_quorum_is_cut_off_is_lost_at_its_deadline() {
    let masters = Masters::start(5);
    let redlock = client(&masters).await;
    let guard = redlock.acquire("r").keep_alive().await.unwrap();
    tokio::time::sleep(TTL).await;
    for master in masters.iter().take(3) {
        master.stop();
    }
    let due = Instant::now() + guard.remaining();
    let lost = guard.lost().await;
    assert_eq!(lost.reason, LossReason::Lapsed);
    assert!(!guard.is_valid());
    // A round that was in flight when they stopped may still have been won.
    assert!(Instant::now() <= due + TTL, "notified late");
    for master in masters.iter().take(3) {
        master.cont();
    }
    tokio::time::sleep(TTL).await;
    assert!(!guard.is_valid(), "revived");
    assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
    witness::eventually_no_keys(&masters, SOON).await;
}

/// The keys are gone and another client holds the lock: no client takes it back.
#[tokio::test(start_paused = true)]
async fn a_lock_taken_away_is_lost_at_the_next_renewal_for_good() {
    let masters = Masters::start(5);
    let (redlock, rival) = (client(&masters).await, client(&masters).await);
    let guard = redlock.acquire("r").keep_alive().await.unwrap();
    for master in masters.iter() {
        let _: i64 = witness::ask(master, cmd("DEL").arg("r")).await.unwrap();
    }
    let theirs = rival.try_acquire("r").keep_alive().await.unwrap();
    let lost = guard.lost().await;
    assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
    tokio::time::sleep(TTL * 2).await;
    theirs.check().unwrap();
    assert_eq!(witness::holders(&masters, "r").await.len(), 5, "the rival's");
    drop(guard);
    tokio::time::sleep(TTL).await;
    theirs.check().unwrap();
    assert_eq!(theirs.release().await, Ok(Released::Confirmed));
}

#[tokio::test(start_paused = true)]
async fn a_master_that_lost_the_key_gets_it_back_from_the_keeper() {
    let masters = Masters::start(3);
    let redlock = client(&masters).await;
    let guard = redlock.acquire("r").keep_alive().await.unwrap();
    let _: i64 = witness::ask(&masters[2], cmd("DEL").arg("r")).await.unwrap();
    eventually("the key is back on every master", SOON, async || {
        witness::holders(&masters, "r").await == [0, 1, 2]
    })
    .await;
    // Its vote counts from now on: another master may go.
    masters.kill(0);
    tokio::time::sleep(TTL * 2).await;
    guard.check().unwrap();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
}

#[tokio::test(start_paused = true)]
async fn a_resource_without_a_name_is_refused() {
    let masters = Masters::start(1);
    let redlock = client(&masters).await;
    let refused = redlock.try_acquire("").await;
    assert!(matches!(refused, Err(AcquireError::InvalidSetting(_))), "{refused:?}");
}

#[cfg(feature = "tokio-util")]
#[tokio::test(start_paused = true)]
async fn the_token_of_a_lock_is_cancelled_with_it_and_cancels_nothing() {
    let masters = Masters::start(3);
    let redlock = client(&masters).await;
    let guard = redlock.acquire("r").await.unwrap();
    let (ours, theirs) = (guard.cancellation_token(), guard.lease().cancellation_token());
    ours.cancel();
    assert!(guard.is_valid() && !theirs.is_cancelled());
    theirs.cancelled().await;
    assert!(!guard.is_valid());
    assert!(guard.cancellation_token().is_cancelled(), "also for whoever comes late");
}
