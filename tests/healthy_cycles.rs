//! On healthy masters every lock is set on all of them, not on a bare quorum, and removed from all.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use futures::future::join_all;
use futures::poll;
use quorumlock::{Redlock, Released};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::masters::Masters;
use support::poll::eventually;
use support::seed::Seed;
use support::witness;
use tokio::task::yield_now;

const GRACE: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(10);

async fn five() -> (Masters, Redlock) {
    let masters = Masters::start(5);
    // Nothing here is about timeouts, and the machine may be busy.
    let patient = masters.builder().operation_timeout(Duration::from_millis(900));
    let redlock = patient.connect().await.unwrap();
    (masters, redlock)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_three_thousand_locks_stands_on_all_masters_and_goes_from_all() {
    const TASKS: usize = 16;
    const CYCLES: usize = 185;
    const SAMPLES: usize = 40;
    let (masters, redlock) = five().await;
    let tasks = (0..TASKS).map(|task| {
        let redlock = redlock.clone();
        tokio::spawn(async move {
            let resource = format!("r{task}");
            for _ in 0..CYCLES {
                let guard = redlock.acquire(resource.as_str()).await.unwrap();
                assert_eq!(guard.release().await, Released::Released);
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    for _ in 0..SAMPLES {
        let guard = redlock.acquire("sample").await.unwrap();
        let everywhere = async || witness::holders(&masters, "sample").await == [0, 1, 2, 3, 4];
        eventually("every master holds it", SOON, everywhere).await;
        assert_eq!(guard.release().await, Released::Released);
    }
    for ended in join_all(tasks).await {
        ended.unwrap();
    }
    witness::eventually_no_keys(&masters, GRACE).await;
    let count = (TASKS * CYCLES + SAMPLES) as u64;
    // A release deletes only keys that it finds: as many deletions as locks, on each master.
    for master in masters.iter() {
        let calls = witness::calls(master).await;
        let ours = (calls["set"], witness::releases(&calls), witness::deletions(&calls));
        assert_eq!(ours, (count, count, count), "on {}", master.addr());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_cancels_among_sixty_four_busy_tasks_leave_nothing() {
    let mut rng = Seed::from_env("QUORUMLOCK_SEED_CANCELS").rng();
    let (masters, redlock) = five().await;
    let done = Arc::new(AtomicBool::new(false));
    let busy = (0..64).map(|task| {
        let (redlock, done) = (redlock.clone(), done.clone());
        tokio::spawn(async move {
            let resource = format!("busy{task}");
            let mut cycles = 0;
            while !done.load(Ordering::Relaxed) {
                redlock.try_acquire(resource.as_str()).await.unwrap().release().await;
                cycles += 1;
            }
            cycles
        })
    });
    let busy: Vec<_> = busy.collect();
    let cancelling = (0..8).map(|task| {
        let (redlock, mut rng) = (redlock.clone(), rng.fork());
        tokio::spawn(async move {
            let mut cancelled = 0;
            for round in 0.. {
                let acquire = redlock.acquire(format!("cancelled{task}:{round}"));
                let mut acquire = Box::pin(acquire.into_future());
                let mut pending = poll!(acquire.as_mut()).is_pending();
                for _ in 0..rng.within(0..20) {
                    yield_now().await;
                    pending = pending && poll!(acquire.as_mut()).is_pending();
                }
                cancelled += usize::from(pending);
                if cancelled == 125 {
                    break;
                }
            }
        })
    });
    for ended in join_all(cancelling).await {
        ended.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for cycles in join_all(busy).await {
        assert!(cycles.unwrap() > 0, "each busy task has had its turn");
    }
    witness::eventually_no_keys(&masters, GRACE).await;
}
