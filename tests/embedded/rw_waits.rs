//! Acquires that wait for a resource that others read in overlapping turns. Time is virtual.

use crate::support::prelude::*;
use quorumlock::embedded::Masters;
use quorumlock::{Redlock, RestartGuard};
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep};

const KEY: &str = "table:7";

async fn connect(masters: &Masters) -> Redlock {
    let builder = masters.builder().restart_guard(RestartGuard::Off);
    builder.ttl(Duration::from_secs(5)).connect().await.unwrap()
}

/// Two processes read in turns of 600 ms, so that there is always a reader unless something stops them.
async fn overlapping_readers(masters: &Masters) -> JoinSet<()> {
    let mut readers = JoinSet::new();
    for place in 0..2 {
        let client = connect(masters).await;
        readers.spawn(async move {
            sleep(300 * MS * place).await;
            loop {
                if let Ok(guard) = client.rw_lock(KEY).read().await {
                    sleep(600 * MS).await;
                    let _ = guard.release().await;
                }
            }
        });
    }
    sleep(SECOND).await;
    readers
}

/// What waits in front of the writer, in its process.
#[derive(Clone, Copy, Debug)]
enum Front {
    Nothing,
    Writer,
    Plain,
    InTurn,
    Several,
}

fn waits(client: &Redlock, front: Front) -> JoinHandle<()> {
    let client = client.clone();
    tokio::spawn(async move {
        match front {
            Front::Nothing => {}
            Front::Writer => drop(client.rw_lock(KEY).write().timeout(Duration::MAX).await),
            Front::Plain => drop(client.acquire(KEY).timeout(Duration::MAX).await),
            Front::InTurn => drop(client.acquire(KEY).fair(true).timeout(Duration::MAX).await),
            Front::Several => drop(client.acquire_all([KEY, "a"]).timeout(Duration::MAX).await),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_writer_gets_in_between_overlapping_readers_whatever_waits_before_it_in_its_process() {
    for front in [Front::Nothing, Front::Writer, Front::Plain, Front::InTurn, Front::Several] {
        let masters = Masters::start_in_virtual_time(3).unwrap();
        let client = connect(&masters).await;
        let readers = overlapping_readers(&masters).await;
        let first = waits(&client, front);
        sleep(50 * MS).await;
        let began = Instant::now();
        let write = client.rw_lock(KEY).write().timeout(30 * SECOND).await;
        let took = began.elapsed();
        assert!(write.is_ok() && took < 2 * SECOND, "behind {front:?}: {took:?}, {write:?}");
        drop((write, readers));
        first.await.unwrap();
    }
}

/// A hint that no writer waits behind any more lets readers in when what is left of it is over.
#[tokio::test(start_paused = true)]
async fn a_writer_that_gives_up_behind_a_plain_acquire_lets_readers_in_again() {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let client = connect(&masters).await;
    let holder = connect(&masters).await.rw_lock(KEY).read().keep_alive().await.unwrap();
    let front = waits(&client, Front::Plain);
    sleep(50 * MS).await;
    let gave_up = client.rw_lock(KEY).write().timeout(5 * SECOND).await;
    assert!(gave_up.is_err(), "a reader holds it all the time");
    let other = connect(&masters).await;
    let refused = other.rw_lock(KEY).try_read().await.unwrap_err();
    assert!(refused.is_contended(), "the hint of the writer has stood to the end: {refused}");
    let began = Instant::now();
    let read = other.rw_lock(KEY).read().timeout(5 * SECOND).await.unwrap();
    let took = began.elapsed();
    // The hint lives for 1.5 s more, and a reader polls every quarter of a second at most.
    assert!(took <= 2_000 * MS, "{took:?}");
    front.abort();
    drop((read, holder));
}

/// Clients are at work while an operator takes the right away.
#[tokio::test(start_paused = true)]
async fn a_withdrawn_right_to_expire_leaves_no_readers_forever() {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let client = connect(&masters).await;
    let write = client.rw_lock(KEY).write().await.unwrap();
    masters.iter().for_each(|master| master.deny(&["pexpire"]).unwrap());
    let refused = write.downgrade().await.unwrap_err();
    refused.guard.release().await.unwrap();
    assert!(client.rw_lock(KEY).try_read().await.unwrap_err().is_no_quorum());
    sleep(10 * SECOND).await;
    for master in masters.iter() {
        let keys = master.keys();
        assert!(!keys.iter().any(|key| key.contains(KEY)), "{keys:?}");
    }
}
