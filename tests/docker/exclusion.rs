//! Two coordinators, eight tasks and one unprotected counter, while masters in containers are
//! killed, paused, cut off and restarted under them: at worst three of five at a time.

use crate::support::counter::Counter;
use crate::support::docker::{Containers, Fault, Profile, tell};
use crate::support::prelude::*;
use crate::support::seed::{Rng, Seed};
use futures::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const TTL: Duration = Duration::from_secs(2);
const TROUBLE: Duration = Duration::from_secs(6);
/// Time for which the load goes on after the last fault, so that every master has been redialled.
const CALM: Duration = Duration::from_secs(3);

/// Number of faults of the masters, by kind.
type Struck = BTreeMap<Fault, u32>;

/// Three hands inflict and heal faults until `until`, each one at a time: two or three of five
/// masters are away at most moments, and no more. A killed master stays away for at least `memory`.
fn trouble(masters: &Containers, memory: Duration, mut rng: Rng, until: Instant) -> Struck {
    let (away, struck) = (Mutex::new(BTreeSet::new()), Mutex::new(Struck::new()));
    std::thread::scope(|scope| {
        for hand in 0..3 {
            let (away, struck, mut rng) = (&away, &struck, rng.fork());
            let mut faults = Fault::ALL.into_iter().cycle().skip(hand);
            scope.spawn(move || {
                while Instant::now() < until {
                    let node = rng.within(0..masters.len() as u64) as usize;
                    if !away.lock().unwrap().insert(node) {
                        continue;
                    }
                    let fault = faults.next().unwrap();
                    masters.strike(fault, node);
                    *struck.lock().unwrap().entry(fault).or_default() += 1;
                    let least = if fault == Fault::Killed { memory } else { Duration::ZERO };
                    std::thread::sleep(least + rng.duration(20 * MS..600 * MS));
                    masters.heal(fault, node);
                    away.lock().unwrap().remove(&node);
                    // Now and then, the third hand turns this into an outage.
                    let pause = if hand == 2 { 500 * MS..1_500 * MS } else { 20 * MS..150 * MS };
                    std::thread::sleep(rng.duration(pause));
                }
            });
        }
    });
    struck.into_inner().unwrap()
}

async fn no_holders_overlap_and_nothing_is_lost(profile: Profile, memory: Duration) {
    let Some(masters) = Containers::start(profile).await else { return };
    let mut rng = Seed::from_env("QUORUMLOCK_DOCKER_SEED").rng();
    let (masters, counter) = (Arc::new(masters), Arc::new(Counter::default()));
    let mut coordinators = Vec::new();
    for _ in 0..2 {
        let builder = masters.builder().ttl(TTL).max_ttl(TTL);
        coordinators.push(builder.connect().await.unwrap());
    }

    let began = Instant::now();
    let struck = tokio::task::spawn_blocking({
        let (masters, rng) = (masters.clone(), rng.fork());
        move || trouble(&masters, memory, rng, began + TROUBLE)
    });
    let calm = Arc::new(AtomicBool::new(false));
    let tasks = coordinators.iter().flat_map(|redlock| [redlock; 4]).map(|redlock| {
        let (redlock, counter, rng) = (redlock.clone(), counter.clone(), rng.fork());
        let calm = calm.clone();
        tokio::spawn(async move { counter.work(&redlock, rng, &calm).await })
    });
    let tasks: Vec<_> = tasks.collect();
    let struck = struck.await.unwrap();
    tokio::time::sleep(CALM).await;
    calm.store(true, SeqCst);
    join_all(tasks).await.into_iter().for_each(|task| task.unwrap());
    for redlock in coordinators {
        redlock.shutdown().await.expect("every rollback and release is confirmed");
    }
    let orphans = masters.count_keys().await;

    let increments = counter.increments();
    let (overlaps, lost) = (counter.overlaps.load(SeqCst), counter.lost());
    let [extended, unextended, cancelled, refused] =
        [&counter.extended, &counter.unextended, &counter.cancelled, &counter.refused]
            .map(|count| count.load(SeqCst));
    tell(&format!(
        "{profile:?}, {:.1?}: {increments} increments, {extended} extensions ({unextended} not \
         won), {cancelled} acquires dropped, {refused} refused; masters {struck:?}; \
         overlaps {overlaps}, lost increments {lost}, orphans {orphans}",
        began.elapsed(),
    ));
    assert_eq!((overlaps, lost, orphans), (0, 0, 0));
    assert!(struck.len() == Fault::ALL.len(), "no trouble: {struck:?}");
    assert!(increments > 50 && extended > 10 && cancelled > 10, "no load");
}

/// A master that restarts empty has forgotten the locks that it granted, and may grant them again.
/// The restart guard would outlast this test. Without it, the operator has to keep the master away
/// until every lock it may have granted has expired, a ttl after its death.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn masters_that_return_empty_after_a_ttl_break_nothing() {
    no_holders_overlap_and_nothing_is_lost(Profile::Volatile, TTL + 100 * MS).await;
}

/// A master that forgets nothing may return at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn masters_that_return_with_their_keys_break_nothing_at_once() {
    no_holders_overlap_and_nothing_is_lost(Profile::Durable, Duration::ZERO).await;
}
