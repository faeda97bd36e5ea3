//! A caller that stops waiting, at any moment and in any way, leaves no key.

// A sweep begins a future that it drops, and does not await.
#![allow(clippy::async_yields_async)]

use super::prelude::*;
use crate::support::seed::{Rng, Seed};
use futures::future::join_all;
use futures::poll;
use quorumlock::{Guard, Released};
use std::pin::pin;
use std::time::Duration;
use tokio::task::yield_now;

/// Time within which everything that a dropped acquire began is undone.
const GRACE: Duration = Duration::from_secs(1);

const SOON: Duration = Duration::from_secs(10);

/// Polls `n` times, lets a millisecond pass after each, then drops the future. Returns the result if
/// there was one.
async fn polled<F: Future>(n: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..n {
        if let std::task::Poll::Ready(result) = poll!(future.as_mut()) {
            return Some(result);
        }
        tokio::time::sleep(MS).await;
    }
    None
}

/// Drops what `begin` returns after 1, 2, … polls, until it completes: each master answers a millisecond after
/// the one before it. After that all keys must be gone.
async fn sweep<F: Future>(masters: &Masters, begin: impl AsyncFn(String) -> F) {
    for (master, latency) in masters.iter().zip(1..) {
        master.set_latency(latency * MS);
    }
    for polls in 1.. {
        let future = begin(format!("r{polls}")).await;
        if polled(polls, future).await.is_some() {
            assert!(polls > 3, "it waits for the answers of three");
            break;
        }
    }
    witness::eventually_no_keys(masters, GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn an_acquire_dropped_at_any_poll_leaves_nothing() {
    let (masters, redlock) = five().await;
    sweep(&masters, async |name| redlock.acquire(name).into_future()).await;
}

#[tokio::test(start_paused = true)]
async fn an_acquire_dropped_behind_another_holder_leaves_nothing() {
    let (masters, redlock) = five().await;
    // The other holder releases in the middle, so that each sweep ends and also covers the end.
    sweep(&masters, async |name| {
        let held = redlock.acquire(name.as_str()).await.unwrap();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(2)).await;
            drop(held);
        });
        redlock.acquire(name).into_future()
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_release_dropped_at_any_poll_leaves_nothing() {
    let (masters, redlock) = five().await;
    let held = async |name: String| redlock.acquire(name).await.unwrap();
    sweep(&masters, async |name| held(name).await.release()).await;
    sweep(&masters, async |name| {
        let guard = held(name).await;
        async move { guard.extend().await }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_acquire_dropped_at_any_poll_leaves_nothing() {
    let (masters, redlock) = five().await;
    sweep(&masters, async |name| {
        let also = format!("{name}, too");
        redlock.acquire_all([name, also]).into_future()
    })
    .await;
    let body = async |_| yield_now().await;
    sweep(&masters, async |name| redlock.acquire(name).run(body)).await;
    sweep(&masters, async |name| redlock.reentrant().acquire(name).into_future()).await;
}

#[tokio::test(start_paused = true)]
async fn an_acquire_that_is_never_polled_sends_nothing() {
    let (masters, redlock) = five().await;
    let before = witness::command_count(&masters[0]).await;
    drop(redlock.acquire("r"));
    drop(redlock.acquire("r").into_future());
    assert!(polled(0, redlock.acquire("r").into_future()).await.is_none());
    // A command sent after them has arrived.
    let guard = redlock.acquire("other").await.unwrap();
    let arrived = async || !witness::holders(&masters[..1], "other").await.is_empty();
    eventually("the other lock is on the first master", SOON, arrived).await;
    assert_eq!(witness::command_count(&masters[0]).await, before + 1);
    drop(guard);
    witness::eventually_no_keys(&masters, GRACE).await;
}

async fn pause(mut rng: Rng) {
    for _ in 0..rng.within(0..60) {
        yield_now().await;
    }
    if rng.chance(50) {
        tokio::time::sleep(rng.duration(Duration::ZERO..Duration::from_millis(4))).await;
    }
}

/// Few resources, so that some acquires wait for others and some retry.
#[tokio::test(start_paused = true)]
async fn acquires_dropped_or_aborted_at_random_moments_leave_nothing() {
    let mut rng = Seed::from_env("QUORUMLOCK_SEED_DROPS").rng();
    let (masters, redlock) = five().await;
    for _ in 0..8 {
        let tasks = (0..16).map(|_| {
            let (mut rng, resource) = (rng.fork(), format!("r{}", rng.within(0..5)));
            let (first, second) = (redlock.acquire(resource.as_str()), redlock.acquire(resource));
            let held_for = pause(rng.fork());
            tokio::spawn(async move {
                let holding = tokio::spawn(async move {
                    let _guard = first.await;
                    held_for.await;
                });
                tokio::select! {
                    () = pause(rng.fork()) => {}
                    guard = second => drop(guard),
                }
                pause(rng).await;
                holding.abort();
            })
        });
        for ended in join_all(tasks).await {
            ended.unwrap();
        }
        witness::eventually_no_keys(&masters, GRACE).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_win_that_no_caller_picks_up_is_released() {
    let (masters, redlock) = five().await;
    for round in 0..20 {
        let resource = format!("r{round}");
        let mut acquire = Box::pin(redlock.acquire(resource.as_str()).into_future());
        assert!(poll!(acquire.as_mut()).is_pending());
        let won = async || witness::holders(&masters, &resource).await.len() == 5;
        eventually("it is won on every master", SOON, won).await;
        drop(acquire);
        witness::eventually_no_keys(&masters, GRACE).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_win_with_a_leaked_future_bars_others_only_until_its_ttl() {
    let (masters, redlock) = five().await;
    let ttl = Duration::from_millis(700);
    let mut acquire = Box::pin(redlock.acquire("r").ttl(ttl).into_future());
    assert!(poll!(acquire.as_mut()).is_pending());
    std::mem::forget(acquire);
    let won = async || witness::holders(&masters, "r").await.len() == 5;
    eventually("it is won on every master", ttl, won).await;
    let next = redlock.acquire("r").timeout(SOON).await.unwrap();
    assert_eq!(next.release().await, Ok(Released::Confirmed));
    witness::eventually_no_keys(&masters, GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_releases() {
    let (masters, redlock) = five().await;
    let redlock = &redlock;
    let tasks = (0..20).map(|round| {
        let acquire = redlock.acquire(format!("r{round}"));
        tokio::spawn(async move {
            let _guard = acquire.await.unwrap();
            panic!("while it holds the lock");
        })
    });
    for ended in join_all(tasks).await {
        assert!(ended.unwrap_err().is_panic());
    }
    witness::eventually_no_keys(&masters, GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn a_guard_is_dropped_on_a_thread_without_a_runtime() {
    let (masters, redlock) = five().await;
    for round in 0..20 {
        let guard = redlock.acquire(format!("r{round}")).await.unwrap();
        assert!(guard.is_valid());
        std::thread::spawn(move || drop::<Guard>(guard)).join().unwrap();
    }
    witness::eventually_no_keys(&masters, GRACE).await;
}

#[tokio::test(start_paused = true)]
async fn a_guard_belongs_to_no_task_and_no_thread() {
    let (masters, redlock) = five().await;
    for round in 0..20 {
        let acquire = redlock.acquire(format!("r{round}")).into_future();
        let guard = tokio::spawn(acquire).await.unwrap().unwrap();
        let guard = std::thread::spawn(move || guard).join().unwrap();
        let released = tokio::spawn(async move {
            guard.extend().await.unwrap();
            guard.release().await
        });
        assert_eq!(released.await.unwrap(), Ok(Released::Confirmed));
    }
    witness::eventually_no_keys(&masters, GRACE).await;
}
