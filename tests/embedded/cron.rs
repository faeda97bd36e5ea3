//! The example `cron`: several hosts have the same schedule, and each tick is run by one of them.

#[allow(dead_code)] // Its `main` does not run here.
#[path = "../../examples/cron.rs"]
mod example;

use self::example::at_each_tick;
use croner::Cron;
use futures::future::join_all;
use jiff::{SignedDuration, Zoned};
use quorumlock::Redlock;
use quorumlock::embedded::Masters;
use std::collections::BTreeMap;
use std::io;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How far the clock of each host is ahead, in seconds.
const CLOCKS: [i64; 3] = [0, 4, -6];

async fn connect(masters: &Masters) -> Redlock {
    let late = Duration::from_secs(1);
    masters.builder().operation_timeout(late).connect_timeout(late).connect().await.unwrap()
}

/// Runs the schedule on each host for ten minutes of virtual time. Returns when each tick was run, and where.
async fn ten_minutes(job: impl AsyncFn(usize) -> io::Result<()>) -> BTreeMap<String, Vec<usize>> {
    let masters = Masters::start_in_virtual_time(3).unwrap();
    let runs = Mutex::new(BTreeMap::<String, Vec<usize>>::new());
    let schedule = Cron::from_str("* * * * *").unwrap();
    let (began, first): (_, Zoned) = (Instant::now(), "2026-03-04T05:06:30[UTC]".parse().unwrap());
    let host = async |host: usize| {
        let redlock = connect(&masters).await;
        let ahead = SignedDuration::from_secs(CLOCKS[host]);
        let now = || &first + ahead + SignedDuration::try_from(began.elapsed()).unwrap();
        let run = async |tick: &Zoned, _| {
            runs.lock().unwrap().entry(tick.strftime("%R").to_string()).or_default().push(host);
            job(host).await
        };
        at_each_tick(&redlock, "job", &schedule, now, run).await.unwrap();
    };
    let hosts = join_all((0..CLOCKS.len()).map(host));
    assert!(timeout(Duration::from_secs(600), hosts).await.is_err(), "they do not end");
    runs.into_inner().unwrap()
}

fn ticks() -> Vec<String> {
    (7..17).map(|minute| format!("05:{minute:02}")).collect()
}

#[tokio::test(start_paused = true)]
async fn each_tick_is_run_once_though_clocks_differ() {
    let runs = ten_minutes(async |_| Ok(())).await;
    assert_eq!(runs.keys().cloned().collect::<Vec<_>>(), ticks());
    assert!(runs.values().all(|hosts| hosts.len() == 1), "{runs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_is_left_to_a_host_that_comes_later() {
    // That of the fastest clock.
    let runs = ten_minutes(async |host| match host {
        1 => Err(io::Error::other("no paper")),
        _ => Ok(()),
    });
    let runs = runs.await;
    assert_eq!(runs.keys().cloned().collect::<Vec<_>>(), ticks());
    assert!(runs.values().all(|hosts| *hosts == [1, 0]), "{runs:?}");
}

#[tokio::test(start_paused = true)]
async fn no_run_overlaps_one_that_takes_longer_than_a_tick() {
    let running = Mutex::new(0);
    let runs = ten_minutes(async |_| {
        *running.lock().unwrap() += 1;
        assert_eq!(*running.lock().unwrap(), 1, "one at a time");
        sleep(Duration::from_secs(90)).await;
        *running.lock().unwrap() -= 1;
        Ok(())
    });
    let runs = runs.await;
    assert!((5..=6).contains(&runs.len()), "every other tick: {runs:?}");
    assert!(runs.values().all(|hosts| hosts.len() == 1), "{runs:?}");
}
