//! Two coordinators, eight tasks and one unprotected counter, while masters in containers are
//! killed, paused, cut off and restarted under them, three of five at a time at worst.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use futures::future::join_all;
use quorumlock::Redlock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use support::counter::Counter;
use support::docker::{Containers, Fault, Profile, tell};
use support::seed::{Rng, Seed};

const TTL: Duration = Duration::from_secs(2);
const TROUBLE: Duration = Duration::from_secs(8);
/// The load goes on after the last fault until every master has been redialled.
const CALM: Duration = Duration::from_secs(2);
const MS: Duration = Duration::from_millis(1);

/// What befell the masters.
type Struck = BTreeMap<Fault, u32>;

/// Strikes and heals masters until `until`, and heals the rest. A killed master stays away for
/// `memory` at least.
fn trouble(masters: &Containers, memory: Duration, mut rng: Rng, until: Instant) -> Struck {
    let mut away: BTreeMap<usize, (Fault, Instant)> = BTreeMap::new();
    let mut struck = Struck::new();
    let mut faults = Fault::ALL.iter().cycle();
    while Instant::now() < until {
        let due = away.iter().find(|(_, (_, back))| *back <= Instant::now());
        if let Some((&node, &(fault, _))) = due {
            masters.heal(fault, node);
            away.remove(&node);
        }
        // A third one is an outage: nobody may win, and rollbacks are owed to three.
        let node = rng.within(0..masters.len() as u64) as usize;
        let most = if rng.chance(15) { 3 } else { 2 };
        if away.len() < most && !away.contains_key(&node) {
            let fault = *faults.next().unwrap();
            masters.strike(fault, node);
            *struck.entry(fault).or_default() += 1;
            let least = if fault == Fault::Killed { memory } else { Duration::ZERO };
            let back = Instant::now() + least + rng.duration(50 * MS..900 * MS);
            away.insert(node, (fault, back));
        }
        std::thread::sleep(rng.duration(10 * MS..150 * MS));
    }
    for (node, (fault, back)) in away {
        std::thread::sleep(back.saturating_duration_since(Instant::now()));
        masters.heal(fault, node);
    }
    struck
}

async fn nobody_overlaps_and_nothing_is_lost(profile: Profile, memory: Duration) {
    let Some(masters) = Containers::start(profile).await else { return };
    let mut rng = Seed::from_env_or_random("QUORUMLOCK_DOCKER_SEED").rng();
    let (masters, counter) = (Arc::new(masters), Arc::new(Counter::default()));
    let mut coordinators = Vec::new();
    for _ in 0..2 {
        let builder = Redlock::builder().nodes(masters.urls()).ttl(TTL).max_ttl(TTL);
        coordinators.push(builder.connect().await.unwrap());
    }

    let began = Instant::now();
    let struck = tokio::task::spawn_blocking({
        let (masters, rng) = (masters.clone(), rng.fork());
        move || trouble(&masters, memory, rng, began + TROUBLE)
    });
    // Long enough for the last killed master to return and be redialled.
    let until = began + TROUBLE + memory + CALM;
    let tasks = coordinators.iter().flat_map(|redlock| [redlock; 4]).map(|redlock| {
        let (redlock, counter, rng) = (redlock.clone(), counter.clone(), rng.fork());
        tokio::spawn(async move { counter.work(&redlock, rng, until).await })
    });
    let ended = join_all(tasks.collect::<Vec<_>>()).await;
    ended.into_iter().for_each(|task| task.unwrap());
    let struck = struck.await.unwrap();
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
    assert!(increments > 100 && extended > 10 && cancelled > 10, "no load");
}

/// A master that restarts empty has forgotten the locks that it granted, and may grant them again.
/// The guard against that does not exist yet, so the test does by hand what an operator would: the
/// master stays away until every lock it may have granted has expired, a ttl after its death.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn masters_that_return_empty_after_a_ttl_break_nothing() {
    nobody_overlaps_and_nothing_is_lost(Profile::Volatile, TTL + 100 * MS).await;
}

/// A master that forgets nothing may return at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn masters_that_return_with_their_keys_break_nothing_at_once() {
    nobody_overlaps_and_nothing_is_lost(Profile::Durable, Duration::ZERO).await;
}
