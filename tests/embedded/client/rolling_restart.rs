//! Masters that come back empty, one after the other, under a leader beside two waiters in turn.

use super::prelude::*;
use crate::support::docker::tell;
use quorumlock::{FencingWindow, Redlock, Released, RestartGuard};
use std::time::Duration;

/// The ttl, and the longest that is allowed.
const TTL: Duration = Duration::from_secs(2);
/// Time for which a restarted master does not vote, as a server that reports its uptime in whole seconds
/// may be thought younger than it is.
const QUARANTINE: Duration = Duration::from_millis(3_100);

/// Clients find at different times that a master is back. So the leader may call in a list in which none stands yet, and then a
/// waiter asks after so many of the longest pauses (`core/src/waiting/tuning.rs`).
const BOUND: Duration = Duration::from_millis(8 * 250);

/// Waits until so many stand in the list.
async fn stand(looks: &Redlock, waiters: usize) {
    let stand = async || looks.inspect("r").await.unwrap().waiting() == Some(waiters);
    eventually("they wait", 2 * SOON, stand).await;
}

async fn client(masters: &Masters) -> Redlock {
    let builder = masters.builder().restart_guard(RestartGuard::On).ttl(TTL).max_ttl(TTL);
    let builder = builder.fencing_window(FencingWindow { back: 500 * MS, ahead: 500 * MS });
    builder.operation_timeout(900 * MS).acquire_timeout(LONG).connect().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn rolling_restarts_cost_a_leader_nothing_beside_waiters() {
    let masters = Masters::start(5);
    let [leader, first, second] =
        [client(&masters).await, client(&masters).await, client(&masters).await];
    let guard = leader.acquire("r").fair(true).keep_alive_for(Duration::MAX).await.unwrap();
    let mut waiters = Vec::new();
    for redlock in [first, second] {
        let acquire = redlock.acquire("r").fair(true).timeout(Duration::MAX);
        waiters.push(tokio::spawn(async move {
            let guard = acquire.await.unwrap();
            let got = Instant::now();
            guard.release().await.unwrap();
            got
        }));
        stand(&leader, waiters.len()).await;
    }
    let token = witness::value(&masters[0], "r").await;
    assert!(token.is_some());
    for (node, server) in masters.iter().enumerate() {
        server.restart();
        let restarted = Instant::now();
        let mut back = None;
        while restarted.elapsed() < QUARANTINE || back.is_none() {
            guard.check().unwrap();
            let is_back = witness::value(server, "r").await == token;
            back = back.or_else(|| is_back.then(|| restarted.elapsed()));
            assert!(restarted.elapsed() < 2 * QUARANTINE, "the leader is not back on {node}");
            tokio::time::sleep(20 * MS).await;
        }
        tell(&format!("the leader is back on master {node} after {:.1?}", back.unwrap()));
    }
    assert_eq!(witness::values(&masters, "r").await, vec![token; 5], "the leader is everywhere");
    stand(&leader, 2).await;
    let released = Instant::now();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
    for waiter in waiters {
        let waited = waiter.await.unwrap() - released;
        tell(&format!("a waiter is in {waited:.1?} after the leader has left"));
        assert!(waited < BOUND, "{waited:?}");
    }
}
