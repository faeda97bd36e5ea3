//! The shelf: holds that no guard has, where callers of this process take them without the coordinator.
//!
//! 1. The coordinator puts a hold there that a guard has given back, and that no client waits for.
//! 2. A caller takes it ([`Shelf::take`]) and gives it back ([`Lent::give_back`]), as often as it likes, until
//!    the time for which the hold may go from guard to guard is over. The coordinator learns nothing of it.
//! 3. Before the coordinator does anything with the hold, it recalls it ([`Shelves::recall`]). If a guard has it,
//!    the coordinator holds it for that guard from then on, as if it had been acquired through the coordinator.
//! 4. A guard that needs the coordinator, say for an extension, claims the hold first ([`Lent::claim`]).
//!
//! So one guard has the hold at a time, and what the coordinator has recalled as idle, no guard has.

#[cfg(test)]
mod tests;
mod turn;
mod unpaid;

pub(crate) use unpaid::Unpaid;

use crate::quorum::{Instant, Nanos};
use crate::shared::{AttemptId, Label};
use crate::wire::Millis;
use std::collections::BTreeMap;
use std::sync;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use turn::{Turn, Turns};

/// What two acquires of one key have in common if one may have the hold of the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WarmTerms {
    pub ttl: Millis,
    pub label: Option<Arc<Label>>,
    /// How long the hold stays idle once it is given back.
    pub warm: Nanos,
}

/// A hold that no guard has.
#[derive(Debug)]
pub struct IdleHold {
    pub attempt: AttemptId,
    pub terms: WarmTerms,
    pub deadline: Instant,
    /// No guard takes it from then on.
    pub passes_until: Instant,
}

impl IdleHold {
    /// Returns until when it stays idle if it is given back now.
    pub(crate) fn until(&self, now: Instant) -> Instant {
        self.passes_until.min(now.after(self.terms.warm.span()))
    }
}

/// What the coordinator finds when it recalls a hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recalled {
    /// No guard has it, and it may stay idle until then; `None` if a guard has it.
    pub idle_until: Option<Instant>,
    /// How many guards have taken it from there.
    pub taken: u32,
}

/// The coordinator's side of a shelf.
pub trait Shelves: Send + Sync {
    /// Puts a hold there that no guard has, and that may stay idle until then.
    fn put(&self, key: &Arc<str>, hold: IdleHold, until: Instant);

    /// Takes the hold of `key` from there. `None` if it is not there.
    fn recall(&self, key: &str) -> Option<Recalled>;
}

/// A hold on the shelf. `L` is what its guard shares with the shell.
#[derive(Debug)]
pub struct Lent<L> {
    pub hold: IdleHold,
    turns: Turns<L>,
    /// How many guards have taken it.
    taken: AtomicU32,
    /// How many holds of the shelf are lent.
    count: Arc<AtomicUsize>,
}

impl<L: Clone> Lent<L> {
    /// Gives the hold back to the shelf, for its guard, which is over. Returns `false` if that is for the
    /// coordinator to do.
    #[must_use]
    pub fn give_back(&self, now: Instant) -> bool {
        let is_back = self.turns.give_back(self.hold.until(now));
        if is_back {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        is_back
    }

    /// Keeps the hold for its guard. Returns whether the coordinator has yet to learn of that (`handle_claimed`).
    #[must_use]
    pub fn claim(&self) -> bool {
        self.turns.claim()
    }
}

/// The holds that no guard has, and those that a guard has taken from here.
#[derive(Debug)]
pub struct Shelf<L> {
    holds: Mutex<BTreeMap<Arc<str>, Arc<Lent<L>>>>,
    /// How many of them a guard has, unless the shell has heard of it.
    lent: Arc<AtomicUsize>,
    /// The guards that had a hold when it was recalled, and that the shell has not heard of.
    in_use: Mutex<Vec<L>>,
}

impl<L> Default for Shelf<L> {
    fn default() -> Self {
        Self { holds: Mutex::default(), lent: Arc::default(), in_use: Mutex::default() }
    }
}

impl<L: Clone> Shelf<L> {
    /// Returns how many holds a guard has of which the shell has not heard.
    pub fn lent(&self) -> usize {
        self.lent.load(Ordering::Relaxed)
    }

    /// Takes the hold of `key` for the guard that `lend` creates, if one is idle that suits these terms.
    pub fn take(
        &self,
        key: &str,
        terms: &WarmTerms,
        now: Instant,
        lend: impl FnOnce(&Arc<Lent<L>>) -> L,
    ) -> Option<L> {
        let lent = lock(&self.holds).get(key).filter(|lent| lent.hold.terms == *terms)?.clone();
        lent.turns.take(now, || {
            lent.taken.fetch_add(1, Ordering::Relaxed);
            self.lent.fetch_add(1, Ordering::Relaxed);
            lend(&lent)
        })
    }

    /// Returns the guards that have a hold from here.
    pub fn guards(&self) -> Vec<L> {
        let holds: Vec<_> = lock(&self.holds).values().cloned().collect();
        holds.iter().filter_map(|lent| lent.turns.guard()).collect()
    }

    /// Returns the guards that had a hold when it was recalled, each once.
    pub fn in_use(&self) -> Vec<L> {
        // Asked at each turn of the shell, and nearly always there is none.
        if self.lent() == 0 {
            return Vec::new();
        }
        let in_use = std::mem::take(&mut *lock(&self.in_use));
        self.lent.fetch_sub(in_use.len(), Ordering::Relaxed);
        in_use
    }

    /// Takes all from the shelf, for a shell that ends.
    pub fn clear(&self) {
        let holds = std::mem::take(&mut *lock(&self.holds));
        holds.values().for_each(|lent| _ = self.found(lent));
    }

    /// Recalls a hold that is off the shelf.
    fn found(&self, lent: &Lent<L>) -> Option<Recalled> {
        let idle_until = match lent.turns.recall() {
            Turn::Idle { until } => Some(until),
            Turn::Guard { guard, .. } => {
                lock(&self.in_use).push(guard);
                None
            }
            Turn::Recalled => return None,
        };
        Some(Recalled { idle_until, taken: lent.taken.load(Ordering::Relaxed) })
    }
}

impl<L: Clone + Send + Sync> Shelves for Shelf<L> {
    fn put(&self, key: &Arc<str>, hold: IdleHold, until: Instant) {
        let (turns, count) = (Turns::idle(until), self.lent.clone());
        let lent = Lent { hold, turns, taken: AtomicU32::new(0), count };
        lock(&self.holds).insert(key.clone(), Arc::new(lent));
    }

    fn recall(&self, key: &str) -> Option<Recalled> {
        let lent = lock(&self.holds).remove(key)?;
        self.found(&lent)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
