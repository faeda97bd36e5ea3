//! What a hand-over costs the masters where fifty clients wait, each with connections of its own, as if it were
//! a process.

use super::prelude::*;
use crate::support::docker::tell;
use futures::future::join_all;
use quorumlock::Redlock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const MASTERS: usize = 5;
const WAITERS: usize = 50;
const PERMITS: usize = 5;
const HOLD: Duration = Duration::from_millis(2);

/// The sections that are counted.
const SECTIONS: usize = 100;

/// Each waiter asks all masters so often, whatever it hears.
const PROBES_PER_SECOND: f64 = 4.0;

/// What one section costs all masters, without what waiters send because time passes.
#[derive(Debug)]
struct Cost {
    sets: f64,
    scripts: f64,
    /// How often a waiter asks for how long a key is held: for a permit, the key of each slot.
    looks: f64,
}

/// Lets the clients contend, each of which asks again at once, and counts.
async fn cost_of<F: Future<Output = ()> + Send>(
    waitlist: bool,
    section: impl Fn(Redlock) -> F + Copy + Send + 'static,
) -> Cost {
    let masters = Masters::start(MASTERS);
    for master in masters.iter() {
        master.set_latency(MS);
        if !waitlist {
            master.deny(&["zadd"]).unwrap();
        }
    }
    let connect = |_| masters.builder().operation_timeout(900 * MS).connect();
    let clients = join_all((0..WAITERS).map(connect)).await.into_iter().map(Result::unwrap);
    let (over, sections) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let contending: Vec<_> = clients
        .map(|client| {
            let (over, sections) = (over.clone(), sections.clone());
            tokio::spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    section(client.clone()).await;
                    sections.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let done = || sections.load(Ordering::Relaxed);
    let counted = async || {
        let calls = join_all(masters.iter().map(witness::calls)).await;
        let count = |name: &str| -> u64 { calls.iter().filter_map(|of| of.get(name)).sum() };
        (Instant::now(), done(), [count("set"), count("eval") + count("evalsha"), count("pttl")])
    };
    eventually("they contend", 12 * SOON, async || done() >= WAITERS).await;
    let before = counted().await;
    eventually("they go on", 12 * SOON, async || done() >= before.1 + SECTIONS).await;
    let after = counted().await;
    over.store(true, Ordering::Relaxed);
    join_all(contending).await.into_iter().for_each(Result::unwrap);

    let each = 1.0 / (after.1 - before.1) as f64;
    let seconds = after.0.duration_since(before.0).as_secs_f64();
    let polls = if waitlist { 0.0 } else { PROBES_PER_SECOND };
    let probes = seconds * polls * (WAITERS * MASTERS) as f64;
    let [sets, scripts, looks] = [0, 1, 2].map(|at| (after.2[at] - before.2[at]) as f64);
    tell(&format!("{} sections in {seconds:.2} s", after.1 - before.1));
    Cost { sets: (sets - probes) * each, scripts: scripts * each, looks: looks * each }
}

/// Works for a moment under the lock.
async fn locked(client: Redlock) {
    let guard = client.acquire("r").timeout(Duration::MAX).await.unwrap();
    tokio::time::sleep(HOLD).await;
    guard.release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_release_has_each_of_fifty_ask_one_master_once() {
    let cost = cost_of(false, locked).await;
    tell(&format!("{cost:?}"));
    // 58, 13 and 4. A rollback for each SET that is refused would be 57 more.
    let most = 1.3 * WAITERS as f64;
    assert!(cost.sets <= most && cost.scripts <= 17.0 && cost.looks <= 5.0, "{cost:?}");
}

#[tokio::test(start_paused = true)]
async fn a_release_calls_one_of_fifty_in_a_waitlist() {
    let cost = cost_of(true, locked).await;
    tell(&format!("{cost:?}"));
    // A SET and a release at each master; a call, a question when it waits, and one in case of a lost call.
    assert!(cost.sets <= 6.0 && cost.scripts <= 10.0 && cost.looks <= 5.0, "{cost:?}");
}

/// The same in order.
async fn locked_fairly(client: Redlock) {
    let guard = client.acquire("r").fair(true).timeout(Duration::MAX).await.unwrap();
    tokio::time::sleep(HOLD).await;
    guard.release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_release_calls_the_first_of_fifty_that_are_fair() {
    let cost = cost_of(true, locked_fairly).await;
    tell(&format!("{cost:?}"));
    assert!(cost.sets <= 6.0 && cost.scripts <= 10.0 && cost.looks <= 5.0, "{cost:?}");
}

/// Works for a moment with a permit.
async fn permitted(client: Redlock) {
    let permit = client.semaphore("s", PERMITS).acquire().timeout(Duration::MAX).await.unwrap();
    tokio::time::sleep(HOLD).await;
    permit.release().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_released_permit_calls_one_of_fifty_in_a_waitlist() {
    let cost = cost_of(true, permitted).await;
    tell(&format!("{cost:?}"));
    // As for a lock; each question is for the lives of all slots.
    let looks = 4.0 * PERMITS as f64;
    assert!(cost.sets <= 6.0 && cost.scripts <= 10.0 && cost.looks <= looks, "{cost:?}");
}

#[tokio::test(start_paused = true)]
async fn a_released_permit_has_each_of_fifty_look_at_the_slots_twice_at_most() {
    let cost = cost_of(false, permitted).await;
    tell(&format!("{cost:?}"));
    // 51, 20 and 157.
    let waiters = WAITERS as f64;
    let looks = 2.0 * waiters * PERMITS as f64;
    assert!(cost.sets <= 1.5 * waiters && cost.scripts <= 35.0 && cost.looks <= looks, "{cost:?}");
}
