//! The ways in which masters are asked to release, on real servers. The tests check what each
//! receives. They also check that nothing is left behind if scripts are forgotten and masters are
//! replaced by other kinds of server in the meantime.
//! On a real clock: each kind of server has commands of its own.

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
        ["delifeq", "delex", "eval", "evalsha"].map(|way| calls.get(way).copied().unwrap_or(0))
    };
    let (at_first, once_flushed) = match witness::native_release(server).await {
        Some("delifeq") => ([4, 0, 0, 0], [5, 0, 0, 0]),
        Some(_) => ([0, 4, 0, 0], [0, 5, 0, 0]),
        // One in full, and then by the hash; the one by hash is sent again.
        None => ([0, 0, 1, 3], [0, 0, 2, 4]),
    };
    assert_eq!(ways().await, at_first);
    flush(server).await;
    cycle().await;
    assert_eq!(ways().await, once_flushed);
    witness::assert_no_keys_now(&servers).await;
}

/// As `preflight()` and the documents assume.
#[tokio::test]
async fn a_command_that_releases_deletes_what_is_equal_and_nothing_else() {
    let server = Server::start();
    let there = witness::native_release(&server).await;
    let command = |name: &str, value: &str| {
        let mut command = cmd(name);
        command.arg("r");
        if name == "delex" {
            command.arg("IFEQ");
        }
        command.arg(value).to_owned()
    };
    for name in ["delifeq", "delex"].into_iter().filter(|name| there != Some(*name)) {
        let error = witness::ask::<u64>(&server, &command(name, "mine")).await;
        assert!(format!("{error:?}").contains("nknown command"), "{error:?}");
    }
    let Some(name) = there else { return };
    let ask =
        async |value: &str| witness::ask::<u64>(&server, &command(name, value)).await.unwrap();
    assert_eq!(ask("mine").await, 0);
    witness::ask::<()>(&server, cmd("SET").arg("r").arg("theirs")).await.unwrap();
    assert_eq!(ask("mine").await, 0);
    assert_eq!(ask("theirs").await, 1);
    assert_eq!(ask("theirs").await, 0);
    // Whatever it says of another type, it deletes nothing, and the machine takes it for that.
    witness::ask::<u64>(&server, cmd("LPUSH").arg("r").arg("theirs")).await.unwrap();
    let error = witness::ask::<u64>(&server, &command(name, "theirs")).await.unwrap_err();
    let error = format!("{error:?}").to_lowercase();
    assert!(
        error.contains("wrong kind") || error.contains("key should be of string type"),
        "{error}"
    );
    assert_eq!(witness::ask::<u64>(&server, cmd("LLEN").arg("r")).await.unwrap(), 1);
}

/// Why no extension is sent as `SET .. IFEQ`: `docs/decisions/031-no-set-ifeq.md`.
#[tokio::test]
async fn a_set_of_what_is_equal_shortens_a_life_and_revives_nothing() {
    let server = Server::start();
    if witness::native_release(&server).await.is_none() {
        return;
    }
    let set = async |ms: u64| {
        let mut set = cmd("SET");
        set.arg("r").arg("mine").arg("IFEQ").arg("mine").arg("PX").arg(ms);
        witness::ask::<Option<String>>(&server, &set).await.unwrap()
    };
    assert_eq!(set(60_000).await, None, "nothing is revived");
    witness::set_foreign(&server, "r", "mine", Duration::from_secs(60)).await;
    assert_eq!(set(20_000).await.as_deref(), Some("OK"));
    let left = witness::pttl(&server, "r").await.unwrap();
    assert!(left <= Duration::from_secs(20), "its life is shortened: {left:?}");
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
    for turn in 0..30 {
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
    assert!(cycles > 100, "{cycles} locks");
    for redlock in clients {
        redlock.shutdown().await.unwrap();
    }
    witness::assert_no_keys_now(&masters).await;
}
