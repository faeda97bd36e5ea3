//! A body run under the lock: the lock is released on every way out, and the body's result is never
//! hidden.

use super::*;
use quorumlock::RunError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

#[test]
fn a_bodys_result_comes_back_and_the_lock_was_kept_meanwhile() {
    let (masters, redlock) = three();
    let ttl = Duration::from_millis(1_500);
    let kept = redlock
        .acquire("r")
        .ttl(ttl)
        .run(async |lease| {
            thread::sleep(ttl + ttl / 4);
            lease.check().unwrap();
            redlock.try_acquire("r").wait().unwrap_err().is_contended()
        })
        .wait();
    assert!(kept.unwrap());
    let failed = redlock.acquire("r").run(async |_| Err::<(), _>("the body's own")).wait();
    assert_eq!(failed.unwrap(), Err("the body's own"));
    assert_nothing_stays(&masters);
}

#[test]
fn the_lease_of_a_fenced_body_has_its_token() {
    let (_masters, redlock) = three();
    let first =
        redlock.acquire("r").fenced().run(async |lease| lease.fencing_token()).wait().unwrap();
    let second =
        redlock.acquire("r").fenced().run(async |lease| lease.fencing_token()).wait().unwrap();
    assert!(second > first);
}

#[test]
fn a_body_that_panics_releases_and_its_panic_goes_on() {
    let (masters, redlock) = three();
    let run = || redlock.acquire("r").run(async |_| -> () { panic!("on purpose") }).wait();
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
    redlock.acquire("r").wait().unwrap().release().wait().unwrap();
    assert_nothing_stays(&masters);
}

#[test]
fn a_loss_before_the_body_returns_is_reported_with_its_result() {
    let (masters, redlock) = three();
    let ttl = Duration::from_secs(1);
    let late = redlock
        .acquire("r")
        .ttl(ttl)
        .run(async |lease| {
            masters.kill(0);
            masters.kill(1);
            lease.lost().wait().unwrap();
            7
        })
        .wait();
    assert!(matches!(late, Err(RunError::Lost { result: Some(7), .. })), "{late:?}");
}

#[test]
fn a_body_is_not_run_without_the_lock() {
    let (_masters, redlock) = three();
    let held = redlock.acquire("r").keep_alive().wait().unwrap();
    let refused =
        redlock.try_acquire("r").run(async |_| -> () { panic!("run without the lock") }).wait();
    assert!(matches!(refused, Err(RunError::NotAcquired(error)) if error.is_contended()));
    held.release().wait().unwrap();
}
