//! A test of the harness. The scenarios of `late_sets` leave keys behind as soon as rollback or
//! `CLIENT KILL` is removed on the wire, and leave none through the same stream without changes.

use super::prelude::*;
use crate::late::Setup;
use crate::support::late::setup::BATCH;
use crate::support::sabotage::{Sabotage, dial_through};
use crate::support::seed::Seed;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Returns what one scenario leaves, on its own masters.
async fn left(sabotage: Sabotage, scenario: impl AsyncFnOnce(&Setup) -> usize) -> usize {
    let setup = Setup::start_with(sabotage).await;
    let left = scenario(&setup).await;
    let spoiled = setup.spoiled.load(Ordering::SeqCst);
    eprintln!("{sabotage:?}: {BATCH} acquires, {spoiled} commands spoiled, {left} keys left");
    assert_eq!(spoiled > 0, sabotage != Sabotage::Nothing, "{spoiled} commands were spoiled");
    left
}

async fn every_scenario(sabotage: Sabotage) -> [usize; 7] {
    let seed = Seed::from_env("QUORUMLOCK_SEED_SABOTAGE");
    let (mut delays, mut cuts) = (seed.rng(), seed.rng());
    [
        left(sabotage, Setup::held_until_the_acquires_have_failed).await,
        left(sabotage, async |setup| setup.delayed_beyond_the_timeout(&mut delays).await).await,
        left(sabotage, Setup::held_until_the_connections_are_replaced).await,
        left(sabotage, Setup::held_until_the_locks_are_released).await,
        left(sabotage, Setup::answers_are_lost).await,
        left(sabotage, Setup::cut_behind_the_sets).await,
        left(sabotage, async |setup| setup.cut_at_random(&mut cuts).await).await,
    ]
}

#[tokio::test(start_paused = true)]
async fn without_rollback_every_scenario_leaves_keys() {
    let left = every_scenario(Sabotage::Rollback).await;
    assert!(left.iter().all(|&left| left >= BATCH), "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn without_client_kill_what_arrives_behind_the_rollback_stays() {
    let rolled_back = Setup::held_until_the_connections_are_replaced;
    assert_eq!(left(Sabotage::Kill, rolled_back).await, 3 * BATCH);
    let released = Setup::held_until_the_locks_are_released;
    assert!(left(Sabotage::Kill, released).await >= 2 * BATCH);
}

#[tokio::test(start_paused = true)]
async fn through_the_same_stream_untouched_no_scenario_leaves_a_key() {
    assert_eq!(every_scenario(Sabotage::Nothing).await, [0; 7]);
}

#[tokio::test(start_paused = true)]
async fn a_command_sent_by_single_bytes_is_spoiled_and_no_neighbour() {
    let masters = Masters::start(1);
    let spoiled = Arc::new(AtomicU64::new(0));
    let dial = dial_through(masters[0].dialer(), Sabotage::Rollback, spoiled.clone());
    let mut stream = dial().await.unwrap();
    let packed = [
        redis::cmd("SET").arg("key").arg("value").get_packed_command(),
        redis::cmd("EVAL").arg("return redis.call('DEL', 'key')").arg(0).get_packed_command(),
        redis::cmd("PING").get_packed_command(),
    ];
    for byte in packed.concat() {
        stream.write_all(&[byte]).await.unwrap();
    }
    stream.flush().await.unwrap();
    let expected = b"+OK\r\n:0\r\n+PONG\r\n";
    let mut answers = [0; 16];
    let read = stream.read_exact(&mut answers);
    tokio::time::timeout(Duration::from_secs(5), read).await.expect("three answers").unwrap();
    assert_eq!(&answers, expected);
    assert_eq!(witness::value(&masters[0], "key").await.as_deref(), Some("value"));
    assert_eq!(spoiled.load(Ordering::SeqCst), 1);
}
