//! More locks asked for at once than masters answer in time: locks that are held stay held, the rest is served in
//! order, and what could not begin says so. In virtual time.

use futures::future::join_all;
use quorumlock::embedded::Masters;
use quorumlock::{AcquireError, Guard, Redlock};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const MS: Duration = Duration::from_millis(1);

/// More than a client has open at first.
const COUNT: usize = 3_000;

/// Starts five masters that answer after these times.
async fn five(latencies: [u32; 5]) -> (Masters, Redlock) {
    let masters = Masters::start_in_virtual_time(5).unwrap();
    masters.iter().zip(latencies).for_each(|(master, latency)| master.set_latency(MS * latency));
    let redlock = masters.builder().connect().await.unwrap();
    (masters, redlock)
}

/// Asks for so many locks at once, each of which is given back at once. Returns how many were served, and when.
async fn burst(redlock: &Redlock, count: usize) -> (usize, Duration) {
    let began = Instant::now();
    let acquire = |number| async move { redlock.acquire(format!("r{number}")).await.is_ok() };
    let served = join_all((0..count).map(acquire)).await;
    (served.into_iter().filter(|served| *served).count(), began.elapsed())
}

async fn kept(redlock: &Redlock) -> Guard {
    redlock.acquire("kept").ttl(3_000 * MS).keep_alive().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_served_and_costs_no_lock_that_is_held_however_slow_masters_are() {
    for latencies in [[1; 5], [50; 5], [50, 1, 1, 1, 1], [300, 1, 1, 1, 1], [1, 1, 1, 300, 150]] {
        let (_masters, redlock) = five(latencies).await;
        let kept = kept(&redlock).await;
        let (served, took) = burst(&redlock, COUNT).await;
        assert!(served == COUNT && took < 1_000 * MS, "{latencies:?}: {served} in {took:?}");
        sleep(4_000 * MS).await;
        assert!(kept.is_valid(), "{latencies:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn masters_that_stop_under_a_burst_cost_no_lock_that_is_held_while_a_quorum_answers() {
    for stopped in [1, 2] {
        let (masters, redlock) = five([5; 5]).await;
        let kept = kept(&redlock).await;
        let stop = async {
            sleep(7 * MS).await;
            masters.iter().take(stopped).for_each(|master| master.pause());
        };
        let ((served, took), ()) = tokio::join!(burst(&redlock, COUNT), stop);
        assert!(served == COUNT && took < 2_000 * MS, "{served} in {took:?}");
        sleep(4_000 * MS).await;
        assert!(kept.is_valid());
    }
}

#[tokio::test(start_paused = true)]
async fn an_acquire_that_could_not_begin_says_that_this_client_had_too_many() {
    let (_masters, redlock) = five([150; 5]).await;
    let many = burst(&redlock, COUNT);
    let late = async {
        sleep(MS).await;
        redlock.acquire("late").timeout(100 * MS).await
    };
    let (_, late) = tokio::join!(many, late);
    let error = late.unwrap_err();
    assert!(!error.is_contended() && !error.is_no_quorum() && error.nodes().is_empty());
    let AcquireError::Overloaded(overloaded) = &error else { panic!("{error}") };
    assert_eq!((&*overloaded.resource, overloaded.waited), ("late", 100 * MS));
    assert_eq!(
        error.to_string(),
        "\"late\" was not asked for (after 100 ms): this client asks for more locks at once than its masters \
         answer in time: ask for fewer, or wait longer"
    );
}

#[tokio::test(start_paused = true)]
async fn a_single_attempt_waits_for_a_round_trip_more_than_without_a_burst() {
    let (_masters, redlock) = five([10; 5]).await;
    let many = burst(&redlock, 20_000);
    let alone = async {
        sleep(30 * MS).await;
        let began = Instant::now();
        (redlock.try_acquire("alone").await.is_ok(), began.elapsed())
    };
    let ((served, _), (is_won, took)) = tokio::join!(many, alone);
    assert_eq!((served, is_won), (20_000, true));
    assert!(took <= 50 * MS, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_held_is_extended_and_released_at_once_under_a_burst() {
    let (_masters, redlock) = five([10; 5]).await;
    let held = redlock.acquire("held").await.unwrap();
    let many = burst(&redlock, 20_000);
    let own = async {
        sleep(MS).await;
        let began = Instant::now();
        held.extend().await.unwrap();
        let extended = began.elapsed();
        held.release().await.unwrap();
        (extended, began.elapsed() - extended)
    };
    let (_, (extended, released)) = tokio::join!(many, own);
    assert!(extended <= 25 * MS && released <= 25 * MS, "{extended:?} {released:?}");
}
