//! Workers that compete for one lock, and what they do under it.

use crate::floor::{Floor, Visit};
use crate::news::Tone;
use crate::tally::millis;
use quorumlock::error::ExtendError;
use quorumlock::{Guard, Redlock, Released};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use tokio::time::sleep;

pub(crate) const WORKERS: usize = 6;
pub(crate) const RESOURCE: &str = "demo:counter";
/// Short, so that a master that comes back empty need not stay away for long.
pub(crate) const TTL: Duration = Duration::from_secs(2);

/// Time between reading and writing the counter.
const SECTION: Duration = Duration::from_millis(160);
const BETWEEN: Duration = Duration::from_millis(40);
/// Bound on a stay: the worker is notified of a loss before that, or must leave.
const LONGEST_STAY: Duration = Duration::from_secs(8);
const EXTENDS_EVERY: Duration = Duration::from_millis(600);

/// Runs one worker. Without a `redlock`, it enters without asking.
pub(crate) async fn work(floor: Arc<Floor>, worker: usize, redlock: Option<Redlock>) {
    while !floor.closed.load(SeqCst) {
        if let Some(redlock) = &redlock {
            under_the_lock(&floor, worker, redlock).await;
            floor.pause(BETWEEN).await;
        } else {
            let visit = floor.enter(worker, None);
            sleep(SECTION).await;
            visit.write();
            sleep(BETWEEN).await;
        }
    }
}

async fn under_the_lock(floor: &Floor, worker: usize, redlock: &Redlock) {
    floor.waiting.fetch_add(1, SeqCst);
    let announce = async { floor.note_ask(worker) };
    let (asked, ()) = tokio::join!(redlock.acquire(RESOURCE).into_future(), announce);
    floor.waiting.fetch_sub(1, SeqCst);
    let guard = match asked {
        Ok(guard) => guard,
        Err(error) => {
            floor.note_failure();
            return floor.news.tell(Tone::Bad, format!("worker {worker}: {error}"));
        }
    };
    let visit = floor.enter(worker, Some(guard.lease()));
    if floor.stay.swap(false, SeqCst) {
        stay(floor, worker, &guard).await;
    } else {
        sleep(SECTION).await;
    }
    write(floor, worker, &guard, visit);
    if let Ok(Released::Unconfirmed(_)) = guard.release().await {
        let what = "too few masters confirmed the release in time";
        floor.news.tell(Tone::Trouble, format!("worker {worker}: {what}"));
    }
}

/// Performs the side effect, but only after a last look at the lock.
fn write(floor: &Floor, worker: usize, guard: &Guard, visit: Visit<'_>) {
    match guard.check() {
        Ok(_left) => visit.write(),
        Err(lost) => {
            drop(visit);
            floor.news.tell(Tone::Trouble, format!("worker {worker} writes nothing: {lost}"));
        }
    }
}

/// Stays for a long section: extends the lock repeatedly until it is lost.
async fn stay(floor: &Floor, worker: usize, guard: &Guard) {
    floor.stays.notify_one();
    let what = format!("worker {worker} stays inside, and extends the lock again and again");
    floor.news.tell(Tone::Calm, what);
    let end = sleep(LONGEST_STAY);
    tokio::pin!(end);
    let mut deadline = Instant::now();
    let mut complained = false;
    loop {
        let now = Instant::now();
        if let Ok(left) = guard.check() {
            deadline = now + left;
        }
        tokio::select! {
            _lost = guard.lost() => return report_loss(floor, worker, deadline),
            () = &mut end => return,
            extended = extend_later(guard) => if !extended && !complained {
                complained = true;
                let what = format!("worker {worker} can no longer extend: its deadline stands");
                floor.news.tell(Tone::Trouble, what);
            }
        }
    }
}

/// Returns `false` if too few masters confirm. `lost()` reports a loss.
async fn extend_later(guard: &Guard) -> bool {
    sleep(EXTENDS_EVERY).await;
    !matches!(guard.extend().await, Err(ExtendError::Unextended(_)))
}

fn report_loss(floor: &Floor, worker: usize, deadline: Instant) {
    let now = Instant::now();
    let (early, late) = (deadline.saturating_duration_since(now), now - deadline.min(now));
    floor.note_loss(late);
    let when = if early.is_zero() {
        format!("{} after its deadline", millis(late))
    } else {
        format!("{} before its deadline: a quorum is known to be gone", millis(early))
    };
    floor.news.tell(Tone::Good, format!("worker {worker} learns of its loss {when}"));
}
