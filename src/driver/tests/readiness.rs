//! Waiting until locks can be acquired: reported in time, without sending a command for it.

use super::*;
use crate::embedded::{Master, Memory};
use crate::failure::ReadyError;
use tokio::time::{Instant, timeout};

/// Starts masters, each somewhat later than the one before it.
async fn fresh() -> Masters {
    let masters = five();
    for (place, master) in (0..).zip(masters.iter()) {
        master.set_uptime((20 - 4 * place) * SECOND);
    }
    masters
}

#[tokio::test(start_paused = true)]
async fn wait_until_ready_ends_exactly_when_a_quorum_has_warmed_up() {
    let masters = fresh().await;
    let redlock = connect(masters.builder()).await;
    let status = redlock.status().await.unwrap();
    // The third of them: it has been up for 12 s of the 30.302.
    let left = status.can_acquire_in().unwrap();
    assert!(left > 18 * SECOND && left < 20 * SECOND && !status.can_acquire(), "{status}");
    let began = Instant::now();
    assert!(redlock.try_acquire(KEY).await.is_err());
    redlock.wait_until_ready(60 * SECOND).await.unwrap();
    let waited = began.elapsed();
    // A heartbeat may report a later start, by the second to which uptimes are rounded.
    assert!(waited >= left && waited <= left + SECOND + 2 * MS, "{waited:?} of {left:?}");
    assert!(redlock.status().await.unwrap().can_acquire());
    redlock.try_acquire(KEY).await.unwrap().release().await.unwrap();
    let began = Instant::now();
    redlock.wait_until_ready(Duration::ZERO).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO, "ready already");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_times_out_names_the_missing_masters() {
    let masters = fresh().await;
    masters[0].kill();
    let redlock = connect(masters.builder()).await;
    for within in [Duration::ZERO, 7 * SECOND] {
        let began = Instant::now();
        let error = redlock.wait_until_ready(within).await.unwrap_err();
        let waited = began.elapsed();
        assert!(waited >= within && waited <= within + 2 * MS, "{waited:?} of {within:?}");
        let text = error.to_string();
        assert!(text.contains(": 0 of 5 masters may vote, 3 needed: "), "{text}");
        assert!(text.contains("embedded-1.invalid:6379 down (") && !text.contains('\n'), "{text}");
        let ReadyError::NotReady(not_ready) = error else { panic!("{error}") };
        let left = not_ready.status.can_acquire_in().unwrap();
        assert!(left > 14 * SECOND && left < 24 * SECOND, "{left:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_master_that_returns_ends_every_wait_for_readiness_at_once() {
    let masters = five();
    masters[..3].iter().for_each(Master::kill);
    let redlock = connect(masters.builder()).await;
    let waiting = || {
        let redlock = redlock.clone();
        tokio::spawn(async move { redlock.wait_until_ready(60 * SECOND).await })
    };
    let (first, second) = (waiting(), waiting());
    sleep(3 * SECOND).await;
    assert!(!first.is_finished());
    masters[1].restart(Memory::Kept).unwrap();
    masters[1].set_uptime(3600 * SECOND);
    // The pause between two dials has grown to 2 s, give or take a fifth.
    sleep(3 * SECOND).await;
    assert!(first.is_finished() && second.is_finished());
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_wait_is_forgotten_and_a_shutdown_ends_a_wait() {
    let masters = fresh().await;
    let (redlock, driver) = Observed::connect(masters.builder()).await;
    let before = driver.polls();
    timeout(SECOND, redlock.wait_until_ready(60 * SECOND)).await.unwrap_err();
    redlock.status().await.unwrap();
    assert_eq!(driver.remembered(), 0);
    assert!(driver.polls() - before < 10, "the driver does not look again and again");
    let waiting = {
        let redlock = redlock.clone();
        tokio::spawn(async move { redlock.wait_until_ready(60 * SECOND).await })
    };
    settle().await;
    redlock.shutdown().await.unwrap();
    assert!(matches!(waiting.await.unwrap(), Err(ReadyError::Closed(_))));
    assert!(redlock.status().await.is_err());
    assert!(matches!(redlock.wait_until_ready(SECOND).await, Err(ReadyError::Closed(_))));
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_an_end_is_one() {
    let masters = five();
    masters.iter().for_each(Master::kill);
    let redlock = connect(masters.builder()).await;
    timeout(3600 * SECOND, redlock.wait_until_ready(Duration::MAX)).await.unwrap_err();
}
