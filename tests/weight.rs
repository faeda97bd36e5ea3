//! The memory that a held lock and a waiting task take, and a check that nothing of it is left when
//! they have gone. Bounds are three times what was measured. It has a binary of its own, since its
//! allocator counts the bytes of the whole process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use futures::future::join_all;
use quorumlock::{Guard, Redlock, Released};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::time::Duration;
use support::masters::Masters;
use support::witness;
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinHandle;

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MANY: i64 = 10_000;

/// Longer than a test takes on a busy machine.
const TTL: Duration = Duration::from_secs(600);

/// Time for a master to answer a hundred at once, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes for each held lock, including its guard.
const HELD: i64 = 3 * 395;

/// Bytes for each waiter, including its task.
const WAITING: i64 = 3 * 610;

/// Bytes for each entry that tables keep once they have been as large as this many need.
const TABLES: i64 = 3 * 100;

/// Bytes that a turn may add to what the one before it has left: less than a token for each.
const LEAK: i64 = 32 * MANY;

/// Tables grow for a few turns on a busy machine, where more of the load is under way at a time; a leak grows in each.
const TURNS: usize = 8;

/// Locks out other tests: bytes are counted for the whole process, so tests run one after another.
async fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::const_new(());
    TURN.lock().await
}

async fn connect(masters: &Masters) -> Redlock {
    let builder = masters.builder().max_ttl(TTL).ttl(TTL).operation_timeout(PATIENCE);
    builder.connect().await.expect("five masters")
}

/// Returns the live bytes once they no longer change.
async fn live() -> i64 {
    let mut latest = 0_i64;
    for _ in 0..240 {
        let counted = HEAP.stats();
        let now = counted.bytes_allocated as i64 - counted.bytes_deallocated as i64;
        if now.abs_diff(latest) < 1_000 {
            return now;
        }
        latest = now;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("no rest after two minutes, and {latest} bytes");
}

/// Returns what is left, once it is less than this: on a busy machine, rollbacks may pause for longer than a look.
async fn left_of(first: i64, kept: i64) -> i64 {
    let mut left = live().await - first;
    for _ in 0..4 {
        if left < kept {
            break;
        }
        left = live().await - first;
    }
    left
}

/// Weighs until a turn adds nothing to what is left: what one leaves is room for the next, and what each adds is a leak.
async fn weigh<T>(
    most: i64,
    kept: i64,
    mut begin: impl AsyncFnMut() -> T,
    mut end: impl AsyncFnMut(T),
) {
    let first = live().await;
    let mut left = vec![0];
    for turn in 0..TURNS {
        let before = live().await;
        let load = begin().await;
        let each = (live().await - before) / MANY;
        end(load).await;
        left.push(left_of(first, kept * MANY).await);
        eprintln!("turn {turn}: {each} bytes each, {} left of all", left[turn + 1]);
        // Less than a token each would mean that nothing was weighed.
        assert!((32..most).contains(&each), "{each} bytes each");
        assert!(left[turn + 1] < kept * MANY, "{left:?} bytes left");
        if left[turn + 1] - left[turn] < LEAK {
            return;
        }
    }
    panic!("{left:?} bytes left, more in each turn");
}

async fn hold(redlock: &Redlock) -> Vec<Guard> {
    let mut held = Vec::new();
    for some in 0..MANY / 100 {
        let locks = (0..100).map(|lock| redlock.try_acquire(format!("r{some}:{lock}")));
        let locks = join_all(locks.map(IntoFuture::into_future)).await;
        held.extend(locks.into_iter().map(|lock| lock.expect("a lock that no other task wants")));
    }
    held.shrink_to_fit();
    held
}

async fn release(mut held: Vec<Guard>) {
    while !held.is_empty() {
        let some = held.split_off(held.len().saturating_sub(100));
        let released = join_all(some.into_iter().map(Guard::release)).await;
        assert!(released.iter().all(|result| *result == Ok(Released::Confirmed)), "{released:?}");
    }
}

/// Starts tasks that wait for these resources, in turn.
async fn wait(redlock: &Redlock, resources: &[String]) -> Vec<JoinHandle<()>> {
    let waiters = (0..MANY).zip(resources.iter().cycle());
    let wait = |(_, resource): (i64, &String)| {
        let acquire = redlock.acquire(resource.as_str()).timeout(Duration::MAX);
        tokio::spawn(async move { drop(acquire.await) })
    };
    waiters.map(wait).collect()
}

async fn cancel(waiters: Vec<JoinHandle<()>>) {
    waiters.iter().for_each(JoinHandle::abort);
    for waiter in waiters {
        let ended = waiter.await;
        assert!(ended.is_err_and(|error| error.is_cancelled()), "a task that did not wait");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_locks_weigh_little_and_leave_nothing() {
    let _turn = alone().await;
    let masters = Masters::start(5);
    let redlock = connect(&masters).await;
    weigh(HELD, TABLES, async || hold(&redlock).await, release).await;
    redlock.shutdown().await.expect("all releases confirmed");
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiters_behind_a_local_holder_weigh_little_and_leave_nothing() {
    let _turn = alone().await;
    let masters = Masters::start(5);
    let redlock = connect(&masters).await;
    let guard = redlock.try_acquire("r").await.expect("a free lock");
    let resources = ["r".to_owned()];
    weigh(WAITING, TABLES, async || wait(&redlock, &resources).await, cancel).await;
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    redlock.shutdown().await.expect("all releases confirmed");
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiters_behind_another_client_weigh_little_and_leave_nothing() {
    let _turn = alone().await;
    let masters = Masters::start(5);
    let other = connect(&masters).await;
    let resources: Vec<String> = (0..100).map(|number| format!("r{number}")).collect();
    let held = resources.iter().map(|name| other.try_acquire(name.as_str()).into_future());
    let held: Vec<_> = join_all(held).await.into_iter().map(Result::unwrap).collect();
    let redlock = connect(&masters).await;
    weigh(WAITING, TABLES, async || wait(&redlock, &resources).await, cancel).await;
    release(held).await;
    redlock.shutdown().await.expect("all rollbacks confirmed");
    other.shutdown().await.expect("all releases confirmed");
    witness::assert_no_keys_now(&masters).await;
}

async fn boxes() -> Vec<Box<[u8; 64]>> {
    (0..MANY).map(|_| Box::new([0; 64])).collect()
}

#[tokio::test]
#[should_panic(expected = "bytes left")]
async fn what_is_never_given_back_is_found() {
    let _turn = alone().await;
    weigh(3 * 72, 1_000, boxes, async |boxes| boxes.into_iter().for_each(std::mem::forget)).await;
}

#[tokio::test]
#[should_panic(expected = "72 bytes each")]
async fn what_weighs_too_much_is_found() {
    let _turn = alone().await;
    weigh(72, TABLES, boxes, async |boxes| drop(boxes)).await;
}
