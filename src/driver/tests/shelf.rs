//! Locks that are kept warm, and that callers take without the driver.

use super::*;
use crate::error::LossReason;
use crate::{Acquire, AcquireError, Released};
use std::pin::pin;

const WARM: Duration = Duration::from_secs(2);

fn warm(redlock: &Redlock) -> Acquire {
    redlock.acquire(KEY).ttl(TTL).keep_warm(WARM)
}

/// Counts the requests that have been numbered, one more each time: an acquire without the driver has no number.
fn numbered(redlock: &Redlock) -> u64 {
    redlock.driver.next_request().0
}

/// Returns a client, and its guard of a lock that it has taken from the shelf.
async fn lent() -> (Masters, Redlock, Guard) {
    pass_the_moment().await;
    let (masters, redlock) = five_and_client().await;
    warm(&redlock).await.unwrap().release().await.unwrap();
    settle().await;
    let before = numbered(&redlock);
    let guard = warm(&redlock).await.unwrap();
    assert_eq!(numbered(&redlock), before + 1, "without the driver");
    (masters, redlock, guard)
}

#[tokio::test(start_paused = true)]
async fn a_task_that_wants_the_same_lock_again_and_again_needs_the_driver_twice() {
    let (_masters, redlock) = five_and_client().await;
    warm(&redlock).await.unwrap().release().await.unwrap();
    warm(&redlock).await.unwrap().release().await.unwrap();
    let before = numbered(&redlock);
    for _ in 0..1_000 {
        let guard = warm(&redlock).await.unwrap();
        assert!(guard.check().is_ok());
        guard.release().await.unwrap();
    }
    assert_eq!(numbered(&redlock), before + 1);
}

#[tokio::test(start_paused = true)]
async fn such_a_guard_is_extended() {
    let (masters, _redlock, guard) = lent().await;
    sleep(SECOND).await;
    guard.extend().await.unwrap();
    assert!(guard.remaining() > VALIDITY - 10 * MS, "{:?}", guard.remaining());
    sleep(TTL / 2 + SECOND).await;
    assert!(
        guard.is_valid() && holders(&masters).len() == 5,
        "long after it would have been released"
    );
    guard.release().await.unwrap();
    settle().await;
    assert_no_keys(&masters, "after half of its validity, it goes to no other guard");
}

#[tokio::test(start_paused = true)]
async fn such_a_guard_is_released_dropped_forgotten_and_detached() {
    let (masters, redlock, guard) = lent().await;
    assert_eq!(guard.release().await, Ok(Released::KeptWarm));
    let guard = warm(&redlock).await.unwrap();
    drop(guard);
    settle().await;
    assert_no_keys(&masters, "dropped");
    let (masters, redlock, guard) = lent().await;
    guard.forget();
    settle().await;
    assert_eq!(holders(&masters).len(), 5);
    let refused = warm(&redlock).timeout(Duration::ZERO).await;
    assert!(matches!(refused, Err(AcquireError::Contended(_))), "{refused:?}");
    let (masters, redlock, guard) = lent().await;
    let detached = guard.detach().await.unwrap();
    let refused = warm(&redlock).timeout(Duration::ZERO).await;
    assert!(matches!(refused, Err(AcquireError::Contended(_))), "{refused:?}");
    drop(redlock.adopt(detached).await.unwrap());
    settle().await;
    assert_no_keys(&masters, "adopted, and released");
}

#[tokio::test(start_paused = true)]
async fn its_loss_is_reported_at_its_deadline() {
    let (masters, _redlock, guard) = lent().await;
    let left = guard.remaining();
    let began = now();
    let lost = guard.lost().await;
    assert_eq!((now().since(began), lost.reason), (left, LossReason::Lapsed));
    assert!(guard.check().is_err());
    drop(guard);
    settle().await;
    assert_no_keys(&masters, "lapsed, and dropped");
}

#[tokio::test(start_paused = true)]
async fn another_task_waits_for_such_a_guard_and_has_the_lock_next() {
    let (masters, redlock, guard) = lent().await;
    let refused = redlock.try_acquire(KEY).ttl(TTL).keep_warm(WARM).await.unwrap_err();
    assert!(matches!(refused, AcquireError::Contended(_)), "{refused:?}");
    assert!(refused.to_string().contains("this client"), "{refused}");
    let waits = tokio::spawn(warm(&redlock).into_future());
    sleep(SECOND).await;
    assert!(!waits.is_finished() && guard.is_valid());
    let deadline = guard.deadline();
    guard.release().await.unwrap();
    let next = waits.await.unwrap().unwrap();
    assert_eq!(next.deadline(), deadline, "without the masters");
    next.release().await.unwrap();
    sleep(WARM + MS).await;
    assert_no_keys(&masters, "released after its time");
}

#[tokio::test(start_paused = true)]
async fn an_acquire_on_other_terms_waits_for_such_a_guard_and_asks_the_masters() {
    let (_masters, redlock, guard) = lent().await;
    let other = redlock.acquire(KEY).ttl(TTL / 2).keep_warm(WARM).into_future();
    let waits = tokio::spawn(other);
    sleep(SECOND).await;
    assert!(!waits.is_finished() && guard.is_valid());
    guard.release().await.unwrap();
    assert!(waits.await.unwrap().unwrap().remaining() < TTL / 2);
}

#[tokio::test(start_paused = true)]
async fn its_time_counts_from_when_it_was_last_given_back() {
    let (masters, redlock, guard) = lent().await;
    sleep(WARM - 100 * MS).await;
    guard.release().await.unwrap();
    sleep(WARM - 100 * MS).await;
    assert_eq!(holders(&masters).len(), 5);
    sleep(101 * MS).await;
    assert_no_keys(&masters, "idle for its time");
    drop(redlock);
}

#[tokio::test(start_paused = true)]
async fn it_goes_to_no_guard_after_half_of_its_validity() {
    pass_the_moment().await;
    let (masters, redlock) = five_and_client().await;
    let began = now();
    let mut guard = warm(&redlock).await.unwrap();
    let deadline = guard.deadline();
    while guard.deadline() == deadline {
        guard.release().await.unwrap();
        sleep(100 * MS).await;
        guard = warm(&redlock).await.unwrap();
    }
    let took = now().since(began);
    assert!(took > VALIDITY / 2 - 100 * MS && took < VALIDITY / 2 + 200 * MS, "{took:?}");
    drop((masters, guard));
}

#[tokio::test(start_paused = true)]
async fn a_client_elsewhere_asks_such_a_guard() {
    let (masters, redlock, guard) = lent().await;
    let other = connect(masters.builder()).await;
    let waits = tokio::spawn(other.acquire(KEY).into_future());
    tokio::time::timeout(SECOND, guard.wanted()).await.unwrap();
    assert!(guard.is_wanted() && guard.is_valid());
    guard.release().await.unwrap();
    let began = now();
    drop(waits.await.unwrap().unwrap());
    assert!(
        now().since(began) < SECOND,
        "and is not kept out by those that take it without the driver"
    );
    drop(redlock);
}

/// The lock is on its way to a caller that is gone.
#[tokio::test(start_paused = true)]
async fn what_was_promised_to_a_caller_that_is_gone_is_free() {
    for polls in 1..4 {
        let (masters, redlock) = five_and_client().await;
        warm(&redlock).await.unwrap().release().await.unwrap();
        {
            // The driver has not heard yet that it was given back.
            let mut acquire = pin!(warm(&redlock).into_future());
            for _ in 0..polls {
                let polled = futures::poll!(acquire.as_mut());
                if polled.is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        settle().await;
        let guard = tokio::time::timeout(SECOND, warm(&redlock)).await.unwrap().unwrap();
        assert!(guard.is_valid());
        guard.release().await.unwrap();
        redlock.shutdown().await.unwrap();
        assert_no_keys(&masters, "shut down");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_shutdown_such_a_guard_is_over_as_any_other() {
    let (masters, redlock, guard) = lent().await;
    let other = redlock.acquire("other").ttl(TTL).await.unwrap();
    let shutdown = tokio::spawn({
        let redlock = redlock.clone();
        async move { redlock.shutdown().await }
    });
    settle().await;
    let reason = |guard: &Guard| guard.check().unwrap_err().reason;
    assert_eq!((reason(&guard), reason(&other)), (LossReason::Closed, LossReason::Closed));
    let refused = warm(&redlock).await;
    assert!(matches!(refused, Err(AcquireError::Closed(_))), "{refused:?}");
    drop((guard, other));
    shutdown.await.unwrap().unwrap();
    drop(masters);
}

#[test]
fn without_a_driver_such_a_guard_is_over() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    let (_masters, redlock, guard) = runtime.block_on(lent());
    drop(runtime);
    assert_eq!(guard.check().unwrap_err().reason, LossReason::Closed);
    drop((guard, redlock));
}

/// Otherwise nothing else would run on its thread, the driver included.
#[tokio::test(start_paused = true)]
async fn a_task_that_never_waits_lets_others_run() {
    let (_masters, redlock, guard) = lent().await;
    guard.release().await.unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let others = tokio::spawn({
        let ran = ran.clone();
        async move {
            loop {
                ran.fetch_add(1, SeqCst);
                tokio::task::yield_now().await;
            }
        }
    });
    for _ in 0..1_000 {
        warm(&redlock).await.unwrap().release().await.unwrap();
    }
    others.abort();
    let ran = ran.load(SeqCst);
    assert!(ran >= 5, "{ran} times within 1,000 acquires");
}

/// A guard that put it back on the shelf by itself would keep it from the next client that asks.
#[tokio::test(start_paused = true)]
async fn a_lock_that_was_asked_for_too_soon_is_released_by_each_guard_that_it_is_passed_on_to() {
    let (masters, redlock) = five_and_client().await;
    let other = connect(masters.builder()).await;
    warm(&redlock).await.unwrap().release().await.unwrap();
    settle().await;
    other.acquire(KEY).await.unwrap().release().await.unwrap();
    settle().await;
    let guard = warm(&redlock).await.unwrap();
    let waits = tokio::spawn(warm(&redlock).into_future());
    settle().await;
    guard.release().await.unwrap();
    let next = waits.await.unwrap().unwrap();
    assert_eq!(holders(&masters).len(), 5);
    next.release().await.unwrap();
    settle().await;
    assert_no_keys(&masters, "no client has to ask");
}
