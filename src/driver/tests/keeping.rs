//! The keep-alive at work: to the millisecond, through a sleep of the machine, and at its end.

use super::*;
use crate::failure::LossReason;

#[tokio::test(start_paused = true)]
async fn a_lock_kept_alive_for_a_span_ends_with_it_to_the_millisecond() {
    let (masters, redlock) = five_and_client().await;
    let (began, most) = (now(), 60 * SECOND);
    let guard = redlock.acquire(KEY).ttl(TTL).keep_alive_for(most).await.unwrap();
    sleep(most - 2 * MS).await;
    assert!(guard.is_valid());
    let lost = guard.lost().await;
    assert_eq!((now(), lost.held_for), (began.after(most), most));
    assert_eq!(lost.reason, LossReason::Lapsed);
    drop(guard);
    settle().await;
    assert_no_keys(&masters, "after the end");
}

/// The keep-alive was due while the machine slept, before the deadline: it must not run afterwards.
#[tokio::test(start_paused = true)]
async fn a_keeper_that_slept_through_the_deadline_extends_nothing() {
    let (masters, redlock) = five_and_client().await;
    for awake in [1, 249, 3_000, 3_333, 3_334, 5_000, 20_000] {
        let guard = redlock.acquire(KEY).ttl(TTL).keep_alive().await.unwrap();
        sleep(awake * MS).await;
        let asked = masters[0].time_to_live(KEY).unwrap();
        let slept = guard.remaining();
        Clock::suspend(slept);
        assert!(!guard.is_valid());
        let woken = now();
        let lost = guard.lost().await;
        assert_eq!(lost.reason, LossReason::Lapsed);
        settle().await;
        let expected = asked.checked_sub(slept + now().since(woken));
        assert_eq!(masters[0].time_to_live(KEY), expected, "no life was prolonged");
        drop(guard);
        settle().await;
        assert_no_keys(&masters, &format!("slept after {awake} ms"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_keeper_ends_with_its_guard_also_while_it_extends() {
    let masters = five();
    let (redlock, driver) = Observed::connect(masters.builder()).await;
    masters.iter().for_each(|master| master.set_latency(5 * MS));
    let third = TTL / 3;
    for held in [MS, third - MS, third, third + MS, third + 4 * MS, third + 9 * MS, 3 * TTL] {
        let guard = redlock.acquire(KEY).ttl(TTL).keep_alive().await.unwrap();
        sleep(held).await;
        assert!(guard.is_valid());
        drop(guard);
        sleep(OPERATION_TIMEOUT).await;
        assert_no_keys(&masters, &format!("held for {held:?}"));
        assert_eq!(driver.remembered(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_with_an_end_is_not_extended_beyond_it_by_hand() {
    let (masters, redlock) = five_and_client().await;
    let most = 15 * SECOND;
    let guard = redlock.acquire(KEY).ttl(TTL).keep_alive_for(most).await.unwrap();
    let mut deadlines = Vec::new();
    for _ in 0..20 {
        deadlines.extend(guard.extend().await);
        sleep(SECOND).await;
    }
    assert_eq!(guard.lost().await.held_for, most);
    assert_eq!(deadlines.len(), 15, "none is extended once it is over");
    assert_eq!(deadlines.iter().max(), deadlines.last());
    assert!(deadlines[6..].iter().all(|at| at == &deadlines[6]), "{deadlines:?}");
    drop(guard);
    settle().await;
    assert_no_keys(&masters, "after the end");
}

/// A script that a top-up misses is loaded again for the next round, like one that a vote misses.
#[tokio::test(start_paused = true)]
async fn a_lock_of_several_is_topped_up_where_scripts_were_flushed() {
    let (masters, redlock) = five_and_client().await;
    let guard = redlock.acquire_all([KEY, "another"]).ttl(TTL).keep_alive().await.unwrap();
    settle().await;
    assert_eq!(holders(&masters), [0, 1, 2, 3, 4]);
    operate(&masters[0], &["SCRIPT", "FLUSH"]).await;
    operate(&masters[0], &["DEL", KEY, "another"]).await;
    sleep(2 * TTL).await;
    assert_eq!(holders(&masters), [0, 1, 2, 3, 4], "six extensions later");
    guard.release().await.unwrap();
    settle().await;
    assert_no_keys(&masters, "after the release");
}

/// As `CLIENT PAUSE`, `DEBUG SLEEP` and SIGSTOP do it.
#[tokio::test(start_paused = true)]
async fn masters_that_stop_for_less_than_the_ttl_cost_neither_the_kept_lock_nor_the_next() {
    let (masters, redlock) = five_and_client().await;
    for stopped in [3, 5] {
        for _ in 0..3 {
            let guard = redlock.acquire(KEY).ttl(TTL).keep_alive().await.unwrap();
            sleep(2 * SECOND).await;
            masters[..stopped].iter().for_each(Master::pause);
            sleep(6 * SECOND).await;
            masters[..stopped].iter().for_each(Master::resume);
            sleep(3 * TTL).await;
            assert!(guard.is_valid(), "{stopped} stopped");
            guard.release().await.unwrap();
        }
    }
}
