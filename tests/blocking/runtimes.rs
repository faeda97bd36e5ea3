//! Inside a tokio runtime: calls work where a thread may block and are refused where tasks run, and
//! none hangs.

use super::*;
use quorumlock::error::{Invalid, ReadyError};
use quorumlock::{AcquireError, ConnectError, OwnerError, Released, RunError};
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{block_in_place, spawn_blocking};

fn single() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn several() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Connects, works under locks, shuts down.
fn work(masters: &Masters) {
    let redlock = connect(masters);
    let guard = redlock.acquire("r").lock().unwrap();
    guard.extend().unwrap();
    assert_eq!(guard.release(), Released::Released);
    assert_eq!(redlock.acquire("r").run(|_| 7).unwrap(), 7);
    redlock.owner().acquire("r").unwrap().release();
    redlock.inspect("r").unwrap();
    redlock.preflight().unwrap();
    redlock.shutdown().unwrap();
}

#[test]
fn a_thread_for_blocking_work_may_wait_on_every_flavor_of_runtime() {
    let masters = Arc::new(Masters::start(3));
    for runtime in [single(), several()] {
        let theirs = masters.clone();
        runtime.block_on(async { spawn_blocking(move || work(&theirs)).await.unwrap() });
        let entered = runtime.enter();
        work(&masters);
        drop(entered);
    }
}

#[test]
fn a_task_that_gives_its_worker_away_may_wait() {
    let masters = Masters::start(3);
    several().block_on(async { block_in_place(|| work(&masters)) });
}

fn assert_refused(invalid: &Invalid, call: &str) {
    assert_eq!(invalid.field, "thread");
    assert!(invalid.problem.starts_with(&format!("{call} would block")), "{invalid}");
    assert!(invalid.problem.contains("spawn_blocking"), "{invalid}");
}

/// Checks every call that waits, in async code.
fn is_refused(masters: &Masters, redlock: &Redlock, guard: &Guard) {
    let Err(ConnectError::Invalid(refused)) = patient(masters).connect_blocking() else {
        panic!("connected in async code")
    };
    assert_refused(&refused, "connect_blocking()");
    assert_refused(&patient(masters).preflight_blocking().unwrap_err(), "preflight_blocking()");
    for acquire in [redlock.acquire("r"), redlock.try_acquire("r").keep_alive()] {
        let Err(AcquireError::Invalid(refused)) = acquire.clone().lock() else {
            panic!("locked in async code")
        };
        assert_refused(&refused, "lock()");
        let ran = acquire.run(|_| -> () { panic!("a body in async code") });
        assert!(matches!(ran, Err(RunError::NotAcquired(AcquireError::Invalid(_)))));
    }
    let owner = redlock.owner();
    for refused in [owner.acquire("r"), owner.acquire_with(redlock.acquire("r"))] {
        let invalid = matches!(refused, Err(OwnerError::NotAcquired(AcquireError::Invalid(_))));
        assert!(invalid, "{refused:?}");
    }
    assert!(redlock.inspect("r").is_err());
    let Err(ReadyError::Invalid(refused)) = redlock.wait_until_ready(SOON) else {
        panic!("waited in async code")
    };
    assert_refused(&refused, "wait_until_ready()");
    assert!(redlock.status().unwrap().can_acquire(), "that does not wait for anybody");
    assert_refused(&redlock.preflight().unwrap_err(), "preflight()");
    assert_refused(&guard.lost().unwrap_err(), "lost()");
    assert_refused(&guard.lease().lost_within(SOON).unwrap_err(), "lost_within()");
    guard.check().unwrap();
}

#[test]
fn async_code_is_told_that_it_must_not_wait_and_can_end_what_it_was_given() {
    let (masters, redlock) = three();
    for runtime in [single(), several()] {
        let (held, other) = (redlock.acquire("r").lock().unwrap(), redlock.clone());
        runtime.block_on(async {
            is_refused(&masters, &other, &held);
            held.extend().unwrap();
            assert_eq!(held.release(), Released::Released);
        });
        let (held, other) = (redlock.acquire("r").lock().unwrap(), redlock.clone());
        runtime.block_on(async {
            // From another task, on a worker thread if there are any.
            let released = tokio::spawn(async move {
                let refused = other.acquire("r").lock();
                (refused.is_err(), held.release())
            });
            assert_eq!(released.await.unwrap(), (true, Released::Released));
            drop(redlock.clone());
        });
    }
    single().block_on(async { redlock.shutdown() }).unwrap();
    assert_nothing_stays(&masters);
}

/// The holder is a task of the very thread that would block, so it would wait forever.
#[test]
fn a_runtime_whose_only_thread_asks_for_what_its_own_task_holds_goes_on() {
    let (masters, redlock) = three();
    single().block_on(async {
        let theirs = patient(&masters).connect().await.unwrap();
        let (entered, has_entered) = tokio::sync::oneshot::channel();
        let (go_on, may_go_on) = tokio::sync::oneshot::channel();
        let holder = tokio::spawn(async move {
            let guard = theirs.acquire("r").keep_alive().await.unwrap();
            entered.send(()).unwrap();
            may_go_on.await.unwrap();
            guard.release().await
        });
        has_entered.await.unwrap();
        let refused = redlock.acquire("r").wait_forever().lock().unwrap_err();
        assert!(matches!(refused, AcquireError::Invalid(_)), "{refused}");
        go_on.send(()).unwrap();
        assert_eq!(holder.await.unwrap(), Released::Released);

        // The same, from a thread that may block.
        let guard = spawn_blocking(move || redlock.acquire("r").wait_forever().lock());
        guard.await.unwrap().unwrap().release();
    });
}
