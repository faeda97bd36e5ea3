//! The real driver, over embedded masters in memory, on tokio's paused clock: time passes only when
//! every task waits, so each of these tests is exact and takes milliseconds.

mod adopted_late;
mod asking;
mod at_least;
mod batches;
mod busy;
mod cancelled;
mod connecting;
mod contended;
mod credentials;
mod deadlines;
mod departures;
mod dropped;
mod endings;
mod fenced_warm;
mod held_up;
mod idle;
mod keeping;
mod listening;
mod lookers;
mod own;
mod readers;
mod readiness;
mod regained;
mod restarts;
mod semaphores;
mod shelf;
mod storms;
mod strays;
mod tap;
mod torn;
mod trusted;
mod unfit;
mod unread;
mod waitlist;
mod warm;

use super::Driver;
use super::clock::Clock;
use crate::embedded::{Master, Masters};
use crate::{ExtendError, Guard, Lost, Redlock, RedlockBuilder};
use quorumlock_core::pace::Backoff;
use quorumlock_core::quorum::Instant;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const TTL: Duration = Duration::from_secs(10);
/// The part of that ttl that a holder may rely on: 1 % and 2 ms are drift.
const VALIDITY: Duration = Duration::from_millis(9_898);
const OPERATION_TIMEOUT: Duration = Duration::from_millis(200);
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
const KEY: &str = "orders:42";

/// Starts five masters, on the same time as everything else here.
fn five() -> Masters {
    on_the_same_time(Masters::start_in_memory(5).unwrap())
}

fn on_the_same_time(masters: Masters) -> Masters {
    for master in masters.iter() {
        let since = || Duration::from_nanos(Clock::tokio().now().as_nanos());
        master.set_clock(move || SystemTime::UNIX_EPOCH + since());
    }
    masters
}

async fn connect(builder: RedlockBuilder) -> Redlock {
    builder.connect_on(Clock::tokio()).await.unwrap()
}

async fn five_and_client() -> (Masters, Redlock) {
    let masters = five();
    let redlock = connect(masters.builder()).await;
    (masters, redlock)
}

fn now() -> Instant {
    Clock::tokio().now()
}

/// Waits until the moment is over at which a process leaves what it holds to others (`core/src/waiting/left.rs`). It comes
/// each 57 of the longest pauses on the clock of the process, whenever a test begins.
async fn pass_the_moment() {
    let apart = 57 * Backoff::default().cap;
    let since = u128::from(now().as_nanos()) % apart.as_nanos();
    sleep(apart + SECOND - Duration::from_nanos(since as u64)).await;
}

/// Lets every task finish what it can do now; time does not pass before that.
async fn settle() {
    sleep(MS).await;
}

/// Returns which masters hold the lock.
fn holders(masters: &Masters) -> Vec<usize> {
    (0..masters.len()).filter(|&node| masters[node].holder(KEY).is_some()).collect()
}

fn assert_no_keys(masters: &Masters, claim: &str) {
    for (node, master) in masters.iter().enumerate() {
        assert_eq!(master.keys(), [""; 0], "{claim}: master {node}");
    }
}

/// Sends a command of an operator, over a separate connection.
async fn operate(master: &Master, words: &[&str]) {
    let mut connection = master.dialer()().await.unwrap();
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    connection.write_all(&command.get_packed_command()).await.unwrap();
    let mut reply = [0; 64];
    let len = connection.read(&mut reply).await.unwrap();
    assert!(len > 0 && reply[0] != b'-', "{words:?}: {}", String::from_utf8_lossy(&reply[..len]));
}

async fn not_extended(guard: &Guard) -> Lost {
    match guard.extend().await {
        Err(ExtendError::Lost(lost)) => lost,
        other => panic!("{other:?}"),
    }
}

/// Counts the tasks that have not ended: the driver, dials, and one for each connection at its
/// master.
fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// A driver that can be observed while it runs.
struct Observed {
    driver: Arc<Mutex<Option<Driver>>>,
    polls: Arc<AtomicUsize>,
}

impl Observed {
    async fn connect(builder: RedlockBuilder) -> (Redlock, Self) {
        let (redlock, driver, connected) = builder.on_clock(Clock::tokio()).prepare().unwrap();
        let driver = Arc::new(Mutex::new(Some(driver)));
        let observed = Self { driver: driver.clone(), polls: Arc::default() };
        let polls = observed.polls.clone();
        tokio::spawn(poll_fn(move |cx| {
            polls.fetch_add(1, SeqCst);
            let mut place = driver.lock().unwrap();
            let polled = Pin::new(place.as_mut().unwrap()).poll(cx);
            if polled.is_ready() {
                *place = None;
            }
            polled
        }));
        connected.await.unwrap().unwrap();
        redlock.driver.in_use();
        (redlock, observed)
    }

    fn polls(&self) -> usize {
        self.polls.load(SeqCst)
    }

    /// Returns for how long its process leaves a key to others.
    fn leaves_for(&self, key: &str) -> Duration {
        let driver = self.driver.lock().unwrap();
        let until = driver.as_ref().unwrap().machine.left_until(now(), key);
        until.map_or(Duration::ZERO, |until| until.since(now()))
    }

    /// Breaks what must hold in its machine.
    fn breaks(&self) {
        let mut driver = self.driver.lock().unwrap();
        driver.as_mut().unwrap().machine.break_invariant();
    }

    /// Counts the callers, requests and debts that the driver and its machine remember.
    fn remembered(&self) -> usize {
        let driver = self.driver.lock().unwrap();
        let driver = driver.as_ref().unwrap();
        driver.callers.entries() + driver.machine.entries() + driver.machine.masters().debts()
    }
}
