//! The ways in which masters are asked to release, on real servers. The tests check what each
//! receives. They also check that nothing is left behind if scripts are forgotten and masters are
//! replaced by other kinds of server in the meantime.

use crate::support::prelude::*;
use crate::support::seed::Seed;
use quorumlock::{Redlock, Released, RestartGuard};
use redis::cmd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

async fn flush(server: &Server) {
    witness::ask::<()>(server, cmd("SCRIPT").arg("FLUSH")).await.unwrap();
}

#[tokio::test]
async fn a_release_goes_in_the_cheapest_way_that_the_server_has() {
    let servers = [Server::start()];
    let server = &servers[0];
    let redlock = Redlock::builder().node(server.url()).restart_guard(RestartGuard::Off);
    let redlock = redlock.connect().await.unwrap();
    let cycle = async || {
        let guard = redlock.acquire("r").await.unwrap();
        assert_eq!(guard.release().await, Ok(Released::Confirmed));
    };
    for _ in 0..4 {
        cycle().await;
    }
    let ways = async || {
        let calls = witness::calls(server).await;
        ["delifeq", "eval", "evalsha"].map(|way| calls.get(way).copied().unwrap_or(0))
    };
    let (at_first, once_flushed) = match witness::has_delifeq(server).await {
        true => ([4, 0, 0], [5, 0, 0]),
        // One in full, and then by the hash; the one by hash is sent again.
        false => ([0, 1, 3], [0, 2, 4]),
    };
    assert_eq!(ways().await, at_first);
    flush(server).await;
    cycle().await;
    assert_eq!(ways().await, once_flushed);
    witness::assert_no_keys_now(&servers).await;
}

/// As `preflight()` and the documents assume.
#[tokio::test]
async fn delifeq_deletes_what_is_equal_and_nothing_else() {
    let server = Server::start();
    if !witness::has_delifeq(&server).await {
        let error = witness::ask::<u64>(&server, cmd("DELIFEQ").arg("r").arg("mine")).await;
        assert!(format!("{error:?}").contains("nknown command"), "{error:?}");
        return;
    }
    let ask = async |value: &str| {
        witness::ask::<u64>(&server, cmd("DELIFEQ").arg("r").arg(value)).await.unwrap()
    };
    assert_eq!(ask("mine").await, 0);
    witness::ask::<()>(&server, cmd("SET").arg("r").arg("theirs")).await.unwrap();
    assert_eq!(ask("mine").await, 0);
    assert_eq!(ask("theirs").await, 1);
    assert_eq!(ask("theirs").await, 0);
}

/// Eight tasks of two processes take and release their own locks, while masters forget their
/// scripts and are replaced, one at a time. Where there are several kinds of server, each is then
/// replaced by the next kind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forgotten_scripts_and_replaced_masters_leave_nothing_behind() {
    let mut rng = Seed::from_env("QUORUMLOCK_SEED_WAYS").rng();
    let masters = Masters::start(5);
    let connect = || masters.builder().acquire_timeout(PATIENCE).connect();
    let clients = [connect().await.unwrap(), connect().await.unwrap()];
    let (over, cycles) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let (redlock, over, cycles) = (clients[task % 2].clone(), over.clone(), cycles.clone());
            tokio::spawn(async move {
                // Each of them has a rival in the other process.
                let resource = format!("r{}", task / 2);
                while !over.load(Ordering::Relaxed) {
                    let guard = redlock.acquire(resource.as_str()).await.unwrap();
                    match cycles.fetch_add(1, Ordering::Relaxed) % 3 {
                        0 => drop(guard),
                        _ => _ = guard.release().await,
                    }
                }
            })
        })
        .collect();
    for turn in 0..60 {
        flush(&masters[rng.within(0..5) as usize]).await;
        if turn % 10 == 9 {
            masters[rng.within(0..5) as usize].restart_as_the_next();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    let cycles = cycles.load(Ordering::Relaxed);
    assert!(cycles > 200, "{cycles} locks");
    for redlock in clients {
        redlock.shutdown().await.unwrap();
    }
    witness::assert_no_keys_now(&masters).await;
}
