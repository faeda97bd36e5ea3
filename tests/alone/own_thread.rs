//! The single thread of a client that has one: how many there are, and when it ends. It runs
//! alone, since it counts the threads of the process.

use crate::support::poll::eventually_blocking;
use crate::support::prelude::*;
use quorumlock::{Redlock, Wait};
use std::net::TcpListener;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

/// Returns the names of this process's threads that are ours.
fn ours() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| {
        // The thread may have ended since it was listed.
        let name = std::fs::read_to_string(task.ok()?.path().join("comm")).ok()?;
        Some(name.trim_end().to_owned())
    });
    names.filter(|name| name.starts_with("quorumlock")).collect()
}

fn none_are_left() {
    eventually_blocking("no thread stays", SOON, || ours().is_empty());
}

fn connect(masters: &Masters) -> Redlock {
    let ttl = SOON * 3 / 2; // a key that is gone by then was deleted
    let slow = Duration::from_secs(3);
    let builder = masters.builder().own_thread(true).ttl(ttl);
    builder.operation_timeout(slow).connect_timeout(slow).connect().wait().unwrap()
}

#[test]
fn a_client_has_one_thread_that_ends_with_its_last_handle() {
    let _turn = crate::TURN.blocking_lock();
    let masters = Masters::start(3);
    let redlock = connect(&masters);
    assert_eq!(ours(), ["quorumlock"], "one for each connect");
    let (clone, guard) = (redlock.clone(), redlock.acquire("r").wait().unwrap());
    let (handle, lease) = (redlock.reentrant(), guard.lease());
    assert_eq!(ours(), ["quorumlock"], "and no other for what is held");
    let second = connect(&masters);
    assert_eq!(ours(), ["quorumlock"; 2]);
    drop(second);
    eventually_blocking("the second one ends", SOON, || ours().len() == 1);

    drop((redlock, clone, handle));
    guard.extend().wait().unwrap();
    drop(guard);
    assert!(!lease.is_valid());
    drop(lease);
    none_are_left();
    let look = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    look.block_on(witness::eventually_no_keys(&masters, SOON));

    // Ended by a shutdown, with handles left over.
    let redlock = connect(&masters);
    let guard = redlock.acquire("r").wait().unwrap();
    redlock.shutdown().wait().unwrap();
    none_are_left();
    drop((redlock, guard));

    // A client that could not connect and a preflight leave no thread either.
    assert!(Redlock::builder().own_thread(true).connect().wait().is_err());
    masters.builder().own_thread(true).preflight().wait().unwrap();
    // Nor do calls that are dropped, here while a master is silent: another answers within any pause of this thread.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let node = format!("redis://{}", silent.local_addr().unwrap());
    let builder = Redlock::builder().nodes([node]).own_thread(true);
    assert!(builder.preflight().wait_within(Duration::ZERO).is_none());
    assert!(builder.connect().wait_within(Duration::ZERO).is_none());
    none_are_left();
}
