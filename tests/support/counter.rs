//! A counter that nothing but the lock protects, and tasks that increment it.

use super::seed::Rng;
use quorumlock::{AcquireError, Guard, Lease, Redlock};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Least validity left for a write. A thread that is not scheduled between the check and the write
/// is beyond any lock (that is what fencing is for).
const MARGIN: Duration = Duration::from_millis(300);

/// Read and written in two steps, with a pause between.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    value: AtomicU64,
    written: AtomicU64,
    holders: Mutex<BTreeMap<u64, Lease>>,
    last_holder: AtomicU64,
    pub(crate) overlaps: AtomicU64,
    pub(crate) cancelled: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) extended: AtomicU64,
    pub(crate) unextended: AtomicU64,
}

impl Counter {
    /// Acquires, increments and releases until it has to stop. Some acquires are dropped on their
    /// way, some holds are extended, and some guards are dropped instead of released.
    pub(crate) async fn work(&self, redlock: &Redlock, mut rng: Rng, stop: &AtomicBool) {
        while !stop.load(SeqCst) {
            let acquire = redlock.acquire("counter");
            let patience = if rng.chance(20) { rng.duration(MS / 10..6 * MS) } else { 10_000 * MS };
            match tokio::time::timeout(patience, acquire.into_future()).await {
                Ok(Ok(guard)) => self.increment(guard, &mut rng).await,
                Ok(Err(AcquireError::Contended(_) | AcquireError::NoQuorum(_))) => {
                    self.refused.fetch_add(1, SeqCst);
                }
                Ok(Err(error)) => panic!("{error}"),
                Err(_) => {
                    self.cancelled.fetch_add(1, SeqCst);
                }
            }
            tokio::time::sleep(rng.duration(Duration::ZERO..3 * MS)).await;
        }
    }

    async fn increment(&self, guard: Guard, rng: &mut Rng) {
        let holder = self.enter(&guard);
        if rng.chance(30) {
            let result = guard.extend().await;
            let counted = if result.is_ok() { &self.extended } else { &self.unextended };
            counted.fetch_add(1, SeqCst);
        }
        let seen = self.value.load(SeqCst);
        tokio::time::sleep(rng.duration(Duration::ZERO..2 * MS)).await;
        if guard.remaining() > MARGIN {
            self.value.store(seen + 1, SeqCst);
            self.written.fetch_add(1, SeqCst);
        }
        self.holders.lock().unwrap().remove(&holder);
        if rng.chance(20) {
            drop(guard);
        } else {
            drop(guard.release().await);
        }
    }

    /// Records the entry. Two overlap if both guards are valid at one moment. The others are
    /// checked first, and a guard that is valid later was valid then.
    fn enter(&self, guard: &Guard) -> u64 {
        let mut holders = self.holders.lock().unwrap();
        let others = holders.values().filter(|other| other.is_valid()).count();
        if others > 0 && guard.is_valid() {
            self.overlaps.fetch_add(1, SeqCst);
        }
        let holder = self.last_holder.fetch_add(1, SeqCst);
        holders.insert(holder, guard.lease());
        holder
    }

    /// Returns how many increments were made.
    pub(crate) fn increments(&self) -> u64 {
        self.written.load(SeqCst)
    }

    /// Returns how many of them the counter does not show.
    pub(crate) fn lost(&self) -> u64 {
        self.increments() - self.value.load(SeqCst)
    }
}
