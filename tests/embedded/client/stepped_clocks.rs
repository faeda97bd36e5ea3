//! The clocks of masters step while locks are held, and what follows takes its time: the restart guard uses a
//! master's uptime, which follows its clock, and keys live by that clock. On real servers:
//! `tests/redis/stepped_clocks.rs`.

use super::prelude::*;
use crate::proxy::{self, in_front_of};
use crate::support::proxy::Cut;
use crate::support::reports::warming;
use quorumlock::error::LossReason;
use quorumlock::report::{Answer, Refusal};
use quorumlock::{FencingToken, FencingWindow, Redlock, RedlockBuilder, Released, RestartGuard};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, SystemTime};

/// Longest time between two heartbeats: at each, the master reports its uptime again.
const HEARTBEAT: Duration = Duration::from_secs(13);
/// The ttl of a lock that expires.
const SHORT: Duration = Duration::from_secs(4);
const AN_HOUR: Duration = Duration::from_secs(3_600);
/// Distance from the masters' clocks, each way.
const WINDOW: Duration = Duration::from_millis(500);

/// In seconds, the unit in which masters' clocks are set.
const HOUR: i64 = 3_600;

/// The clocks of masters: how far each is ahead, in seconds.
struct Clocks(Vec<Arc<AtomicI64>>);

impl Clocks {
    /// Gives each master a clock that can step.
    async fn of(masters: &[Master]) -> Self {
        let mut clocks = Vec::new();
        for master in masters {
            let time = witness::ask::<(u64, u64)>(master, &redis::cmd("TIME")).await.unwrap();
            let since = Duration::from_secs(time.0) + Duration::from_micros(time.1);
            let (began, ahead) = (Instant::now(), Arc::new(AtomicI64::new(0)));
            clocks.push(ahead.clone());
            master.set_clock(move || {
                let right = SystemTime::UNIX_EPOCH + since + began.elapsed();
                let seconds = ahead.load(SeqCst);
                let step = Duration::from_secs(seconds.unsigned_abs());
                if seconds < 0 { right - step } else { right + step }
            });
        }
        Self(clocks)
    }

    fn set(&self, which: Range<usize>, ahead: i64) {
        self.0[which].iter().for_each(|clock| clock.store(ahead, SeqCst));
    }
}

async fn connect(builder: RedlockBuilder) -> Redlock {
    builder.connect().await.unwrap()
}

async fn two(masters: &Masters) -> [Redlock; 2] {
    [connect(masters.builder()).await, connect(masters.builder()).await]
}

/// Turns the guard on: it lasts for the longest ttl, and its drift.
fn guarded(builder: RedlockBuilder, max_ttl: Duration) -> RedlockBuilder {
    let builder = builder.restart_guard(RestartGuard::On).ttl(max_ttl).max_ttl(max_ttl);
    builder.fencing_window(FencingWindow { back: WINDOW, ahead: WINDOW })
}

async fn refused_as_young(redlock: &Redlock) -> Vec<Duration> {
    match redlock.try_acquire("r").await {
        Ok(_) => Vec::new(),
        Err(error) => warming(error.nodes()),
    }
}

/// A quorum comes back empty under a lock, and its clocks are set forward right after that.
#[tokio::test(start_paused = true)]
async fn masters_set_forward_after_a_restart_look_old_to_new_clients() {
    let masters = Masters::start(3);
    let clocks = Clocks::of(&masters).await;
    let holder = connect(guarded(masters.builder(), LONG)).await;
    let before = connect(guarded(masters.builder(), LONG)).await;
    let guard = holder.acquire("r").await.unwrap();
    let all = async || witness::holders(&masters, "r").await.len() == 3;
    eventually("every master has the key", SOON, all).await;
    masters[0].restart();
    masters[1].restart();
    let young = async || refused_as_young(&before).await.len() == 2;
    eventually("it has met them after their restart", SOON, young).await;
    clocks.set(0..2, HOUR);
    let stepped = Instant::now();

    let newcomer = connect(guarded(masters.builder(), LONG)).await;
    let second = newcomer.try_acquire("r").ttl(1_000 * MS).await.unwrap();
    assert!(second.is_valid() && guard.is_valid(), "two holders");
    second.release().await.unwrap();
    // A client that has met them before does not accept that they are older by an hour.
    while stepped.elapsed() < HEARTBEAT {
        assert!(!refused_as_young(&before).await.is_empty());
        tokio::time::sleep(50 * MS).await;
    }
}

#[tokio::test(start_paused = true)]
async fn masters_set_back_look_young_only_to_new_clients() {
    const GUARD: Duration = Duration::from_secs(6);
    let masters = Masters::start(3);
    let clocks = Clocks::of(&masters).await;
    masters.iter().for_each(|master| master.set_uptime(AN_HOUR));
    let proxies = in_front_of(&masters);
    let known = connect(guarded(proxy::builder(&proxies), GUARD)).await;
    assert!(known.try_acquire("s").await.is_ok(), "they are old");
    tokio::time::sleep(GUARD + GUARD / 10).await;
    // They report a negative uptime.
    clocks.set(0..3, -2 * HOUR);
    assert!(witness::info(&masters[0], "server").await["uptime_in_seconds"].starts_with('-'));
    proxies.iter().for_each(|proxy| proxy.cut(Cut::Reset));

    let newcomer = connect(guarded(masters.builder(), GUARD)).await;
    let asked = Instant::now();
    let waits = refused_as_young(&newcomer).await;
    assert_eq!(waits.len(), 3, "{waits:?}");
    // From the time it met them, and not for an hour.
    assert!(waits.iter().all(|left| *left <= GUARD + GUARD / 50), "{waits:?}");
    let voting = async || known.try_acquire("s").await.is_ok();
    eventually("who met them before has their votes, on new connections", SOON, voting).await;
    assert!(asked.elapsed() < waits[0], "after {:?}", asked.elapsed());
    newcomer.acquire("r").timeout(3 * GUARD).await.unwrap().release().await.unwrap();
    assert!(asked.elapsed() + 500 * MS > waits[0], "after {:?}", asked.elapsed());
}

/// If the lock is kept alive, that lasts until the next extension, a third of the ttl.
#[tokio::test(start_paused = true)]
async fn a_holder_that_is_kept_alive_is_notified_at_its_next_extension() {
    let masters = Masters::start(3);
    let clocks = Clocks::of(&masters).await;
    let [ours, theirs] = two(&masters).await;
    let guard = ours.acquire("r").ttl(LONG).keep_alive().await.unwrap();
    everywhere(&masters, "r").await;
    let stepped = Instant::now();
    clocks.set(0..2, HOUR);
    let _second = theirs.try_acquire("r").ttl(LONG).await.unwrap();
    let lost = tokio::time::timeout(LONG, guard.lost()).await.unwrap();
    assert!(matches!(lost.reason, LossReason::QuorumGone(_)), "{lost}");
    assert!(stepped.elapsed() < LONG / 2, "after {:?}", stepped.elapsed());
}

/// No client releases it. It stays closed for as long as the clocks were set back, or until an
/// operator takes it away from the client that is gone.
#[tokio::test(start_paused = true)]
async fn a_dead_holder_keeps_a_set_back_quorum_closed_for_the_step() {
    let masters = Masters::start(3);
    let clocks = Clocks::of(&masters).await;
    let [ours, theirs] = two(&masters).await;
    let left = ours.acquire("r").ttl(SHORT).await.unwrap();
    everywhere(&masters, "r").await;
    let lease = left.lease();
    left.forget();
    clocks.set(0..2, -HOUR);
    let refused = theirs.acquire("r").timeout(2 * SHORT).await.unwrap_err();
    assert!(refused.is_contended(), "{refused}");
    assert!(!lease.is_valid());
    assert_eq!(witness::holders(&masters, "r").await, [0, 1], "the third one's has expired");
    let inspection = theirs.inspect("r").await.unwrap();
    let remaining = inspection.holder().expect("a holder").remaining().expect("an end");
    assert!(remaining > AN_HOUR - Duration::from_secs(60), "{remaining:?}");
    theirs.force_release(&inspection).await.unwrap();
    assert!(theirs.try_acquire("r").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_minority_that_was_set_back_keeps_no_client_waiting() {
    let masters = Masters::start(5);
    let clocks = Clocks::of(&masters).await;
    let [ours, theirs] = two(&masters).await;
    let left = ours.acquire("r").ttl(SHORT).await.unwrap();
    everywhere(&masters, "r").await;
    left.forget();
    clocks.set(0..2, -HOUR);
    let guard = theirs.acquire("r").ttl(LONG).timeout(LONG).await.unwrap();
    assert_eq!(
        witness::holders(&masters, "r").await.len(),
        5,
        "the dead one's on two, ours on three"
    );
    let values = witness::values(&masters, "r").await;
    assert_ne!(values[0], values[2], "{values:?}");
    // It goes on with three: the other two never expire.
    guard.extend().await.unwrap();
    assert_eq!(guard.release().await, Ok(Released::Confirmed));
}

/// Wins the lock and releases it at once.
async fn win(redlock: &Redlock) -> FencingToken {
    let guard = redlock.acquire("r").timeout(LONG).fenced().await.unwrap();
    let token = guard.fencing_token();
    guard.release().await.unwrap();
    token
}

#[tokio::test(start_paused = true)]
async fn clocks_set_back_further_close_fenced_locks_until_caught_up() {
    let masters = Masters::start(3);
    let clocks = Clocks::of(&masters).await;
    let builder = masters.builder().fencing_window(FencingWindow { back: WINDOW, ahead: WINDOW });
    let redlock = connect(builder).await;
    let began = Instant::now();
    let before = win(&redlock).await;
    let back = Duration::from_secs(6);
    clocks.set(0..3, -6);
    let refused = redlock.try_acquire("r").fenced().await.unwrap_err();
    let is_stale = |answer: &Answer| *answer == Answer::Refused(Refusal::Stale);
    assert!(refused.nodes().iter().filter(|node| is_stale(&node.answer)).count() >= 2, "{refused}");
    let after = win(&redlock).await;
    let closed = began.elapsed();
    assert!(after > before, "{after:?} after {before:?}");
    assert!(closed + WINDOW + 100 * MS > back, "after {closed:?}");
}
