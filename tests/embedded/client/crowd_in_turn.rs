//! What a hand-over costs the masters where a crowd waits in turn, each waiter with connections of its own, as if
//! it were a process.

use super::prelude::*;
use super::rolling_restart::stand;
use crate::support::docker::tell;
use futures::future::join_all;
use quorumlock::Redlock;
use redis::cmd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const MASTERS: usize = 5;
const HOLD: Duration = Duration::from_millis(2);

/// The sections that are counted.
const SECTIONS: usize = 60;

/// What one section costs all masters.
#[derive(Debug)]
struct Cost {
    /// Without the looks that waiters make once a second.
    scripts: f64,
    /// With those that scripts call.
    sets: f64,
    /// The most listeners on the channel of the key, at one master.
    listeners: usize,
}

/// Lets so many clients take turns, each of which asks again at once, and counts.
async fn turns_of(waiters: usize) -> Cost {
    let masters = Masters::start(MASTERS);
    masters.iter().for_each(|master| master.set_latency(MS));
    let connect = |_| masters.builder().operation_timeout(900 * MS).connect();
    let mut clients = join_all((0..=waiters).map(connect)).await.into_iter().map(Result::unwrap);
    let first = clients.next().unwrap();
    let guard = first.acquire("r").fair().ttl(LONG).await.unwrap();
    let (over, sections) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let take_turns = |client: Redlock| {
        let (over, sections) = (over.clone(), sections.clone());
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let guard = client.acquire("r").fair().no_timeout().await.unwrap();
                tokio::time::sleep(HOLD).await;
                guard.release().await.unwrap();
                sections.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let taking: Vec<_> = clients.map(take_turns).collect();
    stand(&masters, waiters).await;
    guard.release().await.unwrap();

    let done = || sections.load(Ordering::Relaxed);
    let counted = async || {
        let calls = join_all(masters.iter().map(witness::calls)).await;
        let count = |name: &str| -> u64 { calls.iter().filter_map(|of| of.get(name)).sum() };
        (Instant::now(), done(), count("eval") + count("evalsha"), count("set"))
    };
    eventually("each has had a turn", 12 * SOON, async || done() >= waiters).await;
    let before = counted().await;
    eventually("they take turns", 12 * SOON, async || done() >= waiters + SECTIONS).await;
    let after = counted().await;
    let numsub = cmd("PUBSUB").arg("NUMSUB").arg("quorumlock:free:0:r").to_owned();
    let listeners = join_all(masters.iter().map(|server| witness::ask(server, &numsub))).await;
    let listeners =
        listeners.into_iter().map(|answer: Result<(String, usize), _>| answer.unwrap().1);
    let listeners = listeners.max().unwrap();
    over.store(true, Ordering::Relaxed);
    join_all(taking).await.into_iter().for_each(Result::unwrap);

    let each = 1.0 / (after.1 - before.1) as f64;
    let looks = after.0.duration_since(before.0).as_secs_f64() * (waiters * MASTERS) as f64;
    let (scripts, sets) = ((after.2 - before.2) as f64, (after.3 - before.3) as f64);
    Cost { scripts: (scripts - looks) * each, sets: sets * each, listeners }
}

#[tokio::test(start_paused = true)]
async fn a_turn_costs_the_same_where_fifty_wait_as_where_three_do() {
    let (few, many) = (turns_of(3).await, turns_of(50).await);
    tell(&format!("three: {few:?}\nfifty: {many:?}"));
    assert!(many.scripts <= 1.1 * few.scripts && many.scripts <= 28.5, "{many:?}, {few:?}");
    // A first attempt of five, five that are granted and five that are kept.
    assert!(many.sets <= 17.0, "{many:?}");
    // The first waiter listens there after a while; the others hear only of the release that calls them.
    assert!(many.listeners <= 2, "{many:?}");
}
