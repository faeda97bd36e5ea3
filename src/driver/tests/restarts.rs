//! State that must outlast a restart and a long life: how long an empty master does not vote, and
//! the notes of a client at its masters.

use super::*;
use crate::RestartGuard;
use crate::embedded::Memory;
use crate::failure::ConnectError;

const SHORT: Duration = Duration::from_secs(2);

/// Makes five masters report that they have been up for a day.
fn patient(masters: &Masters) -> RedlockBuilder {
    masters.builder().ttl(SHORT).max_ttl(10 * SHORT)
}

/// A call may have any ttl up to `max_ttl`, whatever the builder's ttl is.
#[tokio::test(start_paused = true)]
async fn a_master_restarted_empty_waits_out_the_longest_ttl_of_a_call() {
    let masters = five();
    let (ours, theirs) = (connect(patient(&masters)).await, connect(patient(&masters)).await);
    let held = ours.acquire(KEY).ttl(10 * SHORT).await.unwrap();
    settle().await;
    for master in &masters[..3] {
        master.kill();
        master.restart(Memory::Lost).unwrap();
    }
    let waiting = theirs.acquire(KEY).timeout(30 * SHORT).await.unwrap();
    assert!(!held.is_valid(), "{waiting:?} beside {held:?}");
}

/// Each heartbeat prolongs the notes: there is no moment at which they have lapsed.
#[tokio::test(start_paused = true)]
async fn what_a_client_has_noted_stands_for_as_long_as_it_lives() {
    let masters = five();
    let first = connect(patient(&masters)).await;
    let other = || masters.builder().ttl(SHORT).max_ttl(5 * SHORT).connect_on(Clock::tokio());
    for _ in 0..150 {
        sleep(SECOND).await;
        let refused = other().await;
        assert!(matches!(refused, Err(ConnectError::Disagreement(_))), "{refused:?}");
    }
    first.acquire(KEY).await.unwrap().release().await.unwrap();
    drop(first);
    sleep(60 * SECOND).await;
    assert!(other().await.is_ok(), "once it is gone, others may go by what they like");
}

/// Redials are spread over two seconds as long as the others are a quorum, and no longer.
#[tokio::test(start_paused = true)]
async fn masters_that_are_back_are_reached_at_once_when_another_is_lost() {
    const LATENCY: Duration = Duration::from_millis(5);
    for round in 0..50 {
        let masters = five();
        masters.iter().for_each(|master| master.set_latency(LATENCY));
        let redlock = connect(masters.builder().restart_guard(RestartGuard::Off)).await;
        for master in &masters[..2] {
            master.kill();
            master.restart(Memory::Lost).unwrap();
        }
        sleep(60 * MS + round * 10 * MS).await;
        masters[2].kill();
        let began = now();
        let guard = redlock.acquire(KEY).timeout(9 * SECOND).await.unwrap();
        let took = now().since(began);
        assert!(took <= 3 * 2 * LATENCY + MS, "round {round}: {took:?}");
        drop(guard);
    }
}
