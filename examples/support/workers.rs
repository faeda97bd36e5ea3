//! Workers that compete for one lock, and what they do under it.

use quorumlock::{AcquireError, Guard, Lost, Redlock, Released};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

const RESOURCE: &str = "demo:counter";
/// How long the counter is read and not yet written.
const SECTION: Duration = Duration::from_millis(40);
const BETWEEN: Duration = Duration::from_millis(10);
/// More of one kind would only scroll by.
const OVERLAPS_TOLD: u64 = 3;

/// What has come of it.
#[derive(Clone)]
pub(crate) struct Tally {
    pub(crate) sections: u64,
    pub(crate) overlaps: u64,
    pub(crate) failed: u64,
    pub(crate) counter: u64,
    pub(crate) longest_stall: Duration,
    free_since: Instant,
    killed_at: Option<Instant>,
}

impl Tally {
    pub(crate) fn lost(&self) -> u64 {
        self.sections.saturating_sub(self.counter)
    }
}

/// Where the workers meet.
pub(crate) struct Floor {
    /// Atomic because Rust insists; a read and a write a while later are not.
    counter: AtomicU64,
    /// Bit `n` for worker `n`.
    inside: AtomicU64,
    waiting: AtomicUsize,
    asks: Notify,
    closed: AtomicBool,
    tally: Mutex<Tally>,
    news: UnboundedSender<String>,
}

impl Floor {
    pub(crate) fn new(news: UnboundedSender<String>) -> Self {
        let tally = Tally {
            sections: 0,
            overlaps: 0,
            failed: 0,
            counter: 0,
            longest_stall: Duration::ZERO,
            free_since: Instant::now(),
            killed_at: None,
        };
        Self {
            counter: AtomicU64::new(0),
            inside: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            asks: Notify::new(),
            closed: AtomicBool::new(false),
            tally: Mutex::new(tally),
            news,
        }
    }

    /// One worker's life. Without a `redlock` it goes in without asking.
    pub(crate) async fn work(self: Arc<Self>, worker: usize, redlock: Option<Redlock>) {
        while !self.closed.load(SeqCst) {
            match &redlock {
                Some(redlock) => self.work_under(worker, redlock).await,
                None => {
                    let _never_lost = self.section(worker, || Ok(Duration::MAX)).await;
                }
            }
            sleep(BETWEEN).await;
        }
    }

    async fn work_under(&self, worker: usize, redlock: &Redlock) {
        let guard = match self.ask(redlock).await {
            Ok(guard) => guard,
            Err(error) => {
                self.locked().failed += 1;
                return self.tell(format!("worker {worker}: {error}"));
            }
        };
        if let Some(killed_at) = self.locked().killed_at.take() {
            let after = killed_at.elapsed().as_millis();
            self.tell(format!("worker {worker} has the lock, {after} ms after the kill"));
        }
        if let Err(lost) = self.section(worker, || guard.check()).await {
            self.tell(format!("worker {worker} stops before it writes: {lost}"));
        }
        if let Released::Unconfirmed(_) = guard.release().await {
            self.tell(format!("worker {worker}: too few masters confirmed the release in time"));
        }
    }

    async fn ask(&self, redlock: &Redlock) -> Result<Guard, AcquireError> {
        self.waiting.fetch_add(1, SeqCst);
        let announce = async { self.asks.notify_waiters() };
        let (asked, ()) = tokio::join!(redlock.acquire(RESOURCE).into_future(), announce);
        self.waiting.fetch_sub(1, SeqCst);
        asked
    }

    /// Only one at a time should be in here.
    async fn section(
        &self,
        worker: usize,
        check: impl Fn() -> Result<Duration, Lost>,
    ) -> Result<(), Lost> {
        let others = self.inside.fetch_or(1 << worker, SeqCst);
        self.enter(worker, others);
        let read = self.counter.load(SeqCst);
        sleep(SECTION).await;
        let checked = check();
        if checked.is_ok() {
            self.counter.store(read + 1, SeqCst);
            self.locked().sections += 1;
        }
        self.locked().free_since = Instant::now();
        self.inside.fetch_and(!(1 << worker), SeqCst);
        checked.map(|_left| ())
    }

    fn enter(&self, worker: usize, others: u64) {
        let mut tally = self.locked();
        if others != 0 {
            tally.overlaps += 1;
            if tally.overlaps <= OVERLAPS_TOLD {
                self.tell(format!("OVERLAP: worker {worker} goes in beside {}", names(others)));
            }
            return;
        }
        let stall = tally.free_since.elapsed();
        tally.longest_stall = tally.longest_stall.max(stall);
    }

    /// Completes just after a worker has asked for the lock.
    pub(crate) async fn somebody_asks(&self) {
        self.asks.notified().await;
    }

    pub(crate) fn note_kill(&self) {
        self.locked().killed_at = Some(Instant::now());
    }

    /// Whoever is inside or waits comes to an end; nobody asks again.
    pub(crate) fn close(&self) {
        self.closed.store(true, SeqCst);
    }

    pub(crate) fn inside(&self) -> String {
        names(self.inside.load(SeqCst))
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(SeqCst)
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut tally = self.locked().clone();
        tally.counter = self.counter.load(SeqCst);
        tally
    }

    fn tell(&self, news: String) {
        let _nobody_listens = self.news.send(news);
    }

    fn locked(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn names(inside: u64) -> String {
    let workers = (0..u64::BITS).filter(|worker| inside >> worker & 1 == 1);
    let workers: Vec<String> = workers.map(|worker| worker.to_string()).collect();
    match workers.len() {
        0 => "nobody".to_owned(),
        1 => format!("worker {}", workers[0]),
        _ => format!("workers {}", workers.join(", ")),
    }
}
