//! What a crowd of readers costs the masters while writers have a lock one after the other.

use super::prelude::*;
use crate::support::docker::tell;
use futures::future::join_all;
use quorumlock::Redlock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const WRITERS: usize = 4;
const HOLD: Duration = Duration::from_millis(2);
/// The sections of writers that are counted.
const SECTIONS: usize = 100;

async fn clients(masters: &Masters, number: usize) -> Vec<Redlock> {
    let connect = |_| masters.builder().operation_timeout(900 * MS).connect();
    join_all((0..number).map(connect)).await.into_iter().map(Result::unwrap).collect()
}

/// Returns how many scripts all masters run for one section of a writer while so many readers contend.
async fn scripts_of_a_writer(readers: usize) -> f64 {
    let masters = Masters::start(5);
    masters.iter().for_each(|master| master.set_latency(MS));
    let over = Arc::new(AtomicBool::new(false));
    let (written, read) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let all = clients(&masters, WRITERS + readers).await.into_iter().enumerate();
    let contending: Vec<_> = all
        .map(|(number, client)| {
            let (over, writes) = (over.clone(), number < WRITERS);
            let sections = if writes { written.clone() } else { read.clone() };
            tokio::spawn(async move {
                let lock = client.rw_lock("r");
                while !over.load(Ordering::Relaxed) {
                    if writes {
                        let guard = lock.write().timeout(Duration::MAX).await.unwrap();
                        tokio::time::sleep(HOLD).await;
                        guard.release().await.unwrap();
                    } else {
                        let guard = lock.read().timeout(Duration::MAX).await.unwrap();
                        guard.release().await.unwrap();
                    }
                    sections.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let done = || written.load(Ordering::Relaxed);
    let scripts = async || {
        let scripts = witness::calls_of(&masters, &["eval", "evalsha"]).await;
        (done(), read.load(Ordering::Relaxed), scripts)
    };
    eventually("they contend", 12 * SOON, async || done() >= 20).await;
    let before = scripts().await;
    eventually("they go on", 12 * SOON, async || done() >= before.0 + SECTIONS).await;
    let after = scripts().await;
    over.store(true, Ordering::Relaxed);
    join_all(contending).await.into_iter().for_each(Result::unwrap);
    let (written, read) = (after.0 - before.0, after.1 - before.1);
    let scripts = (after.2 - before.2) as f64 / written as f64;
    tell(&format!("{readers} readers: {scripts:.1} scripts, {read} reads, {written} writes"));
    scripts
}

#[tokio::test(start_paused = true)]
async fn readers_that_wait_cost_the_hand_over_of_writers_little() {
    let (alone, crowded) = (scripts_of_a_writer(0).await, scripts_of_a_writer(40).await);
    // 11 and 19. To notify each in vain would be 80 more.
    assert!(crowded < alone + 15.0, "{alone} without readers, {crowded} with 40");
}
