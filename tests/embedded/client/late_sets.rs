//! A SET that arrives after its acquire has failed, or whose answer is lost, leaves no key.

use super::prelude::*;
use crate::late::Setup;
use crate::proxy::Proxy;
use crate::support::late::setup::{BATCH, Place};
use crate::support::proxy::{Cut, Direction::*};
use crate::support::seed::Seed;
use futures::future::join_all;
use std::time::Duration;

const TTL: Duration = Duration::from_secs(10);

/// Number of batches: 64 acquires in all.
const BATCHES: usize = 64 / BATCH;

const SOON: Duration = Duration::from_secs(10);

#[tokio::test(start_paused = true)]
async fn sets_held_beyond_the_timeout_leave_nothing() {
    let setup = Setup::start(TTL).await;
    for _ in 0..BATCHES {
        assert_eq!(setup.held_until_the_acquires_have_failed().await, 0);
    }
    for master in &setup.place.masters()[..3] {
        let sets = witness::calls(master).await["set"];
        assert!(sets as usize >= BATCHES * BATCH, "the SETs did arrive, late: {sets}");
    }
}

#[tokio::test(start_paused = true)]
async fn sets_delayed_beyond_the_timeout_leave_nothing() {
    let mut rng = Seed::from_env("QUORUMLOCK_SEED_LATE").rng();
    let setup = Setup::start(TTL).await;
    for _ in 0..BATCHES {
        assert_eq!(setup.delayed_beyond_the_timeout(&mut rng).await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn sets_that_arrive_behind_their_rollback_leave_nothing() {
    let setup = Setup::start(TTL).await;
    for _ in 0..BATCHES {
        assert_eq!(setup.held_until_the_connections_are_replaced().await, 0);
    }
    for master in &setup.place.masters()[..3] {
        assert!(witness::kills(master).await.is_none_or(|kills| kills >= BATCHES as u64));
    }
}

#[tokio::test(start_paused = true)]
async fn sets_that_arrive_behind_the_release_leave_nothing() {
    let setup = Setup::start(TTL).await;
    for _ in 0..BATCHES {
        assert_eq!(setup.held_until_the_locks_are_released().await, 0);
    }
}

fn forbid_kill(masters: &[Master]) {
    masters.iter().for_each(|master| master.deny(&["client|kill"]).unwrap());
}

/// Otherwise, each release within a ttl after a reconnect would be sent repeatedly.
#[tokio::test(start_paused = true)]
async fn without_kill_locks_after_the_reconnect_are_released_once() {
    const LOCKS: u64 = 100;
    let masters = Masters::start(3);
    forbid_kill(&masters);
    let proxy = Proxy::start(&masters[0]);
    let builder =
        masters[1..].iter().fold(proxy.add_to(builder()), |builder, master| master.add_to(builder));
    let timeout = Duration::from_millis(150);
    let redlock = builder.operation_timeout(timeout).connect().await.unwrap();
    proxy.cut(Cut::Fin);
    let reconnected = async || proxy.connections() == 2 && proxy.waiting(ToClient) == 0;
    eventually("the first node is reconnected", SOON, reconnected).await;
    for n in 0..LOCKS {
        redlock.acquire(format!("r{n}")).await.unwrap().release().await.unwrap();
    }
    // Repetitions happen at this pace.
    tokio::time::sleep(3 * timeout).await;
    redlock.shutdown().await.unwrap();
    let calls = witness::calls(&masters[0]).await;
    assert!(calls["set"] > LOCKS / 2, "the first node takes part: {calls:?}");
    assert_eq!(witness::releases(&calls), calls["set"], "a release for each lock");
    witness::assert_no_keys_now(&masters).await;
}

#[tokio::test(start_paused = true)]
async fn where_no_client_may_be_killed_the_rollback_is_repeated() {
    let setup = Setup::start(TTL).await;
    forbid_kill(setup.place.masters());
    for _ in 0..BATCHES {
        assert_eq!(setup.held_until_the_connections_are_replaced().await, 0);
    }
    for master in &setup.place.masters()[..3] {
        // In later batches, repeated rollbacks take up room among the bytes that are let through.
        let deleted = witness::deletions(&witness::calls(master).await);
        assert!(deleted as usize >= BATCH, "the SETs were applied: {deleted}");
    }
}

/// Plays batches until each of the first three masters has deleted the keys of as many acquires. While
/// the machine is held up, the client may end a connection before its SETs have been applied, so a
/// batch may delete fewer.
async fn until_all_are_deleted(setup: &Setup, play: impl AsyncFn(&Setup) -> usize) {
    let mut fewest = 0;
    for _ in 0..4 * BATCHES {
        assert_eq!(play(setup).await, 0);
        let calls = join_all(setup.place.masters()[..3].iter().map(witness::calls)).await;
        fewest = calls.iter().map(witness::deletions).min().expect("three masters");
        if fewest as usize >= BATCHES * BATCH {
            return;
        }
    }
    panic!("the SETs were applied on each master: {fewest}");
}

#[tokio::test(start_paused = true)]
async fn sets_whose_answers_are_lost_leave_nothing() {
    until_all_are_deleted(&Setup::start(TTL).await, Setup::answers_are_lost).await;
}

#[tokio::test(start_paused = true)]
async fn connections_cut_behind_the_sets_leave_nothing() {
    until_all_are_deleted(&Setup::start(TTL).await, Setup::cut_behind_the_sets).await;
}

#[tokio::test(start_paused = true)]
async fn connections_cut_at_any_moment_leave_nothing() {
    let mut rng = Seed::from_env("QUORUMLOCK_SEED_CUT").rng();
    let setup = Setup::start(TTL).await;
    for _ in 0..2 * BATCHES {
        assert_eq!(setup.cut_at_random(&mut rng).await, 0);
    }
}

/// Three masters are stopped under the acquires, and resume when each has been dialled twice more
/// and `pause` has passed. One of them had granted locks that are released while it is stopped.
async fn stop_and_go_on(setup: &Setup, pause: Duration) -> usize {
    let held = setup.hold_a_batch().await;
    setup.all_vote().await;
    let stopped = Instant::now();
    setup.place.masters()[..3].iter().for_each(|master| master.stop());
    let before: Vec<usize> =
        setup.place.proxies().iter().map(|proxy| proxy.connections()).collect();
    setup.fail_a_batch().await;
    drop(held);
    eventually("each stopped master is dialled twice more", SOON, async || {
        let now = setup.place.proxies().iter().map(|proxy| proxy.connections());
        now.zip(&before).all(|(now, before)| now >= before + 2)
    })
    .await;
    tokio::time::sleep(pause.saturating_sub(stopped.elapsed())).await;
    setup.place.masters()[..3].iter().for_each(|master| master.cont());
    setup.left().await
}

#[tokio::test(start_paused = true)]
async fn masters_stopped_for_less_than_a_ttl_leave_nothing() {
    let setup = Setup::start(TTL).await;
    for _ in 0..BATCHES {
        assert_eq!(stop_and_go_on(&setup, Duration::ZERO).await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn masters_stopped_for_more_than_a_ttl_leave_nothing() {
    let ttl = Duration::from_secs(4);
    let setup = Setup::start(ttl).await;
    for _ in 0..BATCHES {
        assert_eq!(stop_and_go_on(&setup, ttl + Duration::from_millis(500)).await, 0);
    }
}
