//! Inside a tokio runtime: calls work where a thread may block and are refused where tasks run, and
//! none hangs.

use super::*;
use quorumlock::{
    AcquireError, ConnectError, PreflightError, ReadyError, ReentrantError, Released, RunError,
    WrongContext,
};
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
    let guard = redlock.acquire("r").wait().unwrap();
    guard.extend().wait().unwrap();
    assert_eq!(guard.release().wait(), Ok(Released::Confirmed));
    assert_eq!(redlock.acquire("r").run(async |_| 7).wait().unwrap(), 7);
    redlock.reentrant().acquire("r").wait().unwrap().release().wait().unwrap();
    redlock.inspect("r").wait().unwrap();
    redlock.preflight().wait().unwrap();
    redlock.shutdown().wait().unwrap();
}

#[test]
fn a_blocking_thread_may_wait_on_every_flavor_of_runtime() {
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

fn assert_refused(refused: &WrongContext, expected: &str) {
    assert!(matches!(refused, WrongContext::AsyncCode { call, .. } if *call == expected));
    let text = refused.to_string();
    assert!(text.starts_with(&format!("{expected} would block")), "{text}");
    assert!(text.contains("spawn_blocking"), "{text}");
}

/// Checks every call that waits, in async code.
fn is_refused(masters: &Masters, redlock: &Redlock, guard: &Guard) {
    let Err(ConnectError::WrongContext(refused)) = patient(masters).connect().wait() else {
        panic!("connected in async code")
    };
    assert_refused(&refused, "wait()");
    let Err(PreflightError::WrongContext(refused)) = patient(masters).preflight().wait() else {
        panic!("asked in async code")
    };
    assert_refused(&refused, "wait()");
    for acquire in [redlock.acquire("r"), redlock.try_acquire("r").keep_alive()] {
        let Err(AcquireError::WrongContext(refused)) = acquire.clone().wait() else {
            panic!("acquired in async code")
        };
        assert_refused(&refused, "wait()");
        let ran = acquire.run(async |_| -> () { panic!("a body in async code") }).wait();
        assert!(matches!(ran, Err(RunError::NotAcquired(AcquireError::WrongContext(_)))));
    }
    let Err(ReentrantError::NotAcquired(AcquireError::WrongContext(refused))) =
        redlock.reentrant().acquire("r").wait()
    else {
        panic!("acquired in async code")
    };
    assert_refused(&refused, "wait()");
    assert!(redlock.inspect("r").wait().is_err());
    let Err(ReadyError::WrongContext(refused)) = redlock.wait_until_ready(SOON).wait() else {
        panic!("waited in async code")
    };
    assert_refused(&refused, "wait()");
    assert!(redlock.status().wait().unwrap().can_acquire(), "that does not wait for anybody");
    assert_refused(&redlock.preflight().wait().unwrap_err(), "wait()");
    assert_refused(&guard.lost().wait().unwrap_err(), "wait()");
    assert_refused(&guard.wanted().wait().unwrap_err(), "wait()");
    let refused = guard.lease().lost().wait_within(SOON).unwrap().unwrap_err();
    assert_refused(&refused, "wait_within()");
    guard.check().unwrap();
}

#[test]
fn async_code_is_refused_a_wait_but_can_extend_and_release() {
    let (masters, redlock) = three();
    for runtime in [single(), several()] {
        let (held, other) = (redlock.acquire("r").wait().unwrap(), redlock.clone());
        runtime.block_on(async {
            is_refused(&masters, &other, &held);
            held.extend().wait().unwrap();
            assert_eq!(held.release().wait(), Ok(Released::Confirmed));
        });
        let (held, other) = (redlock.acquire("r").wait().unwrap(), redlock.clone());
        runtime.block_on(async {
            // From another task, on a worker thread if there are any.
            let released = tokio::spawn(async move {
                let refused = other.acquire("r").wait();
                (refused.is_err(), held.release().wait())
            });
            assert_eq!(released.await.unwrap(), (true, Ok(Released::Confirmed)));
            drop(redlock.clone());
        });
    }
    single().block_on(async { redlock.shutdown().wait() }).unwrap();
    assert_nothing_stays(&masters);
}

/// The holder is a task of the very thread that would block, so it would wait forever.
#[test]
fn a_single_threaded_runtime_never_deadlocks_on_its_own_task() {
    let (masters, redlock) = three();
    single().block_on(async {
        let theirs = masters.builder().ttl(TTL).connect().await.unwrap();
        let (entered, has_entered) = tokio::sync::oneshot::channel();
        let (go_on, may_go_on) = tokio::sync::oneshot::channel();
        let holder = tokio::spawn(async move {
            let guard = theirs.acquire("r").keep_alive().await.unwrap();
            entered.send(()).unwrap();
            may_go_on.await.unwrap();
            guard.release().await
        });
        has_entered.await.unwrap();
        let refused = redlock.acquire("r").timeout(Duration::MAX).wait().unwrap_err();
        assert!(matches!(refused, AcquireError::WrongContext(_)), "{refused}");
        go_on.send(()).unwrap();
        assert_eq!(holder.await.unwrap(), Ok(Released::Confirmed));

        // The same, from a thread that may block.
        let guard = spawn_blocking(move || redlock.acquire("r").timeout(Duration::MAX).wait());
        guard.await.unwrap().unwrap().release().wait().unwrap();
    });
}
