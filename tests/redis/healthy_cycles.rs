//! On healthy masters every lock is set on all of them, not on a bare quorum, and removed from all.

use crate::support::prelude::*;
use crate::support::seed::Seed;
use futures::future::join_all;
use futures::poll;
use quorumlock::Released;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::yield_now;

const GRACE: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_thousand_locks_are_set_and_deleted_on_every_master() {
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
                assert_eq!(guard.release().await, Ok(Released::Confirmed));
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    for _ in 0..SAMPLES {
        let guard = redlock.acquire("sample").await.unwrap();
        let everywhere = async || witness::holders(&masters, "sample").await == [0, 1, 2, 3, 4];
        eventually("every master holds it", SOON, everywhere).await;
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
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
                redlock.try_acquire(resource.as_str()).await.unwrap().release().await.unwrap();
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
