//! Clients with a thread of their own, which no fork has.

use crate::child::in_a_fork;
use crate::masters::Masters;
use crate::{assert_all_refused, refused};
use quorumlock::{Ran, Redlock, Released, Wait, error::OnceError};
use std::cell::RefCell;
use std::fs;
use std::time::Duration;

const WARM: Duration = Duration::from_secs(60);
const PERIOD: Duration = Duration::from_secs(10);
const HOUR: Duration = Duration::from_secs(3_600);

fn connect(masters: &Masters) -> Redlock {
    masters.builder().own_thread(true).connect().wait().unwrap()
}

#[test]
fn each_call_fails_at_once_in_a_fork_and_the_parent_goes_on() {
    let masters = Masters::start(3);
    let redlock = connect(&masters);
    let other = connect(&masters);
    let held = redlock.acquire("held").keep_alive().wait().unwrap();
    redlock.acquire("warm").keep_warm(WARM).wait().unwrap().release().wait().unwrap();
    let (rw_lock, semaphore) = (redlock.rw_lock("table"), redlock.semaphore("permits", 2));
    let election = redlock.election("scheduler");
    let reentrant = redlock.reentrant();
    let nested = reentrant.acquire("nested").wait().unwrap();
    let lock = |name: &str| redlock.acquire(name).timeout(Duration::MAX).wait().unwrap();
    let (released, detached) = (lock("released"), lock("detached"));
    let write = rw_lock.write().wait().unwrap();
    let value = other.acquire("value").wait().unwrap().detach().wait().unwrap();
    let led = election.campaign("me").wait().unwrap();
    let inspection = redlock.inspect("held").wait().unwrap();
    let reader = inspection.holder().unwrap().clone();
    let lines = in_a_fork(|say| {
        let says = |call: &str, text: String| say(&format!("{call}: {text}"));
        says("acquire", refused(redlock.acquire("r").timeout(Duration::MAX).wait()));
        says("try_acquire", refused(redlock.try_acquire("r").wait()));
        says("fair", refused(redlock.acquire("r").fair(true).timeout(Duration::MAX).wait()));
        says("fenced", refused(redlock.acquire("r").fenced().timeout(Duration::MAX).wait()));
        says(
            "warm",
            refused(redlock.acquire("warm").keep_warm(WARM).timeout(Duration::MAX).wait()),
        );
        says("acquire_all", refused(redlock.acquire_all(["r", "s"]).timeout(Duration::MAX).wait()));
        says("try_acquire_all", refused(redlock.try_acquire_all(["r", "s"]).wait()));
        says(
            "run",
            refused(
                redlock
                    .acquire("r")
                    .timeout(Duration::MAX)
                    .run(async |_| ())
                    .wait()
                    .map_err(|e| e.without_result()),
            ),
        );
        says("once", once(&redlock));
        says("joined", refused(reentrant.acquire("nested").timeout(Duration::MAX).wait()));
        says("reentrant", refused(reentrant.acquire("r").timeout(Duration::MAX).wait()));
        says("read", refused(rw_lock.read().timeout(Duration::MAX).wait()));
        says("write", refused(rw_lock.write().timeout(Duration::MAX).wait()));
        says("permit", refused(semaphore.acquire().timeout(Duration::MAX).wait()));
        says("available_permits", refused(semaphore.available_permits().wait()));
        says("permits", refused(semaphore.inspect().wait()));
        says("adopt", refused(redlock.adopt(value).wait()));
        says("campaign", refused(election.campaign("me").wait()));
        says("lead", refused(election.run("me", async |_| ()).wait()));
        says("leader", refused(election.leader().wait()));
        says("observe", refused(election.observe().next().wait().unwrap()));
        says("inspect", refused(redlock.inspect("r").wait()));
        says("ask", refused(redlock.ask(&inspection).wait()));
        says("force_release", refused(redlock.force_release(&inspection).wait()));
        says("reader", refused(redlock.force_release_reader(&inspection, &reader).wait()));
        says("list", refused(redlock.list("").next().wait().unwrap()));
        says("preflight", refused(redlock.preflight().wait()));
        says("status", refused(redlock.status().wait()));
        says("wait_until_ready", refused(redlock.wait_until_ready(HOUR).wait()));
        says("check", refused(held.check()));
        says("extend", refused(held.extend().wait()));
        says("lost", held.lost().wait().unwrap().to_string());
        says("lost_within", held.lost().wait_within(HOUR).unwrap().unwrap().to_string());
        held.wanted().wait().unwrap();
        assert!(!held.is_valid() && held.remaining().is_zero());
        says("release", refused(released.release().wait()));
        says("detach", refused(detached.detach().wait()));
        says("downgrade", refused(write.downgrade().wait()));
        says("resign", refused(led.resign().wait()));
        says("leave", refused(nested.release().wait()));
        says("shutdown", refused(redlock.shutdown().wait()));
    });
    assert_all_refused(&lines, 39);
    assert!(
        held.extend().wait().is_ok() && redlock.status().wait().unwrap().count().starts_with("3 ")
    );
    assert_eq!(held.release().wait(), Ok(Released::Confirmed));
    redlock.shutdown().wait().unwrap();
}

fn once(redlock: &Redlock) -> String {
    let ran: Result<Ran<()>, OnceError<(), String>> =
        redlock.once("r", PERIOD).run(async |_| Ok(())).wait();
    refused(
        ran.map_err(|error| error.into_failed().unwrap_err()).map_err(|error| error.to_string()),
    )
}

#[test]
fn a_fork_that_connects_is_another_client() {
    let masters = Masters::start(3);
    let redlock = connect(&masters);
    let held = redlock.acquire("held").wait().unwrap();
    let lines = in_a_fork(|say| {
        let own = connect(&masters);
        say(&refused(own.try_acquire("held").wait()));
        own.acquire("another").run(async |_| say("alone")).wait().unwrap();
        own.shutdown().wait().unwrap();
    });
    assert!(lines[0].contains("is held by "), "{lines:?}");
    assert_eq!(lines[1..], ["alone"]);
    assert_eq!(held.release().wait(), Ok(Released::Confirmed));
}

/// A fork shares the event descriptors by which threads of the parent are woken. Their own timers write to these, too, so
/// one try of several counts.
#[test]
fn what_is_dropped_in_a_fork_releases_nothing_and_wakes_no_thread_of_the_parent() {
    let masters = Masters::start(3);
    let redlock = connect(&masters);
    let held = RefCell::new(Some(redlock.acquire("held").keep_alive().wait().unwrap()));
    let warm = RefCell::new(Some(redlock.acquire("warm").keep_warm(WARM).wait().unwrap()));
    let forgotten = RefCell::new(Some(redlock.acquire("forgotten").wait().unwrap()));
    let redlock = RefCell::new(Some(redlock));
    let wakes = || {
        let lines = in_a_fork(|say| {
            let before = wake_ups();
            _ = warm.take().unwrap().release().wait();
            forgotten.take().unwrap().forget();
            drop((held.take(), redlock.take()));
            say(&(wake_ups() - before).to_string());
        });
        lines[0].parse::<u64>().unwrap()
    };
    assert!((0..5).any(|_| wakes() == 0));
    for name in ["held", "warm", "forgotten"] {
        assert!(masters.iter().all(|master| master.holder(name).is_some()), "{name}");
    }
}

/// Returns how often the event descriptors of this process were written to.
fn wake_ups() -> u64 {
    let count = |path: &std::path::Path| {
        let info = fs::read_to_string(path).ok()?;
        let line = info.lines().find_map(|line| line.strip_prefix("eventfd-count:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    let all = fs::read_dir("/proc/self/fdinfo").unwrap();
    let counts: Vec<_> = all.filter_map(|entry| count(&entry.unwrap().path())).collect();
    assert!(counts.len() >= 2, "of the client and of the masters");
    counts.iter().sum()
}
