//! The end of holds and clients, and its notifications.

use super::*;
use quorumlock::AcquireError;
use quorumlock::error::LossReason;
use std::thread;
use std::time::Instant;

#[test]
fn a_thread_that_waits_for_the_loss_is_notified_at_the_deadline() {
    let (_masters, redlock) = three();
    let ttl = Duration::from_secs(1);
    let guard = redlock.acquire("r").ttl(ttl).wait().unwrap();
    let due = Instant::now() + guard.remaining();
    let watching = thread::spawn({
        let lease = guard.lease();
        move || (lease.lost().wait().unwrap(), Instant::now())
    });
    let (lost, noticed) = watching.join().unwrap();
    assert_eq!(lost.reason, LossReason::Lapsed);
    assert!(noticed + Duration::from_millis(1) >= due, "notified before it was due");
    assert!(noticed < due + SOON, "notified {:?} late", noticed - due);
    assert!(!guard.is_valid());
    assert_eq!(guard.lost().wait_within(Duration::ZERO), Some(Ok(lost)));
}

#[test]
fn a_bounded_wait_for_the_loss_ends_while_the_lock_is_held() {
    let (_masters, redlock) = three();
    let guard = redlock.acquire("r").keep_alive().wait().unwrap();
    let (span, began) = (Duration::from_millis(100), Instant::now());
    assert_eq!(guard.lost().wait_within(span), None);
    assert_eq!(guard.wanted().wait_within(Duration::ZERO), None);
    assert!(began.elapsed() >= span && guard.is_valid());
}

#[test]
fn to_drop_a_guard_does_not_wait_for_masters_that_hang() {
    let (masters, redlock) = three();
    // A release would wait three seconds here, a tenth of the ttl.
    let guard = redlock.acquire("r").wait().unwrap();
    masters.iter().for_each(Server::stop);
    let began = Instant::now();
    drop(guard);
    assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
    masters.iter().for_each(Server::cont);
    assert_nothing_stays(&masters);
}

#[test]
fn a_shutdown_settles_debts_closes_waiters_and_informs_holders() {
    let (masters, redlock) = three();
    let guard = redlock.acquire("held").keep_alive().wait().unwrap();
    drop(redlock.acquire("owed").wait().unwrap());
    let waiting = thread::spawn({
        let redlock = redlock.clone();
        move || redlock.acquire("held").timeout(Duration::MAX).wait()
    });
    let watching = thread::spawn({
        let lease = guard.lease();
        move || lease.lost().wait().unwrap()
    });
    redlock.shutdown().wait().unwrap();
    assert!(matches!(waiting.join().unwrap(), Err(AcquireError::Closed(_))));
    assert_eq!(watching.join().unwrap().reason, LossReason::Closed);
    let left = look(witness::holders(&masters, "owed"));
    assert_eq!(left, [0; 0], "the owed release was not made");
    assert!(matches!(redlock.acquire("r").wait(), Err(AcquireError::Closed(_))));
    assert_eq!(guard.release().wait().unwrap_err().reason, LossReason::Closed);
    redlock.shutdown().wait().unwrap();
}
