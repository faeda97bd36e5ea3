//! A caller that stops waiting, at any poll, leaves nothing.

// A sweep begins a future that it drops, and does not await.
#![allow(clippy::async_yields_async)]

use super::*;
use crate::embedded::Master;
use futures::poll;
use tokio::task::yield_now;

/// Far less than the ttl: a key that is gone by then was deleted.
const SOON: Duration = Duration::from_secs(2);

/// Runs a test so that between two of its polls one other task gets one turn, and no more.
fn step_by_step(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).event_interval(1).build();
    runtime.unwrap().block_on(test);
}

/// Does what happens between two polls: only other tasks get a turn, or time passes.
async fn between(pace: Duration) {
    if pace.is_zero() { yield_now().await } else { sleep(pace).await }
}

/// Drops what `begin` makes after no poll, after one, after two, until it is ready; `check` looks
/// at what that leaves. Returns the number of moments at which it was dropped.
async fn sweep<F: Future>(
    pace: Duration,
    begin: impl AsyncFn() -> F,
    check: impl AsyncFn(usize),
) -> usize {
    for polls in 0.. {
        let mut future = Box::pin(begin().await);
        let mut ready = false;
        for _ in 0..polls {
            ready = poll!(&mut future).is_ready();
            if ready {
                break;
            }
            between(pace).await;
        }
        drop(future);
        check(polls).await;
        if ready {
            return polls;
        }
    }
    unreachable!("it is ready some time")
}

/// Drops acquires; returns the number of moments.
async fn sweep_acquires(pace: Duration, masters: &Masters, redlock: &Redlock) -> usize {
    let begin = async || redlock.acquire(KEY).ttl(TTL).into_future();
    sweep(pace, begin, async |polls| {
        sleep(SOON).await;
        assert_no_keys(masters, &format!("dropped after {polls} polls"));
    })
    .await
}

#[test]
fn an_acquire_that_is_dropped_at_any_poll_leaves_no_key() {
    step_by_step(async {
        let (masters, redlock) = five_and_client().await;
        let moments = sweep_acquires(Duration::ZERO, &masters, &redlock).await;
        assert!(moments > masters.len(), "the driver, and each master: {moments}");
    });
}

#[tokio::test(start_paused = true)]
async fn an_acquire_dropped_with_answers_in_flight_leaves_no_key() {
    let (masters, redlock) = five_and_client().await;
    // One after another, so that there is a moment after each vote.
    for (place, master) in (1..).zip(masters.iter()) {
        master.set_latency(4 * place * MS);
    }
    let moments = sweep_acquires(MS, &masters, &redlock).await;
    assert!(moments >= 12, "the third vote takes that long: {moments}");
    masters[..2].iter().for_each(Master::partition);
    let moments = sweep_acquires(MS, &masters, &redlock).await;
    assert!(moments >= 20, "the fifth: {moments}");
    masters[..2].iter().for_each(Master::heal);
    sleep(SOON).await;
    assert_no_keys(&masters, "where it arrived late");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_waiter_is_forgotten_and_spares_the_holders_keys() {
    let masters = five();
    let (redlock, driver) = Observed::connect(masters.builder()).await;
    let guard = connect(masters.builder()).await.acquire(KEY).ttl(TTL).await.unwrap();
    settle().await;
    let tokens: Vec<_> = masters.iter().map(|master| master.holder(KEY)).collect();
    assert!(tokens.iter().all(Option::is_some));
    for held_up in 0..60_u32 {
        let acquire = redlock.acquire(KEY).into_future();
        let waiting = tokio::time::timeout(7 * held_up * MS, acquire).await;
        assert!(waiting.is_err());
        guard.extend().await.unwrap();
        settle().await;
        let still: Vec<_> = masters.iter().map(|master| master.holder(KEY)).collect();
        assert_eq!(driver.remembered(), 0, "dropped after {} ms", 7 * held_up);
        assert_eq!(still, tokens, "dropped after {} ms", 7 * held_up);
    }
    guard.release().await.unwrap();
    settle().await;
    assert_no_keys(&masters, "after the release");
}

#[test]
fn a_release_that_is_dropped_at_any_poll_is_made() {
    step_by_step(async {
        let (masters, redlock) = five_and_client().await;
        for pace in [Duration::ZERO, MS] {
            let begin = async || {
                masters.iter().for_each(|master| master.set_latency(Duration::ZERO));
                let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
                settle().await;
                masters.iter().for_each(|master| master.set_latency(3 * pace));
                guard.release()
            };
            let moments = sweep(pace, begin, async |polls| {
                sleep(SOON).await;
                assert_no_keys(&masters, &format!("dropped after {polls} polls"));
            });
            assert!(moments.await > 1);
        }
    });
}

#[tokio::test(start_paused = true)]
async fn an_extension_that_is_dropped_after_its_first_poll_is_made() {
    let (masters, redlock) = five_and_client().await;
    masters.iter().for_each(|master| master.set_latency(3 * MS));
    for polls in 0..8 {
        let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
        settle().await;
        let before = guard.deadline();
        let mut extending = Box::pin(guard.extend());
        for _ in 0..polls {
            if poll!(&mut extending).is_ready() {
                break;
            }
            between(MS).await;
        }
        drop(extending);
        sleep(10 * MS).await;
        assert_eq!(guard.deadline() > before, polls > 0, "dropped after {polls} polls");
        drop(guard);
        sleep(SOON).await;
        assert_no_keys(&masters, &format!("dropped after {polls} polls"));
    }
}

#[test]
fn a_connect_dropped_at_any_poll_closes_its_connections() {
    step_by_step(async {
        let masters = five();
        for delay in [0, 3] {
            masters.iter().for_each(|master| master.set_latency(delay * MS));
            let begin = async || masters.builder().connect_on(Clock::tokio());
            let moments = sweep(Duration::from_millis(delay.into()), begin, async |polls| {
                // A handshake, and what takes its note back.
                sleep(10 * MS).await;
                assert_eq!(tasks(), 0, "dropped after {polls} polls");
            });
            assert!(moments.await > 1);
        }
    });
}
