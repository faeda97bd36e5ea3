//! The end of a hold, to the millisecond, and the notifications of it.

use super::tap::Tap;
use super::*;
use crate::failure::LossReason;
use crate::{Guard, Lost};
use futures::poll;
use std::future::IntoFuture;
use std::pin::pin;

/// Longest delay of the driver's look at a clock that has advanced while tokio's timers stood
/// still.
const LATE: Duration = Duration::from_millis(250);

async fn held(redlock: &Redlock) -> Guard {
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    settle().await;
    guard
}

fn assert_lapsed(lost: &Lost) {
    assert_eq!((&lost.reason, lost.held_for), (&LossReason::Lapsed, VALIDITY));
}

#[tokio::test(start_paused = true)]
async fn a_loss_is_reported_at_the_deadline_and_not_before() {
    let (_masters, redlock) = five_and_client().await;
    let began = now();
    let guard = held(&redlock).await;
    let mut lost = pin!(guard.lost());
    sleep(VALIDITY - 2 * MS).await;
    assert_eq!(now(), began.after(VALIDITY - MS));
    assert!(poll!(lost.as_mut()).is_pending() && guard.is_valid());
    assert_eq!(guard.remaining(), MS);
    assert_lapsed(&lost.await);
    assert_eq!(now(), began.after(VALIDITY));
    assert!(!guard.is_valid());
}

#[tokio::test(start_paused = true)]
async fn the_time_that_the_answers_took_is_not_held() {
    let (masters, redlock) = five_and_client().await;
    let slow = 150 * MS;
    redlock.acquire("another").await.unwrap().release().await.unwrap();
    masters.iter().for_each(|master| master.set_latency(slow));
    let began = now();
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    assert_eq!(now(), began.after(slow));
    assert_eq!(guard.remaining(), VALIDITY - slow);
    assert_eq!(guard.lost().await.held_for, VALIDITY - slow);
    assert_eq!(now(), began.after(VALIDITY));
}

/// A task that is notified of the loss finds the guard invalid. The reverse does not hold: there is
/// a moment when the guard is invalid and no task has been notified yet.
#[tokio::test(start_paused = true)]
async fn a_guard_is_invalid_before_any_task_is_notified() {
    let (_masters, redlock) = five_and_client().await;
    let guard = held(&redlock).await;
    let mut lost = pin!(guard.lost());
    Clock::suspend(guard.remaining() - Duration::from_nanos(1));
    assert!(guard.is_valid());
    Clock::suspend(Duration::from_nanos(1));
    assert!(!guard.is_valid());
    assert!(poll!(lost.as_mut()).is_pending());
    assert_lapsed(&lost.await);
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_reported_lost_at_once_after_a_sleep_beyond_the_ttl() {
    let (masters, redlock) = five_and_client().await;
    for awake in [0, 1, 249, 250, 251, 1_000, 9_000] {
        let guard = held(&redlock).await;
        sleep(awake * MS).await;
        Clock::suspend(TTL + MS);
        assert!(!guard.is_valid(), "in the first moment after {awake} ms and a sleep");
        assert_eq!(holders(&masters), [0; 0], "the masters did not sleep");
        let woken = tokio::time::Instant::now();
        assert_lapsed(&guard.lost().await);
        assert!(woken.elapsed() <= LATE, "notified after {:?}", woken.elapsed());
        assert_lapsed(&not_extended(&guard).await);
        // Locks that others hold by now stay theirs.
        let next = held(&redlock).await;
        assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
        settle().await;
        assert_eq!(holders(&masters), [0, 1, 2, 3, 4]);
        next.release().await.unwrap();
        settle().await;
        assert_no_keys(&masters, "after the release");
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_slept_less_than_that_still_holds_the_lock() {
    let (_masters, redlock) = five_and_client().await;
    let began = now();
    let guard = held(&redlock).await;
    for _ in 0..3 {
        Clock::suspend(VALIDITY / 2);
        assert!(guard.is_valid());
        guard.extend().await.unwrap();
        assert_eq!(guard.remaining(), VALIDITY);
    }
    let extended = now();
    assert_eq!(guard.lost().await.held_for, extended.after(VALIDITY).since(began));
    assert_eq!(now(), extended.after(VALIDITY));
}

#[tokio::test(start_paused = true)]
async fn an_extension_wins_1_ms_before_the_deadline_and_is_lost_at_it() {
    let (masters, redlock) = five_and_client().await;
    let slow = 100 * MS;
    for (before, wins) in [(slow + MS, true), (slow, false), (slow / 2, false)] {
        masters.iter().for_each(|master| master.set_latency(Duration::ZERO));
        let began = now();
        let guard = held(&redlock).await;
        masters.iter().for_each(|master| master.set_latency(slow));
        sleep(guard.remaining() - before).await;
        let (asked, deadline) = (now(), guard.deadline());
        if wins {
            assert!(guard.extend().await.unwrap() > deadline);
            assert_eq!(now(), asked.after(slow));
            assert_eq!(guard.remaining(), VALIDITY - slow, "from the first byte on");
            let loss = guard.lost().await;
            assert_eq!(now(), asked.after(VALIDITY));
            assert_eq!(loss.held_for, asked.after(VALIDITY).since(began));
        } else {
            let ((loss, lost_at), refused) =
                tokio::join!(async { (guard.lost().await, now()) }, not_extended(&guard));
            assert_lapsed(&loss);
            assert_eq!(lost_at, began.after(VALIDITY), "no task waits for the answers");
            assert_lapsed(&refused);
            assert_eq!(holders(&masters), [0, 1, 2, 3, 4], "the masters did extend it");
            assert!(!guard.is_valid() && guard.deadline() == deadline);
        }
        assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
        sleep(SECOND).await;
        assert_no_keys(&masters, "after the release");
    }
}

/// The machine has counted a quorum before the deadline. The holder looks after the deadline, and
/// before the driver has moved it.
#[tokio::test(start_paused = true)]
async fn an_extension_won_after_the_holder_saw_the_lapse_is_lost() {
    let masters = five();
    let tap = Tap::default();
    let redlock = connect(tap.builder(&masters)).await;
    let guard = held(&redlock).await;
    let (lease, deadline, left) = (guard.lease(), guard.deadline(), guard.remaining());
    let seen = Arc::new(Mutex::new(None));
    tap.after(3, {
        let seen = seen.clone();
        move || {
            Clock::suspend(left);
            *seen.lock().unwrap() = Some(lease.is_valid());
        }
    });
    assert_lapsed(&not_extended(&guard).await);
    assert_eq!(*seen.lock().unwrap(), Some(false), "the holder looked, and saw the loss");
    assert_eq!(guard.deadline(), deadline);
    assert!(!guard.is_valid(), "once false, always false");
    assert_lapsed(&guard.lost().await);
    assert_lapsed(&not_extended(&guard).await);
    assert_eq!(holders(&masters), [0, 1, 2, 3, 4], "the masters did extend it");
    assert_eq!(guard.release().await.unwrap_err().reason, LossReason::Lapsed);
    settle().await;
    assert_no_keys(&masters, "after the release");
}

/// The same race the other way round: the holder has not looked, so the extension counts.
#[tokio::test(start_paused = true)]
async fn a_timely_extension_moves_a_deadline_that_passed_unseen() {
    let masters = five();
    let tap = Tap::default();
    let redlock = connect(tap.builder(&masters)).await;
    let guard = held(&redlock).await;
    let left = guard.remaining();
    tap.after(3, move || Clock::suspend(left));
    guard.extend().await.unwrap();
    assert_eq!(guard.remaining(), VALIDITY - left);
}

#[tokio::test(start_paused = true)]
async fn a_win_not_picked_up_in_time_leaves_no_lock_despite_a_delay() {
    let (masters, redlock) = five_and_client().await;
    for looked_at in [true, false] {
        let acquire = redlock.acquire(KEY).ttl(TTL).lock_delay(TTL);
        let mut acquire = Box::pin(acquire.into_future());
        assert!(poll!(acquire.as_mut()).is_pending());
        sleep(VALIDITY + LATE).await;
        assert_eq!(holders(&masters).len(), 0, "released: no caller has relied on it");
        if looked_at {
            assert!(acquire.await.is_err());
        } else {
            drop(acquire);
        }
        settle().await;
        assert_eq!(holders(&masters).len(), 0, "looked at: {looked_at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_with_a_clock_gets_the_deadline_and_none_once_it_is_lost() {
    let (_masters, redlock) = five_and_client().await;
    let (wall, apart) = (|| Clock::tokio().wall(), 30 * MS);
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    let first = wall() + guard.remaining();
    for passed in [Duration::ZERO, MS, SECOND] {
        sleep(passed).await;
        assert_eq!(guard.not_after(Duration::ZERO).unwrap(), first, "the same, whenever asked");
        assert_eq!(guard.not_after(apart).unwrap(), first - apart);
    }
    guard.extend().await.unwrap();
    let extended = wall() + guard.remaining();
    assert_eq!(guard.lease().not_after(apart).unwrap(), extended - apart);
    assert!(extended > first, "an extension moves it");
    sleep(guard.remaining() - MS).await;
    assert_eq!(guard.not_after(Duration::ZERO).unwrap(), wall() + MS);
    assert!(guard.not_after(apart).unwrap() < wall(), "less than that is left");
    assert_lapsed_as(&guard, &guard.lost().await);
    let released = redlock.acquire(KEY).await.unwrap();
    let lease = released.lease();
    released.release().await.unwrap();
    assert_eq!(lease.not_after(apart).unwrap_err().reason, LossReason::Released);
}

/// Asserts that a store gets no time from the guard of a lock that has lapsed.
fn assert_lapsed_as(guard: &Guard, lost: &Lost) {
    assert_eq!(lost.reason, LossReason::Lapsed);
    assert_eq!(guard.not_after(Duration::ZERO).unwrap_err().held_for, lost.held_for);
}
