//! A client that polls has its turn where another process takes the same again and again.

use super::*;
use crate::embedded::Memory;
use crate::kind::Kind;
use std::pin::pin;

/// How long each guard is held.
const WORK: Duration = Duration::from_millis(10);

/// What is held at one moment in 57 of the longest pause of a client that polls is left for such a pause and an eighth,
/// once it is given back (`core/src/waiting/tuning.rs`). Such a client meets that.
const BOUND: Duration = Duration::from_millis(60 * 250);

type Acquiring = Pin<Box<dyn Future<Output = Box<dyn Held>> + Send>>;
type What = fn(&Redlock) -> Acquiring;

trait Held: Send {
    /// Ends it after work that has ended well.
    fn ends(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

impl<K: Kind> Held for Guard<K> {
    fn ends(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move { drop(self.release().await) })
    }
}

macro_rules! what {
    ($redlock:ident, $acquire:expr) => {
        |$redlock| {
            let acquire = $acquire;
            Box::pin(async move { Box::new(acquire.await.unwrap()) as Box<dyn Held> })
        }
    };
}

const LOCK: What = what!(redlock, redlock.acquire(KEY).timeout(Duration::MAX));
const WARM: What =
    what!(redlock, redlock.acquire(KEY).keep_warm(2 * SECOND).timeout(Duration::MAX));
const FENCED: What =
    what!(redlock, redlock.acquire(KEY).fenced().keep_warm(2 * SECOND).timeout(Duration::MAX));
const SEVERAL: What = what!(redlock, redlock.acquire_all([KEY, "other"]).timeout(Duration::MAX));
const WRITER: What = what!(redlock, redlock.rw_lock(KEY).write().timeout(Duration::MAX));
const READER: What = what!(redlock, redlock.rw_lock(KEY).read().timeout(Duration::MAX));
const PERMIT: What = what!(redlock, redlock.semaphore(KEY, 1).acquire().timeout(Duration::MAX));
const PERMIT_OF_TWO: What =
    what!(redlock, redlock.semaphore(KEY, 2).acquire().timeout(Duration::MAX));

const FAIR: What = what!(redlock, redlock.acquire(KEY).fair(true).timeout(Duration::MAX));
const FAIR_PERMIT: What =
    what!(redlock, redlock.semaphore(KEY, 1).acquire().fair(true).timeout(Duration::MAX));
const STAYS: What = what!(redlock, redlock.acquire(KEY).min_hold(30 * MS).timeout(Duration::MAX));
const FAIR_STAYS: What =
    what!(redlock, redlock.acquire(KEY).fair(true).min_hold(30 * MS).timeout(Duration::MAX));

/// Why no message reaches a waiter.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Deaf {
    Elsewhere,
    All,
    Denied(&'static str),
}

impl Deaf {
    fn masters(self) -> Masters {
        let masters = on_the_same_time(Masters::start_in_memory(3).unwrap());
        for master in masters.iter() {
            master.set_latency(MS / 2);
            if let Self::Denied(right) = self {
                master.deny(&[right]).unwrap();
            }
        }
        masters
    }

    async fn client(self, masters: &Masters, is_busy: bool) -> Redlock {
        let builder = masters.builder().ttl(TTL);
        connect(match self {
            Self::Elsewhere if !is_busy => builder.wake_ups(false),
            Self::All => builder.wake_ups(false),
            _ => builder,
        })
        .await
    }
}

/// When a section began last, and what was lost of the time since the first.
struct Sections {
    last: Instant,
    lost: Duration,
}

/// Has so many tasks of one process have this again and again.
fn keep_busy(redlock: &Redlock, what: What, tasks: usize) -> Arc<Mutex<Sections>> {
    let sections = Arc::new(Mutex::new(Sections { last: now(), lost: Duration::ZERO }));
    for _ in 0..tasks {
        let (redlock, sections) = (redlock.clone(), sections.clone());
        tokio::spawn(async move {
            loop {
                let guard = what(&redlock).await;
                {
                    let mut sections = sections.lock().unwrap();
                    let lost = now().since(sections.last).saturating_sub(WORK + MS);
                    // A timer is up to 1 ms late.
                    sections.lost += Some(lost).filter(|lost| *lost > 4 * MS).unwrap_or_default();
                    sections.last = now();
                }
                sleep(WORK).await;
                guard.ends().await;
            }
        });
    }
    sections
}

/// Returns how long a client waits for a process with so many tasks, the longer of two times.
async fn waits(deaf: Deaf, (busy, tasks): (What, usize), waits_for: What) -> Duration {
    let masters = deaf.masters();
    let [process, other] = [deaf.client(&masters, true).await, deaf.client(&masters, false).await];
    keep_busy(&process, busy, tasks);
    sleep(2 * SECOND).await;
    let mut longest = Duration::ZERO;
    for _ in 0..2 {
        let asked = now();
        let waited = tokio::time::timeout(60 * SECOND, waits_for(&other)).await;
        longest = longest.max(waited.map_or(Duration::MAX, |_| now().since(asked)));
        sleep(137 * MS).await;
    }
    longest
}

const ALL: [Deaf; 5] = [
    Deaf::Elsewhere,
    Deaf::All,
    Deaf::Denied("publish"),
    Deaf::Denied("subscribe"),
    Deaf::Denied("zadd"),
];

const SOME: [Deaf; 2] = [Deaf::All, Deaf::Denied("publish")];

async fn is_served(deaf: &[Deaf], cases: &[(What, usize)], waits_for: What) {
    for deaf in deaf.iter().copied() {
        for (case, of) in cases.iter().copied().enumerate() {
            let waited = waits(deaf, of, waits_for).await;
            assert!(waited <= BOUND, "{deaf:?}, case {case}: {waited:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_has_its_turn_where_one_task_is_busy() {
    is_served(&ALL, &[(LOCK, 1)], LOCK).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_has_its_turn_where_several_tasks_are_busy() {
    is_served(&ALL, &[(LOCK, 4)], LOCK).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_has_its_turn_where_a_lock_is_kept_warm() {
    is_served(&ALL, &[(WARM, 1), (WARM, 4), (FENCED, 1)], LOCK).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_has_its_turn_among_all_kinds_of_locks() {
    is_served(&SOME, &[(SEVERAL, 4)], SEVERAL).await;
    is_served(&SOME, &[(WRITER, 1), (WRITER, 4)], WRITER).await;
    is_served(&SOME, &[(WRITER, 4)], READER).await;
    is_served(&SOME, &[(READER, 4)], WRITER).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_has_its_turn_at_a_permit() {
    is_served(&ALL, &[(PERMIT, 1), (PERMIT, 4)], PERMIT).await;
    is_served(&SOME, &[(PERMIT_OF_TWO, 4)], PERMIT_OF_TWO).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_has_its_turn_beside_fair_ones() {
    is_served(&ALL[..2], &[(FAIR, 1), (FAIR, 4)], LOCK).await;
    is_served(&ALL, &[(FAIR_PERMIT, 1), (FAIR_PERMIT, 4)], PERMIT).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_has_its_turn_where_keys_stay() {
    is_served(&SOME, &[(STAYS, 1), (STAYS, 4), (FAIR_STAYS, 1), (FAIR_STAYS, 4)], LOCK).await;
}

#[tokio::test(start_paused = true)]
async fn what_one_process_alone_wants_loses_one_part_in_fifty_at_most() {
    const SPAN: Duration = Duration::from_millis(2 * 57 * 250);
    for (what, tasks) in [(LOCK, 1), (LOCK, 4), (WARM, 1), (WRITER, 1), (PERMIT, 1), (PERMIT, 4)] {
        let masters = Deaf::All.masters();
        let process = Deaf::All.client(&masters, true).await;
        let sections = keep_busy(&process, what, tasks);
        sleep(SPAN).await;
        let lost = sections.lock().unwrap().lost;
        assert!(lost > Duration::ZERO && 50 * lost <= SPAN, "{tasks} tasks: {lost:?}");
    }
}

/// Has this at a moment at which it is left to others then, and gives it back.
async fn had_at_the_moment(redlock: &Redlock, what: What) {
    drop(what(redlock).await);
    let guard = what(redlock).await;
    sleep(BOUND).await;
    drop(guard);
}

const KEPT: What = what!(redlock, redlock.acquire(KEY).keep_alive());

#[tokio::test(start_paused = true)]
async fn what_is_left_to_others_is_there_for_one_that_does_not_wait() {
    const SLOT: What = what!(redlock, redlock.semaphore(KEY, 1).acquire().keep_alive());
    const ONCE: What = what!(redlock, redlock.acquire(KEY).timeout(Duration::ZERO));
    const SLOT_ONCE: What =
        what!(redlock, redlock.semaphore(KEY, 1).acquire().timeout(Duration::ZERO));
    const SHORTLY: What = what!(redlock, redlock.acquire(KEY).timeout(100 * MS));
    let masters = Deaf::All.masters();
    let redlock = Deaf::All.client(&masters, true).await;
    for (had, wants, waits) in [
        (KEPT, LOCK, 281),
        (KEPT, ONCE, 0),
        (KEPT, SHORTLY, 100),
        (SLOT, PERMIT, 281),
        (SLOT, SLOT_ONCE, 0),
    ] {
        had_at_the_moment(&redlock, had).await;
        let asked = now();
        drop(wants(&redlock).await);
        let waited = now().since(asked);
        assert!(waited >= waits * MS && waited < waits * MS + 10 * MS, "{waits}: {waited:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_left_to_others_is_left_whatever_master_comes_back() {
    let masters = Deaf::All.masters();
    let redlock = Deaf::All.client(&masters, true).await;
    had_at_the_moment(&redlock, KEPT).await;
    let asked = now();
    let mut wanted = pin!(LOCK(&redlock));
    assert!(tokio::time::timeout(50 * MS, wanted.as_mut()).await.is_err());
    masters[2].kill();
    masters[2].restart(Memory::Kept).unwrap();
    drop(wanted.await);
    let waited = now().since(asked);
    assert!(waited >= 281 * MS && waited < 291 * MS, "{waited:?}");
}
