//! The place where the workers meet, which records the workers inside. It trusts no lock.

use crate::news::{News, Tone};
use crate::tally::{Ledger, Tally, millis};
use quorumlock::{FencedLease, Lease};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::sleep;

/// Number of messages of one kind to show; more would only scroll by.
const SHOWN: u64 = 3;

pub(crate) struct Floor {
    /// Atomic because Rust requires it; a read followed by a later write is not atomic.
    counter: AtomicU64,
    /// Bit `n` for worker `n`.
    inside: AtomicU64,
    pub(crate) waiting: AtomicUsize,
    pub(crate) closed: AtomicBool,
    /// The next worker to enter must stay.
    pub(crate) stay: AtomicBool,
    pub(crate) stays: Notify,
    holders: AtomicUsize,
    strike: Mutex<Option<Strike>>,
    struck: Notify,
    ledger: Mutex<Ledger>,
    lease: Mutex<Option<Lease>>,
    /// A holder of the last scene, which is shown instead of the workers inside.
    guest: Mutex<Option<(&'static str, FencedLease)>>,
    pub(crate) news: News,
}

type Strike = Box<dyn FnOnce(usize) + Send>;

/// One worker's time inside.
pub(crate) struct Visit<'a> {
    floor: &'a Floor,
    worker: usize,
    invited: bool,
    read: u64,
}

impl Floor {
    pub(crate) fn new(news: News) -> Self {
        Self {
            counter: AtomicU64::new(0),
            inside: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            stay: AtomicBool::new(false),
            stays: Notify::new(),
            holders: AtomicUsize::new(0),
            strike: Mutex::new(None),
            struck: Notify::new(),
            ledger: Mutex::new(Ledger::new()),
            lease: Mutex::new(None),
            guest: Mutex::new(None),
            news,
        }
    }

    /// Enters. Without a lease, the worker enters without the lock.
    pub(crate) fn enter(&self, worker: usize, lease: Option<Lease>) -> Visit<'_> {
        let invited = lease.is_some();
        if invited {
            *locked(&self.lease) = lease;
            self.holders.fetch_add(1, SeqCst);
        }
        let mut ledger = locked(&self.ledger);
        let others = self.inside.fetch_or(1 << worker, SeqCst);
        ledger.end_of_stall();
        if !ledger.quorum {
            ledger.tally.without_quorum += 1;
            if ledger.tally.without_quorum <= SHOWN {
                let what = format!("worker {worker} enters WITHOUT A QUORUM");
                self.news.tell(Tone::Bad, what);
            }
        }
        if others != 0 {
            ledger.tally.overlaps += 1;
            if ledger.tally.overlaps <= SHOWN {
                let others = names(others);
                self.news.tell(Tone::Bad, format!("OVERLAP: worker {worker} beside {others}"));
            }
        }
        if let Some((since, what)) = ledger.awaited_since.take_if(|_| invited) {
            let after = millis(since.elapsed());
            self.news.tell(Tone::Good, format!("worker {worker} has the lock, {after} {what}"));
        }
        Visit { floor: self, worker, invited, read: self.counter.load(SeqCst) }
    }

    /// Pauses between two visits of one worker. While a strike is pending there is no pause, so
    /// that the worker may get the lock that it has just released.
    pub(crate) async fn pause(&self, time: Duration) {
        if locked(&self.strike).is_none() {
            sleep(time).await;
        }
    }

    /// Records that a worker has asked for the lock and has not looked at the answer yet.
    pub(crate) fn note_ask(&self, worker: usize) {
        if self.holders.load(SeqCst) == 0
            && let Some(strike) = locked(&self.strike).take()
        {
            strike(worker);
            self.struck.notify_one();
        }
    }

    /// Runs `strike` in the middle of an acquire of a free lock, with the worker that acquires.
    pub(crate) async fn strike(&self, strike: impl FnOnce(usize) + Send + 'static) {
        *locked(&self.strike) = Some(Box::new(strike));
        self.struck.notified().await;
    }

    /// Reports the next worker to enter.
    pub(crate) fn await_next(&self, what: &'static str) {
        locked(&self.ledger).awaited_since = Some((Instant::now(), what));
    }

    /// From now on no worker may enter.
    pub(crate) fn quorum_is_gone(&self) {
        let mut ledger = locked(&self.ledger);
        ledger.end_of_stall();
        ledger.quorum = false;
    }

    pub(crate) fn quorum_is_back(&self) {
        let mut ledger = locked(&self.ledger);
        ledger.quorum = true;
        ledger.free_since = (self.inside.load(SeqCst) == 0).then(Instant::now);
    }

    pub(crate) fn note_failure(&self) {
        locked(&self.ledger).tally.failed += 1;
    }

    pub(crate) fn note_loss(&self, notified_after: Duration) {
        locked(&self.ledger).tally.notified_after = Some(notified_after);
    }

    /// Lets workers that are inside or waiting finish. No worker asks for the lock again.
    pub(crate) fn close(&self) {
        self.closed.store(true, SeqCst);
        locked(&self.ledger).end_of_stall();
    }

    pub(crate) fn present(&self, guest: &'static str, lease: FencedLease) {
        *locked(&self.guest) = Some((guest, lease));
    }

    pub(crate) fn dismiss(&self) {
        *locked(&self.guest) = None;
    }

    pub(crate) fn note_refusal(&self) {
        locked(&self.ledger).tally.late_write_refused = true;
    }

    pub(crate) fn inside(&self) -> Option<String> {
        if let Some((guest, _)) = &*locked(&self.guest) {
            return Some((*guest).to_owned());
        }
        let inside = self.inside.load(SeqCst);
        (inside != 0).then(|| names(inside))
    }

    /// Remaining validity of the lock that was won last.
    pub(crate) fn validity_left(&self) -> Duration {
        if let Some((_, lease)) = &*locked(&self.guest) {
            return lease.remaining();
        }
        locked(&self.lease).as_ref().map(Lease::remaining).unwrap_or_default()
    }

    pub(crate) fn tally(&self) -> Tally {
        let counter = self.counter.load(SeqCst);
        Tally { counter, ..locked(&self.ledger).tally.clone() }
    }
}

impl Visit<'_> {
    /// Writes back what was read, plus one.
    pub(crate) fn write(self) {
        self.floor.counter.store(self.read + 1, SeqCst);
        locked(&self.floor.ledger).tally.sections += 1;
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let mut ledger = locked(&self.floor.ledger);
        if self.invited {
            self.floor.holders.fetch_sub(1, SeqCst);
        }
        let leaves = 1 << self.worker;
        if self.floor.inside.fetch_and(!leaves, SeqCst) == leaves && ledger.quorum {
            ledger.free_since = Some(Instant::now());
        }
    }
}

fn names(inside: u64) -> String {
    let workers = (0..u64::BITS).filter(|worker| inside >> worker & 1 == 1);
    let workers: Vec<String> = workers.map(|worker| worker.to_string()).collect();
    let s = if workers.len() == 1 { "" } else { "s" };
    format!("worker{s} {}", workers.join(", "))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
