//! The restart guard uses a master's uptime, which depends on the master's clock.

use super::world::{HOUR, LONG, MS, SOON, connect, set};
use crate::restart_guard::warming;
use crate::support::prelude::*;
use quorumlock::{FencingWindow, Redlock, RedlockBuilder};
use std::time::{Duration, Instant};

/// Longest time between two heartbeats: at each, the master reports its uptime again.
const HEARTBEAT: Duration = Duration::from_secs(13);

/// Configures a client with the guard on: it lasts for the longest ttl, and its drift.
fn guarded(masters: &Masters, max_ttl: Duration) -> RedlockBuilder {
    let builder = Redlock::builder().nodes(masters.urls()).ttl(max_ttl).max_ttl(max_ttl);
    builder.fencing_window(FencingWindow { back: 500 * MS, ahead: 500 * MS })
}

async fn refused_as_young(redlock: &Redlock) -> Vec<Duration> {
    match redlock.try_acquire("r").await {
        Ok(_) => Vec::new(),
        Err(error) => warming(error.nodes()),
    }
}

/// A quorum comes back empty under a lock, and its clocks are set forward right after that.
#[tokio::test]
async fn masters_set_forward_after_a_restart_look_old_to_new_clients() {
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    // They have only just started, and this makes them look old enough to every client.
    set(&masters, 0..3, HOUR).await;
    let holder = connect(guarded(&masters, LONG)).await;
    let before = connect(guarded(&masters, LONG)).await;
    let guard = holder.acquire("r").await.unwrap();
    let all = async || witness::holders(&masters, "r").await.len() == 3;
    eventually("every master has the key", SOON, all).await;
    masters[0].restart();
    masters[1].restart();
    let young = async || refused_as_young(&before).await.len() == 2;
    eventually("it has met them after their restart", SOON, young).await;
    set(&masters, 0..2, 2 * HOUR).await;
    let stepped = Instant::now();

    let newcomer = connect(guarded(&masters, LONG)).await;
    let second = newcomer.try_acquire("r").ttl(1_000 * MS).await.unwrap();
    assert!(second.is_valid() && guard.is_valid(), "two holders");
    second.release().await.unwrap();
    // A client that has met them before does not accept that they are older by an hour.
    while stepped.elapsed() < HEARTBEAT {
        assert!(!refused_as_young(&before).await.is_empty());
        tokio::time::sleep(50 * MS).await;
    }
}

#[tokio::test]
async fn masters_set_back_look_young_only_to_new_clients() {
    const GUARD: Duration = Duration::from_secs(6);
    let Some(masters) = Masters::start_with_clocks(3) else { return };
    set(&masters, 0..3, HOUR).await;
    let known = connect(guarded(&masters, GUARD)).await;
    assert!(known.try_acquire("s").await.is_ok(), "they are old");
    tokio::time::sleep(GUARD + GUARD / 10).await;
    // They report a negative uptime.
    set(&masters, 0..3, -HOUR).await;
    assert!(witness::info(&masters[0], "server").await["uptime_in_seconds"].starts_with('-'));
    for server in masters.iter() {
        let kill = redis::cmd("CLIENT").arg(&["KILL", "TYPE", "normal"]).to_owned();
        witness::ask::<u64>(server, &kill).await.unwrap();
    }

    let newcomer = connect(guarded(&masters, GUARD)).await;
    let asked = Instant::now();
    let waits = refused_as_young(&newcomer).await;
    assert_eq!(waits.len(), 3, "{waits:?}");
    // From the time it met them, and not for an hour.
    assert!(waits.iter().all(|left| *left <= GUARD + GUARD / 50), "{waits:?}");
    let voting = async || known.try_acquire("s").await.is_ok();
    eventually("who met them before has their votes, on new connections", SOON, voting).await;
    assert!(asked.elapsed() < waits[0], "after {:?}", asked.elapsed());
    newcomer.acquire("r").timeout(3 * GUARD).await.unwrap().release().await.unwrap();
    assert!(asked.elapsed() + 500 * MS > waits[0], "after {:?}", asked.elapsed());
}
