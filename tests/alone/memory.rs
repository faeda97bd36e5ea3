//! A master that hangs under full load costs neither memory nor locks.

use crate::support::prelude::*;
use futures::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Returns this process's memory, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_busy_tasks_and_a_hung_master_stay_within_16_mib() {
    let _turn = crate::alone().await;
    let masters = Masters::start(5);
    let builder = masters.builder().operation_timeout(Duration::from_millis(500));
    let redlock = builder.connect().await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let tasks = (0..64).map(|task| {
        let (redlock, done) = (redlock.clone(), done.clone());
        tokio::spawn(async move {
            let resource = format!("r{task}");
            let mut cycles = 0;
            while !done.load(Ordering::Relaxed) {
                // No other client wants it, and four masters can grant it.
                redlock.try_acquire(resource.as_str()).await.unwrap().release().await.unwrap();
                cycles += 1;
            }
            cycles
        })
    });
    let tasks: Vec<_> = tasks.collect();

    masters[0].stop();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let early = resident();
    tokio::time::sleep(Duration::from_secs(8)).await;
    let late = resident();
    done.store(true, Ordering::Relaxed);
    let cycles: u64 = join_all(tasks).await.into_iter().map(Result::unwrap).sum();
    let grown = late.saturating_sub(early);
    eprintln!("{cycles} locks, {} MiB after 2 s, {} KiB more after 10 s", early / MIB, grown >> 10);
    assert!(grown < 16 * MIB, "from {early} to {late} bytes");
    assert!(cycles > 2_000, "{cycles} locks in 10 s");

    masters[0].cont();
    // No debt to it remains for anything that it missed.
    redlock.shutdown().await.unwrap();
    witness::assert_no_keys_now(&masters).await;
}
