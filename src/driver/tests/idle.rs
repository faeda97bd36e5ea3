//! An idle driver, and what it remembers of the past.

use super::*;
use crate::RestartGuard;
use crate::embedded::{Master, Memory};
use crate::failure::LossReason;
use futures::future::join_all;
use tokio::time::timeout;

/// Earliest heartbeat: ten seconds, give or take a fifth.
const FIRST_HEARTBEAT: Duration = Duration::from_secs(8);

/// Returns how often the driver is polled in `span`.
async fn polls_within(span: Duration, driver: &Observed) -> usize {
    let before = driver.polls();
    sleep(span).await;
    driver.polls() - before
}

#[tokio::test(start_paused = true)]
async fn an_idle_driver_sleeps_until_the_next_heartbeat() {
    let masters = five();
    let (_redlock, driver) = Observed::connect(masters.builder()).await;
    // One timer may be left from the handshake.
    assert!(polls_within(CONNECT_TIMEOUT + MS, &driver).await <= 5);
    assert_eq!(polls_within(FIRST_HEARTBEAT - SECOND, &driver).await, 0);
    // From then on, for each master: a timer, an answer, and the timer that would have missed it.
    let hour = polls_within(3600 * SECOND, &driver).await;
    assert!((3600 / 12 * 5..=3600 / 8 * 5 * 3).contains(&hour), "{hour} polls");
}

#[tokio::test(start_paused = true)]
async fn a_driver_reads_the_clock_four_times_a_second_during_a_hold() {
    let masters = five();
    let (redlock, driver) = Observed::connect(masters.builder()).await;
    let guard = redlock.acquire(KEY).ttl(TTL).await.unwrap();
    settle().await;
    let held = polls_within(5 * SECOND, &driver).await;
    assert!((19..=22).contains(&held), "{held} polls");
    guard.release().await.unwrap();
    let after = polls_within(SECOND, &driver).await;
    assert!(after <= 2, "{after} polls");
}

/// However long its guard is kept, or forever if the guard is leaked.
#[tokio::test(start_paused = true)]
async fn a_lost_lock_is_not_watched_and_only_its_attempt_is_kept() {
    let masters = five();
    let (redlock, driver) =
        Observed::connect(masters.builder().restart_guard(RestartGuard::Off)).await;
    let lapsed = redlock.acquire(KEY).ttl(2 * SECOND).await.unwrap();
    lapsed.lost().await;
    let after = polls_within(4 * SECOND, &driver).await;
    assert!(after <= 2, "{after} polls for a lock that has lapsed");
    assert_eq!(driver.remembered(), 1);
    assert_eq!(not_extended(&lapsed).await.reason, LossReason::Lapsed);
    let gone = redlock.acquire(KEY).await.unwrap();
    settle().await;
    masters.iter().for_each(|master| drop(master.restart(Memory::Lost)));
    // Those that can be spared are dialled last.
    sleep(3 * SECOND).await;
    let lost = not_extended(&gone).await;
    assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
    assert_eq!(gone.check().unwrap_err(), lost);
    assert_eq!(driver.remembered(), 2);
    assert_eq!(gone.release().await, Err(lost));
    drop(lapsed);
    settle().await;
    assert_eq!(driver.remembered(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_driver_without_masters_only_dials_every_two_seconds() {
    let masters = five();
    masters.iter().for_each(Master::kill);
    let (_redlock, driver) = Observed::connect(masters.builder()).await;
    sleep(10 * SECOND).await;
    let minute = polls_within(60 * SECOND, &driver).await;
    // Two seconds, give or take a fifth; a timer and an answer for each dial.
    assert!((60 * 5 * 10 / 24..=60 * 5 * 10 / 16 * 3).contains(&minute), "{minute} polls");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_remembered_of_callers_that_have_finished() {
    let masters = five();
    let (redlock, driver) = Observed::connect(masters.builder()).await;
    let caller = async |n: u32| {
        let resource = format!("r:{}", n % 40);
        let patience = MS * (n * 7 % 400);
        let acquire = redlock.acquire(resource).ttl(SECOND).timeout(MS * (n * 13 % 500));
        let Ok(Ok(guard)) = timeout(patience, acquire.into_future()).await else { return false };
        let _extended_or_dropped = timeout(MS * (n % 3), guard.extend()).await;
        sleep(MS * (n * 11 % 100)).await;
        match n % 4 {
            0 => drop(guard),
            1 => guard.forget(),
            2 => drop(timeout(MS * (n % 5), guard.release()).await),
            // It expires first.
            _ => drop((guard.lost().await, guard.extend().await, guard.release().await)),
        }
        true
    };
    for fault in [None, Some(Master::kill as fn(&Master)), Some(Master::pause)] {
        masters.iter().for_each(|master| master.set_latency(2 * MS));
        fault.inspect(|strike| masters[..2].iter().for_each(strike));
        let held = join_all((0..150).map(caller)).await.into_iter().filter(|held| *held).count();
        assert!(held > 20, "{held} of 150 held a lock");
        for master in &masters[..2] {
            master.restart(Memory::Kept).unwrap();
        }
        sleep(5 * SECOND).await;
        assert_eq!(driver.remembered(), 0);
        assert_no_keys(&masters, "after all clients have gone");
    }
}
