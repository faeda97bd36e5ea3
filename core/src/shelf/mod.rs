//! The shelf: holds that no guard has, where callers of this process take them without the coordinator.
//!
//! 1. The coordinator puts a hold there that a guard has given back, and that no client waits for.
//! 2. A caller takes it ([`Shelf::take`]) and gives it back ([`Lent::give_back`]), as often as it likes, until
//!    the time for which the hold may go from guard to guard is over. The coordinator learns nothing of it.
//!    It may also give the hold to a guard by itself, and leave it to that guard to put it there
//!    ([`Shelves::promise`]).
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
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use turn::{Found, Turns};

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
    /// Returns until when it may stay idle if it was given back at `since`.
    fn until(&self, since: Instant) -> Instant {
        idle_until(self.passes_until, since, self.terms.warm)
    }
}

/// Returns until when a hold may stay idle that no guard has `since`, and that goes to none after `passes_until`.
pub(crate) fn idle_until(passes_until: Instant, since: Instant, warm: Nanos) -> Instant {
    passes_until.min(since.after(warm.span()))
}

/// What the coordinator finds when it recalls a hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recalled {
    /// No guard has it, since then; `None` if a guard has it.
    pub idle_since: Option<Instant>,
    /// How many guards have taken it from there.
    pub taken: u32,
}

/// The coordinator's side of a shelf.
pub trait Shelves: Send + Sync {
    /// Puts a hold there that no guard has since then.
    fn put(&self, key: &Arc<str>, hold: IdleHold, since: Instant);

    /// Notes that the coordinator has given a hold to a guard that the shell creates next, and that the guard
    /// may give it back there.
    fn promise(&self, key: &Arc<str>, hold: IdleHold);

    /// Returns whether a guard has a hold from there.
    fn is_in_use(&self, key: &str, attempt: AttemptId) -> bool;

    /// Takes a hold from there. `None` if it is not there.
    fn recall(&self, key: &str, attempt: AttemptId) -> Option<Recalled>;
}

/// A hold on the shelf. `L` is what its guard shares with the shell.
#[derive(Debug)]
pub struct Lent<L> {
    hold: IdleHold,
    turns: Turns<L>,
    /// How many guards have taken it.
    taken: AtomicU32,
    /// How many holds of the shelf are lent.
    count: Arc<AtomicUsize>,
}

impl<L: Clone> Lent<L> {
    pub const fn attempt(&self) -> AttemptId {
        self.hold.attempt
    }

    pub const fn deadline(&self) -> Instant {
        self.hold.deadline
    }

    /// Gives the hold back to the shelf, for its guard, which is over. Returns `false` if that is for the
    /// coordinator to do.
    #[must_use]
    pub fn give_back(&self, now: Instant) -> bool {
        let is_back = self.turns.give_back(now);
        if is_back {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        is_back
    }

    /// Keeps the hold for its guard. Returns the guard if the coordinator has yet to learn of it (`handle_claimed`).
    #[must_use]
    pub fn claim(&self) -> Option<L> {
        self.turns.claim()
    }
}

/// The holds that no guard has, and those that a guard has taken from here.
#[derive(Debug)]
pub struct Shelf<L> {
    holds: Mutex<BTreeMap<Arc<str>, Arc<Lent<L>>>>,
    /// How many there are: a caller that finds none looks no further.
    len: AtomicUsize,
    /// How many of them a guard has.
    lent: Arc<AtomicUsize>,
    /// Those that the coordinator has promised to a guard.
    promised: Mutex<Vec<Arc<Lent<L>>>>,
    /// The guards that had a hold when it was recalled, and that the shell has not heard of.
    in_use: Mutex<Vec<L>>,
    /// Whether there are any: the shell asks before everything that it does.
    has_in_use: AtomicBool,
}

impl<L> Default for Shelf<L> {
    fn default() -> Self {
        let (holds, len) = (Mutex::default(), AtomicUsize::new(0));
        let (promised, in_use) = (Mutex::default(), Mutex::default());
        let has_in_use = AtomicBool::new(false);
        Self { holds, len, lent: Arc::default(), promised, in_use, has_in_use }
    }
}

impl<L> Shelf<L> {
    /// Returns how many holds a guard has that the coordinator takes for idle.
    pub fn lent(&self) -> usize {
        self.lent.load(Ordering::Relaxed)
    }
}

impl<L: Clone> Shelf<L> {
    /// Takes the hold of `key` for the guard that `lend` creates, if one is idle that suits these terms.
    pub fn take(
        &self,
        key: &str,
        terms: &WarmTerms,
        now: Instant,
        lend: impl FnOnce(&Arc<Lent<L>>) -> L,
    ) -> Option<L> {
        if self.len.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let lent = lock(&self.holds).get(key)?.clone();
        if lent.hold.terms != *terms {
            return None;
        }
        let taken = lent.turns.take(|since| (now < lent.hold.until(since)).then(|| lend(&lent)))?;
        lent.taken.fetch_add(1, Ordering::Relaxed);
        self.lent.fetch_add(1, Ordering::Relaxed);
        Some(taken)
    }

    /// Gives the hold that was promised to it to the guard that `lend` creates. `None` if there is none: the guard
    /// has its hold from the coordinator.
    pub fn lend(&self, attempt: AttemptId, lend: impl FnOnce(&Arc<Lent<L>>) -> L) -> Option<L> {
        let mut promised = lock(&self.promised);
        let place = promised.iter().position(|lent| lent.hold.attempt == attempt)?;
        let lent = promised.swap_remove(place);
        drop(promised);
        let guard = lent.turns.lend(|| lend(&lent))?;
        self.lent.fetch_add(1, Ordering::Relaxed);
        Some(guard)
    }

    /// Returns the guards that have a hold from here.
    pub fn guards(&self) -> Vec<L> {
        let holds: Vec<_> = lock(&self.holds).values().cloned().collect();
        holds.iter().filter_map(|lent| lent.turns.guard()).collect()
    }

    /// Returns whether `in_use` has any. The coordinator, which recalls, runs in the task that asks.
    #[inline]
    pub fn has_in_use(&self) -> bool {
        self.has_in_use.load(Ordering::Relaxed)
    }

    /// Returns the guards that had a hold when it was recalled, each once.
    pub fn in_use(&self) -> Vec<L> {
        self.has_in_use.store(false, Ordering::Relaxed);
        std::mem::take(&mut *lock(&self.in_use))
    }

    /// Takes all from the shelf, for a shell that ends.
    pub fn clear(&self) {
        let holds = std::mem::take(&mut *lock(&self.holds));
        self.len.store(0, Ordering::Relaxed);
        lock(&self.promised).clear();
        holds.values().for_each(|lent| _ = self.found(lent));
    }

    fn insert(&self, key: &Arc<str>, hold: IdleHold, turns: Turns<L>) -> Arc<Lent<L>> {
        let lent =
            Arc::new(Lent { hold, turns, taken: AtomicU32::new(0), count: self.lent.clone() });
        let mut holds = lock(&self.holds);
        holds.insert(key.clone(), lent.clone());
        self.len.store(holds.len(), Ordering::Relaxed);
        lent
    }

    /// Recalls a hold that is off the shelf.
    fn found(&self, lent: &Lent<L>) -> Option<Recalled> {
        let idle_since = match lent.turns.recall() {
            Found::Idle { since } => Some(since),
            Found::Promised => {
                lock(&self.promised).retain(|other| other.hold.attempt != lent.hold.attempt);
                None
            }
            Found::InUse(guard) => {
                self.lent.fetch_sub(1, Ordering::Relaxed);
                lock(&self.in_use).push(guard);
                self.has_in_use.store(true, Ordering::Relaxed);
                None
            }
            Found::Nothing => return None,
        };
        Some(Recalled { idle_since, taken: lent.taken.load(Ordering::Relaxed) })
    }
}

impl<L: Clone + Send + Sync> Shelves for Shelf<L> {
    fn put(&self, key: &Arc<str>, hold: IdleHold, since: Instant) {
        self.insert(key, hold, Turns::idle(since));
    }

    fn promise(&self, key: &Arc<str>, hold: IdleHold) {
        let lent = self.insert(key, hold, Turns::promised());
        lock(&self.promised).push(lent);
    }

    fn is_in_use(&self, key: &str, attempt: AttemptId) -> bool {
        let lent = lock(&self.holds).get(key).cloned();
        lent.is_some_and(|lent| lent.hold.attempt == attempt && !lent.turns.is_idle())
    }

    fn recall(&self, key: &str, attempt: AttemptId) -> Option<Recalled> {
        let mut holds = lock(&self.holds);
        let lent = holds.get(key).filter(|lent| lent.hold.attempt == attempt)?.clone();
        holds.remove(key);
        self.len.store(holds.len(), Ordering::Relaxed);
        drop(holds);
        self.found(&lent)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
