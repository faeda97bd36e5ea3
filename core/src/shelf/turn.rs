//! The turns of a hold on the shelf: no guard has it, or one, or the coordinator.

// From std here, and from loom where `proof/loom` tries every order of events on this file.
use super::sync::{Mutex, MutexGuard};
use crate::quorum::Instant;
use std::mem;
use std::sync::PoisonError;

/// One hold, and which guard has it. `L` is what the guard shares with the shell.
#[derive(Debug)]
pub(super) struct Turns<L>(Mutex<Turn<L>>);

#[derive(Debug)]
enum Turn<L> {
    /// No guard has it, and none has had it for long enough by then.
    Idle { until: Instant },
    /// This guard has it, and gives it back here.
    Guard(L),
    /// This guard has it, and has left word for the coordinator.
    Claimed(L),
    /// It is no longer on the shelf.
    Recalled,
}

/// What the coordinator finds when it recalls a hold.
pub(super) enum Found<L> {
    Idle { until: Instant },
    InUse(L),
    Nothing,
}

impl<L: Clone> Turns<L> {
    pub(super) fn idle(until: Instant) -> Self {
        Self(Mutex::new(Turn::Idle { until }))
    }

    /// Takes the hold for the guard that `lend` creates, unless another one has it, or its time is over.
    pub(super) fn take(&self, now: Instant, lend: impl FnOnce() -> L) -> Option<L> {
        let mut turn = self.lock();
        let is_idle = matches!(*turn, Turn::Idle { until } if now < until);
        is_idle.then(|| {
            let guard = lend();
            *turn = Turn::Guard(guard.clone());
            guard
        })
    }

    /// Puts the hold back for its guard: it stays idle until then. Returns `false` if the coordinator has recalled it.
    pub(super) fn give_back(&self, until: Instant) -> bool {
        let mut turn = self.lock();
        let is_lent = matches!(*turn, Turn::Guard(_));
        if is_lent {
            // What the guard shares may go with this, and must not go while the lock is held.
            let before = mem::replace(&mut *turn, Turn::Idle { until });
            drop(turn);
            drop(before);
        }
        is_lent
    }

    /// Keeps the hold for its guard. Returns the guard if the coordinator has yet to learn of it.
    pub(super) fn claim(&self) -> Option<L> {
        let mut turn = self.lock();
        let Turn::Guard(guard) = &*turn else { return None };
        let guard = guard.clone();
        *turn = Turn::Claimed(guard.clone());
        Some(guard)
    }

    /// Returns the guard that has the hold.
    pub(super) fn guard(&self) -> Option<L> {
        match &*self.lock() {
            Turn::Guard(guard) | Turn::Claimed(guard) => Some(guard.clone()),
            _ => None,
        }
    }

    /// Takes the hold off the shelf, for the coordinator.
    pub(super) fn recall(&self) -> Found<L> {
        match mem::replace(&mut *self.lock(), Turn::Recalled) {
            Turn::Idle { until } => Found::Idle { until },
            Turn::Guard(guard) | Turn::Claimed(guard) => Found::InUse(guard),
            Turn::Recalled => Found::Nothing,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Turn<L>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
