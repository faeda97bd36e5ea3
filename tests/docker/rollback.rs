//! Masters in containers are away when a lock is given up. When they return, the debts to them are
//! paid, long before the keys would expire by themselves.

use crate::support::docker::{Containers, Fault, Profile, tell};
use crate::support::prelude::*;
use crate::support::seed::{Rng, Seed};
use futures::future::join_all;
use quorumlock::Redlock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Longer than everything that is waited for here, so that no key expires.
const TTL: Duration = Duration::from_secs(30);
/// Time for masters that have returned to be redialled and to receive the debts.
const SOON: Duration = Duration::from_secs(10);
/// The masters that are away: a quorum, so that nothing can be won in the meantime.
const AWAY: std::ops::Range<usize> = 0..3;

/// Acquires one resource after another until it has to stop. Gives each up before it is won, while
/// holding it, or in an extension. Returns how many acquires were begun.
async fn begin_and_give_up(redlock: Redlock, task: u32, mut rng: Rng, stop: &AtomicBool) -> u32 {
    let mut begun = 0;
    while !stop.load(SeqCst) {
        begun += 1;
        let acquire = redlock.try_acquire(format!("r:{task}:{begun}")).into_future();
        match tokio::time::timeout(rng.duration(MS / 10..15 * MS), acquire).await {
            Err(_dropped_on_its_way) => {}
            Ok(Err(error)) => assert!(error.is_no_quorum(), "{error}"),
            Ok(Ok(guard)) if rng.chance(50) => {
                let _cut_short = tokio::time::timeout(MS, guard.extend()).await;
            }
            Ok(Ok(guard)) => drop(guard),
        }
        tokio::time::sleep(rng.duration(MS / 10..5 * MS)).await;
    }
    begun
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollback_reaches_every_master_that_was_away() {
    let Some(masters) = Containers::start(Profile::Durable).await else { return };
    let masters = Arc::new(masters);
    let mut rng = Seed::from_env("QUORUMLOCK_DOCKER_SEED").rng();
    let redlock = masters.builder().ttl(TTL).connect().await.unwrap();

    for fault in Fault::ALL {
        let held =
            join_all((0..20).map(|n| redlock.try_acquire(format!("held:{n}")).into_future()));
        let held: Vec<_> = held.await.into_iter().map(Result::unwrap).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let tasks = (0..8).map(|task| {
            let (redlock, rng, stop) = (redlock.clone(), rng.fork(), stop.clone());
            tokio::spawn(async move { begin_and_give_up(redlock, task, rng, &stop).await })
        });
        let tasks: Vec<_> = tasks.collect();
        let on_all = |action: fn(&Containers, Fault, usize)| {
            let masters = masters.clone();
            tokio::task::spawn_blocking(move || {
                masters.at_once(AWAY, |node| action(&masters, fault, node))
            })
        };
        on_all(Containers::strike).await.unwrap();
        // Extended and released while too few masters can answer.
        let unextended = join_all(held.iter().map(|guard| guard.extend())).await;
        assert!(unextended.iter().all(Result::is_err), "{fault:?}: two of five extended a lock");
        let unconfirmed = join_all(held.into_iter().map(|guard| guard.release())).await;
        stop.store(true, SeqCst);
        let begun: u32 = join_all(tasks).await.into_iter().map(Result::unwrap).sum();

        on_all(Containers::heal).await.unwrap();
        let healed = Instant::now();
        let mut found = masters.count_keys().await;
        let at_first = found;
        while found > 0 && healed.elapsed() < SOON {
            tokio::time::sleep(20 * MS).await;
            found = masters.count_keys().await;
        }
        tell(&format!(
            "{fault:?}: {} releases and {begun} acquires given up; {at_first} keys when three \
             masters had returned, orphans {found} after {:.1?}",
            unconfirmed.len(),
            healed.elapsed(),
        ));
        assert_eq!(found, 0, "{fault:?}: {:?}", masters.keys().await);
        assert!(begun > 50, "no load");
    }
    redlock.shutdown().await.unwrap();
}
