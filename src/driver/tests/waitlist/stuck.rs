//! A lock that is free at a quorum goes to one of those that wait for it, whatever one master says, and whoever is dead
//! or stopped in front.

use super::fate::{Fate, Fates};
use super::*;
use std::any::Any;

const TTL: Duration = Duration::from_secs(3);
const CAP: Duration = Duration::from_millis(250);

/// How long a lock that is free at a quorum stays free, at most, where its key is stuck at the master of its list, and so
/// many in front are dead or stopped (`core/src/waiting/waitlist/entry.rs`).
fn bound(ahead: u32) -> Duration {
    let overdue = (16 * CAP).max((ahead * CAP / 2).min(120 * CAP)) + SECOND;
    let learns = (8 * CAP).max((ahead * CAP / 4).min(60 * CAP));
    overdue + learns + 16 * CAP
}

fn three() -> Masters {
    let masters = on_the_same_time(Masters::start_in_memory(3).unwrap());
    masters.iter().for_each(|master| master.set_latency(MS));
    masters
}

/// How a key is stuck at one master.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Stuck {
    /// As by a clock that was set back by an hour.
    ForAnHour,
    ForGood,
    /// Another party has set it.
    ByAnother,
    Nowhere,
}

type Acquiring = Pin<Box<dyn Future<Output = Box<dyn Any + Send>> + Send>>;

/// A kind of lock, as those that wait for it have it.
#[derive(Clone, Copy)]
struct What {
    acquire: fn(&Redlock) -> Acquiring,
    /// What its holder has at each master, and where messages about it come.
    key: &'static str,
    channel: &'static str,
    /// How the holder has it, if not in the same way.
    holder: Option<fn(&Redlock) -> Acquiring>,
}

macro_rules! what {
    ($redlock:ident, $acquire:expr, $key:expr, $channel:expr) => {
        What {
            acquire: |$redlock| {
                let acquire = $acquire.no_timeout().keep_alive();
                Box::pin(async move { Box::new(acquire.await.unwrap()) as Box<dyn Any + Send> })
            },
            key: $key,
            channel: $channel,
            holder: None,
        }
    };
}

const SEMAPHORE: &str = "quorumlock:semaphore:orders:42";
const LOCK: What = what!(redlock, redlock.acquire(KEY), KEY, KEY);
const FAIR: What = what!(redlock, redlock.acquire(KEY).fair(), KEY, KEY);
const FENCED: What = what!(redlock, redlock.acquire(KEY).fenced(), KEY, KEY);
const WRITER: What = what!(redlock, redlock.rw_lock(KEY).write(), KEY, KEY);
const READER: What = What {
    // Its holder is a writer that keeps it out.
    holder: Some(WRITER.acquire),
    ..what!(redlock, redlock.rw_lock(KEY).read(), KEY, KEY)
};
const SEVERAL: What = what!(redlock, redlock.acquire_all([KEY, "other"]), KEY, KEY);
const PERMIT: What =
    what!(redlock, redlock.semaphore(KEY, 1).acquire(), "quorumlock:slot:0:orders:42", SEMAPHORE);

/// Has so many clients wait, which then end so, and two behind them that live. Then the holder dies, where its key is
/// stuck so at the master that all ask first. Returns how long after the holder's death each of the two has the lock.
async fn waited(what: What, ahead: usize, fate: Fate, stuck: Stuck) -> [Duration; 2] {
    let masters = three();
    let first = first_node(&masters, what.channel).await;
    let [holder, in_front] = [(); 2].map(|()| Fates::new());
    let client = async |fates: &Fates| connect(fates.builder(&masters, |_| true).ttl(TTL)).await;
    let held = client(&holder).await;
    let held = what.holder.unwrap_or(what.acquire)(&held).await;
    let mut ended = Vec::new();
    for _ in 0..ahead {
        let client = client(&in_front).await;
        ended.push(tokio::spawn(async move { (what.acquire)(&client).await }));
    }
    sleep(SECOND).await;
    let (done, mut served) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..2 {
        let (client, done) = (connect(masters.builder().ttl(TTL)).await, done.clone());
        tokio::spawn(async move {
            let guard = (what.acquire)(&client).await;
            done.send(now()).unwrap();
            drop(guard);
            let _released = client.shutdown().await;
        });
        sleep(100 * MS).await;
    }
    sleep(2 * SECOND).await;
    in_front.become_all(fate);
    sleep(SECOND).await;
    match stuck {
        Stuck::ForAnHour => operate(&masters[first], &["PEXPIRE", what.key, "3600000"]).await,
        Stuck::ForGood => {
            let value = masters[first].holder(what.key).unwrap();
            operate(&masters[first], &["SET", what.key, &value]).await;
        }
        Stuck::ByAnother => operate(&masters[first], &["SET", what.key, "x"]).await,
        Stuck::Nowhere => {}
    }
    let keys = masters[first].keys();
    println!("{keys:?}");
    assert!(keys.iter().any(|key| key == what.key), "{keys:?}");
    holder.become_all(Fate::Dies);
    let died = now();
    let mut times = [Duration::MAX; 2];
    for time in &mut times {
        let within = tokio::time::timeout(120 * SECOND, served.recv()).await;
        *time = within.map_or(Duration::MAX, |at| at.unwrap().since(died));
    }
    drop((held, ended));
    times
}

#[tokio::test(start_paused = true)]
async fn no_key_that_is_stuck_at_the_lists_master_keeps_out_those_behind_the_dead() {
    for stuck in [Stuck::ForAnHour, Stuck::ForGood, Stuck::ByAnother] {
        for (ahead, fate) in [
            (0, Fate::Dies),
            (4, Fate::Dies),
            (100, Fate::Dies),
            (4, Fate::Stops),
            (100, Fate::Stops),
        ] {
            let [one, other] = waited(LOCK, ahead, fate, stuck).await;
            let most = TTL + bound(ahead as u32);
            let what = format!("{ahead} in front, {fate:?}, {stuck:?}: {one:?}, {other:?}");
            println!("{what}, within {most:?}");
            assert!(one <= most && other <= one + bound(0), "{what}");
        }
    }
}

/// Behind so many, each waiter pauses as long as behind any more.
const CROWD: usize = 260;

#[tokio::test(start_paused = true)]
async fn a_holder_that_dies_costs_its_ttl_and_a_moment_behind_a_crowd_that_is_dead_or_stopped() {
    for fate in [Fate::Dies, Fate::Stops] {
        for what in [LOCK, PERMIT] {
            let [one, _] = waited(what, CROWD, fate, Stuck::Nowhere).await;
            assert!(one <= TTL + 3 * SECOND, "{fate:?}: {one:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_lock_of_another_kind_is_kept_by_a_stuck_key_or_those_in_front() {
    for (name, what) in [
        ("permit", PERMIT),
        ("fenced", FENCED),
        ("fair", FAIR),
        ("writer", WRITER),
        ("several", SEVERAL),
        ("reader", READER),
    ] {
        for (ahead, fate) in [(0, Fate::Dies), (5, Fate::Dies), (5, Fate::Stops)] {
            for stuck in [Stuck::ForAnHour, Stuck::ByAnother] {
                let [one, other] = waited(what, ahead, fate, stuck).await;
                let most = TTL + bound(ahead as u32);
                let case =
                    format!("{name}: {ahead} in front, {fate:?}, {stuck:?}: {one:?}, {other:?}");
                println!("{case}, within {most:?}");
                assert!(one <= most && other <= one + bound(0), "{case}");
            }
        }
    }
}
