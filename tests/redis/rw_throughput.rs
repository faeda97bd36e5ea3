//! Readers and writers under load, on real masters: how many get in, and how long they wait, beside a
//! plain lock in the same run.
//! On a real clock: it is the rate that is compared.

use crate::support::docker::tell;
use crate::support::prelude::*;
use crate::support::samples::Samples;
use futures::future::join_all;
use quorumlock::Redlock;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// How long each section lasts.
const SECTION: Duration = Duration::from_millis(3);

/// The holders inside: readers count up, a writer counts far down.
static INSIDE: AtomicI64 = AtomicI64::new(0);
const WRITER: i64 = -1_000_000;

/// What the tasks of one mix have done.
#[derive(Default)]
struct Done {
    reads: Samples,
    writes: Samples,
}

/// Of ten sections, how many read; `None` for the plain lock.
type Mix = Option<usize>;

/// Works on one resource until `end`, and records how long it waited each time.
async fn work(redlock: Redlock, resource: String, task: usize, mix: Mix, end: Instant) -> Done {
    let (mut done, lock) = (Done::default(), redlock.rw_lock(&*resource));
    let mut turn = task;
    while Instant::now() < end {
        turn += 1;
        let began = Instant::now();
        match mix {
            Some(of_ten) if (turn * 7) % 10 < of_ten => {
                let guard = lock.read().await.unwrap();
                done.reads.record(began.elapsed());
                assert!(INSIDE.fetch_add(1, SeqCst) >= 0, "a reader beside a writer");
                tokio::time::sleep(SECTION).await;
                INSIDE.fetch_sub(1, SeqCst);
                guard.release().await.unwrap();
            }
            Some(_) => {
                let guard = lock.write().await.unwrap();
                done.writes.record(began.elapsed());
                alone().await;
                guard.release().await.unwrap();
            }
            None => {
                let guard = redlock.acquire(&*resource).await.unwrap();
                done.writes.record(began.elapsed());
                alone().await;
                guard.release().await.unwrap();
            }
        }
    }
    done
}

async fn alone() {
    assert_eq!(INSIDE.fetch_add(WRITER, SeqCst), 0, "a writer beside another");
    tokio::time::sleep(SECTION).await;
    INSIDE.fetch_sub(WRITER, SeqCst);
}

/// Plays each mix for so long, one after the other.
async fn play(span: Duration) -> Vec<(&'static str, Done)> {
    let masters = Masters::start(5);
    let connecting = (0..4).map(|_| masters.builder().operation_timeout(SECOND).connect());
    let clients: Vec<Redlock> =
        join_all(connecting).await.into_iter().map(Result::unwrap).collect();
    let mixes =
        [("plain", None), ("1:0", Some(10)), ("9:1", Some(9)), ("1:1", Some(5)), ("0:1", Some(0))];
    let mut results = Vec::new();
    for (name, mix) in mixes {
        let end = Instant::now() + span;
        let tasks =
            clients.iter().flat_map(|client| (0..2).map(move |_| client.clone())).enumerate();
        let tasks = tasks.map(|(task, redlock)| {
            tokio::spawn(work(redlock, format!("table:{name}"), task, mix, end))
        });
        let mut all = Done::default();
        for done in join_all(tasks).await {
            let Done { reads, writes } = done.unwrap();
            reads.all().iter().for_each(|wait| all.reads.record(*wait));
            writes.all().iter().for_each(|wait| all.writes.record(*wait));
        }
        results.push((name, all));
    }
    results
}

fn figures(samples: &Samples) -> String {
    match samples.len() {
        0 => "-".to_owned(),
        n => format!("{n} (p50 {:.1?}, p99 {:.1?})", samples.p50(), samples.p99()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_and_writers_of_any_mix_all_get_in() {
    let results = play(Duration::from_millis(600)).await;
    let of =
        |name: &str| results.iter().find_map(|(mix, done)| (*mix == name).then_some(done)).unwrap();
    let (plain, readers) = (of("plain").writes.len(), of("1:0").reads.len());
    assert!(readers > plain, "{readers} reads side by side, {plain} plain sections");
    for mix in ["9:1", "1:1"] {
        let Done { reads, writes } = of(mix);
        assert!(reads.len() > 5 && writes.len() > 5, "{mix}: {} and {}", reads.len(), writes.len());
    }
}

/// For the table in the closing note of a change: `cargo nextest run --all-features --test redis
/// rw_throughput --run-ignored all --no-capture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures for a minute, with nothing else on the machine"]
async fn throughput_of_readers_and_writers_beside_a_plain_lock() {
    for round in 1..=2 {
        for (mix, Done { reads, writes }) in play(Duration::from_secs(6)).await {
            tell(&format!(
                "{round}: {mix}: reads {}, writes {}",
                figures(&reads),
                figures(&writes)
            ));
        }
    }
}
