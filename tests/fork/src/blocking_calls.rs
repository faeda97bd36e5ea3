//! Clients of the blocking API, whose threads no fork has.

use crate::child::in_a_fork;
use crate::masters::Masters;
use crate::{assert_all_refused, refused};
use quorumlock::blocking::{Builder, Redlock};
use quorumlock::{Ran, Released, error::OnceError};
use std::cell::RefCell;
use std::fs;
use std::time::Duration;

const WARM: Duration = Duration::from_secs(60);
const PERIOD: Duration = Duration::from_secs(10);
const HOUR: Duration = Duration::from_secs(3_600);

fn connect(masters: &Masters) -> Redlock {
    Builder::from(masters.builder()).connect().unwrap()
}

#[test]
fn each_call_fails_at_once_in_a_fork_and_the_parent_goes_on() {
    let masters = Masters::start(3);
    let redlock = connect(&masters);
    let other = connect(&masters);
    let held = redlock.acquire("held").keep_alive().lock().unwrap();
    redlock.acquire("warm").keep_warm(WARM).lock().unwrap().release().unwrap();
    let (rw_lock, semaphore) = (redlock.rw_lock("table"), redlock.semaphore("permits", 2));
    let election = redlock.election("scheduler");
    let reentrant = redlock.reentrant();
    let nested = reentrant.acquire("nested").lock().unwrap();
    let lock = |name: &str| redlock.acquire(name).no_timeout().lock().unwrap();
    let (released, detached) = (lock("released"), lock("detached"));
    let write = rw_lock.write().lock().unwrap();
    let value = other.acquire("value").lock().unwrap().detach().unwrap();
    let led = election.campaign("me").unwrap();
    let inspection = redlock.inspect("held").unwrap();
    let reader = inspection.holder().unwrap().clone();
    let lines = in_a_fork(|say| {
        let says = |call: &str, text: String| say(&format!("{call}: {text}"));
        says("acquire", refused(redlock.acquire("r").no_timeout().lock()));
        says("try_acquire", refused(redlock.try_acquire("r").lock()));
        says("fair", refused(redlock.acquire("r").fair().no_timeout().lock()));
        says("fenced", refused(redlock.acquire("r").fenced().no_timeout().lock()));
        says("warm", refused(redlock.acquire("warm").keep_warm(WARM).no_timeout().lock()));
        says("acquire_all", refused(redlock.acquire_all(["r", "s"]).no_timeout().lock()));
        says("try_acquire_all", refused(redlock.try_acquire_all(["r", "s"]).lock()));
        says(
            "run",
            refused(redlock.acquire("r").no_timeout().run(|_| ()).map_err(|e| e.without_result())),
        );
        says("once", once(&redlock));
        says("joined", refused(reentrant.acquire("nested").no_timeout().lock()));
        says("reentrant", refused(reentrant.acquire("r").no_timeout().lock()));
        says("read", refused(rw_lock.read().no_timeout().lock()));
        says("write", refused(rw_lock.write().no_timeout().lock()));
        says("permit", refused(semaphore.acquire().no_timeout().lock()));
        says("available_permits", refused(semaphore.available_permits()));
        says("permits", refused(semaphore.inspect()));
        says("adopt", refused(redlock.adopt(value).lock()));
        says("campaign", refused(election.campaign("me")));
        says("lead", refused(election.run("me", |_| Ok(()))));
        says("leader", refused(election.leader()));
        says("observe", refused(election.observe().next().unwrap()));
        says("inspect", refused(redlock.inspect("r")));
        says("ask", refused(redlock.ask(&inspection)));
        says("force_release", refused(redlock.force_release(&inspection)));
        says("reader", refused(redlock.force_release_reader(&inspection, &reader)));
        says("list", refused(redlock.list("").next().unwrap()));
        says("preflight", refused(redlock.preflight()));
        says("status", refused(redlock.status()));
        says("wait_until_ready", refused(redlock.wait_until_ready(HOUR)));
        says("check", refused(held.check()));
        says("extend", refused(held.extend()));
        says("lost", held.blocking_lost().unwrap().to_string());
        says("lost_within", held.blocking_lost_within(HOUR).unwrap().unwrap().to_string());
        held.blocking_wanted().unwrap();
        assert!(!held.is_valid() && held.remaining().is_zero());
        says("release", refused(released.release()));
        says("detach", refused(detached.detach()));
        says("downgrade", refused(write.downgrade()));
        says("resign", refused(led.resign()));
        says("leave", refused(nested.release()));
        says("shutdown", refused(redlock.shutdown()));
    });
    assert_all_refused(&lines, 39);
    assert!(held.extend().is_ok() && redlock.status().unwrap().count().starts_with("3 "));
    assert_eq!(held.release(), Ok(Released::Confirmed));
    redlock.shutdown().unwrap();
}

fn once(redlock: &Redlock) -> String {
    let ran: Result<Ran<()>, OnceError<(), String>> = redlock.once("r", PERIOD).run(|_| Ok(()));
    refused(
        ran.map_err(|error| error.into_failed().unwrap_err()).map_err(|error| error.to_string()),
    )
}

#[test]
fn a_fork_that_connects_is_another_client() {
    let masters = Masters::start(3);
    let redlock = connect(&masters);
    let held = redlock.acquire("held").lock().unwrap();
    let lines = in_a_fork(|say| {
        let own = connect(&masters);
        say(&refused(own.try_acquire("held").lock()));
        own.acquire("another").run(|_| say("alone")).unwrap();
        own.shutdown().unwrap();
    });
    assert!(lines[0].contains("is held by "), "{lines:?}");
    assert_eq!(lines[1..], ["alone"]);
    assert_eq!(held.release(), Ok(Released::Confirmed));
}

/// A fork shares the event descriptors by which threads of the parent are woken. Their own timers write to these, too, so
/// one try of several counts.
#[test]
fn what_is_dropped_in_a_fork_releases_nothing_and_wakes_no_thread_of_the_parent() {
    let masters = Masters::start(3);
    let redlock = connect(&masters);
    let held = RefCell::new(Some(redlock.acquire("held").keep_alive().lock().unwrap()));
    let warm = RefCell::new(Some(redlock.acquire("warm").keep_warm(WARM).lock().unwrap()));
    let forgotten = RefCell::new(Some(redlock.acquire("forgotten").lock().unwrap()));
    let redlock = RefCell::new(Some(redlock));
    let wakes = || {
        let lines = in_a_fork(|say| {
            let before = wake_ups();
            _ = warm.take().unwrap().release();
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
