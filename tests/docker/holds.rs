//! Masters in containers die while a lock is extended: it is kept, or its loss is reported
//! correctly.

use crate::support::docker::{Containers, Profile, tell};
use crate::support::prelude::*;
use quorumlock::error::LossReason;
use quorumlock::{ExtendError, Guard, Lease};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Docker takes seconds to kill on a busy machine, and containers stand still for a while.
const TTL: Duration = Duration::from_secs(6);
/// Time for masters that have returned to be redialled.
const SOON: Duration = Duration::from_secs(5);
/// Longest delay of a loss notification on a busy machine.
const LATE: Duration = Duration::from_millis(500);

/// Watches until the lease is no longer valid. Returns the last instant before a look at which it
/// was still valid.
fn watch(lease: Lease) -> JoinHandle<Instant> {
    tokio::spawn(async move {
        let mut last = Instant::now();
        loop {
            let asked = Instant::now();
            if !lease.is_valid() {
                return last;
            }
            last = asked;
            tokio::time::sleep(MS).await;
        }
    })
}

/// Returns an instant no earlier than the guard's deadline, on the clock of this test.
fn deadline(guard: &Guard) -> Instant {
    let left = guard.remaining();
    Instant::now() + left
}

/// Extends for as long as `killing` takes, and a little longer. Returns the deadline of the last
/// extension that was won, or of the acquisition, and how many were won and how many not.
async fn extend_during<T>(guard: &Guard, killing: JoinHandle<T>) -> (Instant, u32, u32) {
    let (mut until, mut won, mut not_won, mut after) = (deadline(guard), 0, 0, 0);
    while after < 3 {
        after += u32::from(killing.is_finished());
        let asked = Instant::now();
        match guard.extend().await {
            Ok(_) => {
                won += 1;
                until = deadline(guard);
                assert!(until <= Instant::now() + TTL, "a ttl from the answer at most");
                assert!(until >= asked + TTL / 2, "a full ttl from the round, less the drift");
            }
            Err(ExtendError::Unextended(_)) => not_won += 1,
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(5 * MS).await;
    }
    killing.await.expect("the masters are killed");
    (until, won, not_won)
}

/// The masters lose their memory when they die, and the guard against early returns is off: they
/// are restarted when every lock that they may have granted has expired.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_extended_while_masters_die_is_kept_or_lost_on_time() {
    let Some(masters) = Containers::start(Profile::Volatile).await else { return };
    let masters = Arc::new(masters);
    let connect = || masters.builder().ttl(TTL).max_ttl(TTL).connect();
    let (redlock, rival) = (connect().await.unwrap(), connect().await.unwrap());
    let guard = redlock.acquire("r").await.unwrap();
    let watched = watch(guard.lease());
    let kill = |node| {
        let masters = masters.clone();
        tokio::task::spawn_blocking(move || masters.kill(node))
    };

    for node in 0..2 {
        let (_, won, not_won) = extend_during(&guard, kill(node)).await;
        guard.extend().await.expect("a minority of the masters is dead");
        assert!(rival.try_acquire("r").await.unwrap_err().is_contended());
        tell(&format!("{} killed: {won} extensions won, {not_won} not; kept", node + 1));
    }

    let (until, won, not_won) = extend_during(&guard, kill(2)).await;
    let dead_since = Instant::now();
    assert!(won > 0 && not_won > 0, "two of five extended a lock");
    assert!(guard.is_valid(), "a failed extension takes nothing away");
    let lost = guard.lost().await;
    let noticed = Instant::now();
    assert_eq!(lost.reason, LossReason::Lapsed, "{lost}");
    let last_valid = watched.await.unwrap();
    assert!(last_valid < until, "valid {:?} too long", last_valid - until);
    assert!(noticed < until + LATE, "noticed {:?} late", noticed - until);
    assert!(rival.try_acquire("r").await.unwrap_err().is_no_quorum());
    tell(&format!(
        "3 killed: {won} extensions won, {not_won} not; lost, noticed {:.1?} after the deadline, \
         last called valid {:.1?} before it",
        noticed.saturating_duration_since(until),
        until - last_valid,
    ));

    tokio::time::sleep((dead_since + TTL).saturating_duration_since(Instant::now())).await;
    masters.at_once(0..3, |node| masters.restart(node));
    let next = rival.acquire("r").await.expect("the masters are back");
    assert!(next.is_valid() && !guard.is_valid());
    drop(guard);
    // A container may answer too late.
    let released = next.release().await;
    assert!(released.is_ok(), "{released:?}");
    eventually("no key is left", SOON, async || masters.count_keys().await == 0).await;
}
