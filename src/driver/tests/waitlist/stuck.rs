//! A lock that is free at a quorum goes to one of those that wait for it, whatever one master says, and whoever is dead
//! or stopped in front.

use super::fate::{Fate, Fates};
use super::*;
use std::any::Any;

const TTL: Duration = Duration::from_secs(3);
const CAP: Duration = Duration::from_millis(250);

/// How long a lock that is free at a quorum stays free, at most, where its key is stuck at the master of its list, and so
/// many in front are dead or stopped (`core/src/waiting/tuning.rs`).
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
                let acquire = $acquire.timeout(Duration::MAX).keep_alive();
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
const FAIR: What = what!(redlock, redlock.acquire(KEY).fair(true), KEY, KEY);
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
            assert!(one <= most && other <= one + bound(0), "{what}");
        }
    }
}

/// Behind so many, a pause is longer than what a holder's death may cost.
const CROWD: usize = 100;

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
                assert!(one <= most && other <= one + bound(0), "{case}");
            }
        }
    }
}

/// Those in front reach the master of the list, and no quorum.
#[tokio::test(start_paused = true)]
async fn no_waiter_that_could_not_win_keeps_out_those_behind_it() {
    let masters = three();
    let first = first_node(&masters, KEY).await;
    let holder = connect(masters.builder().ttl(TTL)).await;
    let held = holder.acquire(KEY).keep_alive().await.unwrap();
    let fates = Fates::new();
    let mut in_front = Vec::new();
    for _ in 0..5 {
        let client = connect(fates.builder(&masters, |node| node != first).ttl(TTL)).await;
        in_front.push(tokio::spawn(async move { (LOCK.acquire)(&client).await }));
    }
    sleep(SECOND).await;
    let last = connect(masters.builder().ttl(TTL)).await;
    let last = tokio::spawn(async move { (LOCK.acquire)(&last).await });
    sleep(SECOND).await;
    fates.become_all(Fate::Stops);
    operate(&masters[first], &["SET", KEY, "x"]).await;
    held.release().await.unwrap();
    let freed = now();
    let _last = last.await.unwrap();
    let waited = now().since(freed);
    // Those in front find first that they reach no quorum.
    assert!(waited <= bound(5) + 5 * SECOND, "{waited:?}");
}

/// Returns how many sections there are in a second while another party's key is at this master.
async fn speed_with_a_key_at(at_first: bool, what: What) -> u32 {
    let masters = three();
    let first = first_node(&masters, what.channel).await;
    let node = if at_first { first } else { (first + 1) % 3 };
    let sections = Arc::new(AtomicUsize::new(0));
    for _ in 0..12 {
        let client = connect(masters.builder()).await;
        let sections = sections.clone();
        tokio::spawn(async move {
            loop {
                let guard = (what.acquire)(&client).await;
                sleep(20 * MS).await;
                sections.fetch_add(1, SeqCst);
                drop(guard);
                sleep(5 * MS).await;
            }
        });
    }
    sleep(2 * SECOND).await;
    operate(&masters[node], &["SET", what.key, "x"]).await;
    let list = format!("quorumlock:waitlist:{}", what.channel);
    operate(&masters[first], &["ZADD", &list, "1", "a", "2", "b", "3", "c", "4", "d"]).await;
    sleep(12 * SECOND).await;
    let before = sections.load(SeqCst);
    sleep(10 * SECOND).await;
    u32::try_from(sections.load(SeqCst) - before).unwrap() / 10
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_stuck_at_the_lists_master_costs_no_more_than_at_another() {
    for what in [LOCK, PERMIT] {
        let elsewhere = speed_with_a_key_at(false, what).await;
        let at_first = speed_with_a_key_at(true, what).await;
        assert!(
            10 * at_first >= 9 * elsewhere,
            "{at_first} at the list's master, {elsewhere} elsewhere"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn those_that_are_overdue_are_not_counted() {
    let masters = three();
    let fates = [Fates::new(), Fates::new()];
    let holder = connect(masters.builder()).await;
    let _held = holder.acquire(KEY).keep_alive().await.unwrap();
    let mut waiting = Vec::new();
    for fates in &fates {
        for _ in 0..20 {
            let client = connect(fates.builder(&masters, |_| true)).await;
            waiting.push(tokio::spawn(async move { (LOCK.acquire)(&client).await }));
        }
    }
    sleep(SECOND).await;
    let counted = async || {
        let inspected = holder.inspect(KEY).await.unwrap().waiting().unwrap();
        let listed = holder.list(KEY).next().await.unwrap().unwrap().waiting();
        (inspected, listed)
    };
    assert_eq!(counted().await.0, 40);
    fates[0].become_all(Fate::Dies);
    sleep(7 * SECOND).await;
    let half = counted().await;
    fates[1].become_all(Fate::Stops);
    sleep(7 * SECOND).await;
    assert_eq!((half.0, counted().await.0), (20, 0));
    // A list of locks counts those that listen, too, as far as the master knows.
    assert_eq!(half.1, Some(20));
}
