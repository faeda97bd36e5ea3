//! Locks that are waited for in turn, over embedded masters: what users write, and what is left.

use crate::support::prelude::*;
use quorumlock::embedded::Masters;
use quorumlock::{AcquireError, AcquireFuture, Redlock, RedlockBuilder, Released, RestartGuard};
use std::future::IntoFuture;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::sleep;

const KEY: &str = "printer";

fn builder(masters: &Masters) -> RedlockBuilder {
    masters.builder().restart_guard(RestartGuard::Off).ttl(Duration::from_secs(20))
}

async fn connect(masters: &Masters) -> Redlock {
    builder(masters).fair(true).connect().await.unwrap()
}

/// Returns the keys of a master, except what outlives its clients.
fn keys(masters: &Masters) -> Vec<String> {
    let all = masters[0].keys().into_iter();
    all.filter(|key| !key.contains(":fence:") && !outlives_clients(key)).collect()
}

#[tokio::test]
async fn a_free_lock_is_a_lock_like_any_other() {
    let masters = Masters::start_in_memory(3).unwrap();
    let redlock = builder(&masters).connect().await.unwrap();
    let by_the_builder = connect(&masters).await;
    for acquire in [
        redlock.acquire(KEY).fair(true),
        redlock.try_acquire(KEY).fair(true).keep_alive(),
        by_the_builder.acquire(KEY),
    ] {
        assert_eq!(acquire.await.unwrap().release().await.unwrap(), Released::Confirmed);
        assert_eq!(keys(&masters), [""; 0]);
    }
    let guard = redlock.acquire(KEY).fair(true).fenced().await.unwrap();
    guard.extend().await.unwrap();
    assert_eq!(keys(&masters), [KEY]);
    assert_eq!(guard.release().await.unwrap(), Released::Confirmed);
    let nested = redlock.reentrant();
    let outer = nested.acquire(KEY).fair(true).await.unwrap();
    drop((nested.acquire(KEY).fair(true).await.unwrap(), outer));
    sleep(50 * MS).await;
    assert_eq!(keys(&masters), [""; 0]);
}

#[tokio::test]
async fn a_lock_that_is_detached_is_released_like_any_other() {
    let masters = Masters::start_in_memory(3).unwrap();
    let (client, other) = (connect(&masters).await, connect(&masters).await);
    let detached = client.acquire(KEY).await.unwrap().detach().await.unwrap();
    let guard = other.adopt(detached).await.unwrap();
    assert!(client.try_acquire(KEY).await.unwrap_err().is_contended());
    guard.extend().await.unwrap();
    assert_eq!(guard.release().await.unwrap(), Released::Confirmed);
    assert_eq!(keys(&masters), [""; 0]);
    drop(client.acquire(KEY).await.unwrap().detach().await.unwrap());
    drop(client.try_acquire(KEY).await.expect_err("a value that is dropped is not released"));
}

#[tokio::test]
async fn a_waiter_that_gives_up_learns_how_many_were_ahead_and_leaves() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [holder, waiter, other] =
        [connect(&masters).await, connect(&masters).await, connect(&masters).await];
    let guard = holder.acquire(KEY).label("worker-7").await.unwrap();
    let AcquireError::Contended(attempt) = waiter.try_acquire(KEY).await.unwrap_err() else {
        panic!()
    };
    assert_eq!((attempt.ahead, attempt.attempts), (Some(0), 0), "{attempt}");
    assert_eq!(other.inspect(KEY).await.unwrap().waiting(), Some(0));

    let waits =
        tokio::spawn(async move { waiter.acquire(KEY).timeout(Duration::MAX).await.unwrap() });
    eventually(async || other.inspect(KEY).await.unwrap().waiting() == Some(1)).await;
    let error = other.acquire(KEY).timeout(1_500 * MS).await.unwrap_err();
    let AcquireError::Contended(error) = error else { panic!("{error}") };
    assert_eq!(error.ahead, Some(1), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("\"printer\" is held by worker-7, 1 ahead in the queue: "), "{text}");
    let inspection = other.inspect(KEY).await.unwrap();
    assert_eq!(inspection.waiting(), Some(1), "it has left: {inspection}");
    guard.release().await.unwrap();
    waits.await.unwrap().release().await.unwrap();
}

/// Waits until an acquire that is not over shows how many are ahead.
async fn waits_until_it_shows(ahead: Option<usize>, acquire: &mut Pin<Box<AcquireFuture>>) {
    for _ in 0..300 {
        assert!(futures::poll!(acquire.as_mut()).is_pending(), "{acquire:?}");
        if acquire.ahead() == ahead {
            return;
        }
        sleep(20 * MS).await;
    }
    panic!("after 6 s it shows {:?}", acquire.ahead());
}

#[tokio::test]
async fn a_waiter_sees_how_many_are_ahead() {
    let masters = Masters::start_in_memory(3).unwrap();
    let [holder, waiter, other] =
        [connect(&masters).await, connect(&masters).await, connect(&masters).await];
    let guard = holder.acquire(KEY).await.unwrap();
    let wait =
        |redlock: &Redlock| Box::pin(redlock.acquire(KEY).timeout(Duration::MAX).into_future());
    let (mut second, mut third, mut behind) = (wait(&waiter), wait(&other), wait(&other));
    assert_eq!(second.ahead(), None, "nothing is asked before it is polled");
    waits_until_it_shows(Some(0), &mut second).await;
    waits_until_it_shows(Some(1), &mut third).await;
    assert!(futures::poll!(behind.as_mut()).is_pending());
    guard.release().await.unwrap();
    let guard = second.as_mut().await.unwrap();
    assert_eq!(second.ahead(), None, "it is over");
    waits_until_it_shows(Some(0), &mut third).await;
    assert!(futures::poll!(behind.as_mut()).is_pending());
    assert_eq!(behind.ahead(), None, "another acquire of its client is in the queue");
    guard.release().await.unwrap();
    let guard = third.await.unwrap();
    let mut both = Box::pin(waiter.acquire_all([KEY, "other"]).into_future());
    assert!(futures::poll!(both.as_mut()).is_pending());
    sleep(100 * MS).await;
    assert!(futures::poll!(behind.as_mut()).is_pending());
    assert!(futures::poll!(both.as_mut()).is_pending());
    assert_eq!(behind.ahead(), None, "behind a guard of its client");
    assert_eq!(both.ahead(), None, "without a queue");
    guard.release().await.unwrap();
}

#[tokio::test]
async fn threads_wait_in_turn() {
    use quorumlock::Wait;
    let masters = Masters::start(3).unwrap();
    let client = connect(&masters).await;
    let guard = client.acquire(KEY).await.unwrap();
    let threads = builder(&masters).own_thread(true);
    let waits = tokio::task::spawn_blocking(move || {
        let redlock = threads.connect().wait().unwrap();
        let guard = redlock.acquire(KEY).fair(true).timeout(LONG).wait().unwrap();
        let refused = redlock.try_acquire(KEY).fair(true).wait().unwrap_err();
        assert!(refused.is_contended(), "{refused}");
        assert_eq!(guard.release().wait(), Ok(Released::Confirmed));
        redlock.acquire(KEY).fair(true).wait().unwrap().release().wait().unwrap();
    });
    eventually(async || client.inspect(KEY).await.unwrap().waiting() == Some(1)).await;
    assert!(!waits.is_finished(), "beside the holder");
    guard.release().await.unwrap();
    waits.await.unwrap();
    assert_eq!(keys(&masters), [""; 0]);
}

async fn eventually(mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..300 {
        if is_so().await {
            return;
        }
        sleep(20 * MS).await;
    }
    panic!("not so within 6 s");
}
