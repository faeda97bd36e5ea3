//! What a crowd of readers costs the masters while writers have a lock one after the other.
//! On a real clock: forty-four clients load real servers.

use crate::support::docker::tell;
use crate::support::prelude::*;
use futures::future::join_all;
use quorumlock::Redlock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const WRITERS: usize = 4;
const HOLD: Duration = Duration::from_millis(2);
/// The sections of writers that are counted.
const SECTIONS: usize = 300;

async fn clients(masters: &Masters, number: usize) -> Vec<Redlock> {
    let connect = |_| masters.builder().operation_timeout(900 * MS).connect();
    join_all((0..number).map(connect)).await.into_iter().map(Result::unwrap).collect()
}

/// Returns how many scripts all masters run for one section of a writer while so many readers contend, and for how long.
async fn scripts_of_a_writer(readers: usize) -> (f64, f64) {
    let masters = Masters::start(5);
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
                        let guard = lock.write().no_timeout().await.unwrap();
                        tokio::time::sleep(HOLD).await;
                        guard.release().await.unwrap();
                    } else {
                        let guard = lock.read().no_timeout().await.unwrap();
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
    let (began, before) = (Instant::now(), scripts().await);
    eventually("they go on", 12 * SOON, async || done() >= before.0 + SECTIONS).await;
    let (after, seconds) = (scripts().await, began.elapsed().as_secs_f64());
    over.store(true, Ordering::Relaxed);
    join_all(contending).await.into_iter().for_each(Result::unwrap);
    let (written, read) = (after.0 - before.0, after.1 - before.1);
    let scripts = (after.2 - before.2) as f64 / written as f64;
    tell(&format!("{readers} readers: {scripts:.1} scripts, {read} reads, {written} writes"));
    (scripts, seconds / written as f64)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_wait_cost_the_hand_over_of_writers_little() {
    let (alone, _) = scripts_of_a_writer(0).await;
    let (crowded, section) = scripts_of_a_writer(40).await;
    // Each asks once, and then polls twice in 250 ms, as often as a busy machine gives it time in a section.
    let polls = 40.0 * 8.0 * section;
    // 10 to 13, and 20 to 21 are measured in sections of 5 ms. To notify each in vain would be 80 more.
    let text = format!("{alone} without readers, {crowded} with 40, {section} s for each");
    assert!(crowded < alone + 40.0 + polls.min(30.0), "{text}");
}
