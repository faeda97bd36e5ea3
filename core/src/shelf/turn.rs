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
pub(super) enum Turn<L> {
    /// No guard has it. The coordinator releases it then.
    Idle { until: Instant },
    /// This guard has it, and gives it back here, unless it has left word for the coordinator.
    Guard { guard: L, is_claimed: bool },
    /// It is no longer on the shelf.
    Recalled,
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
            *turn = Turn::Guard { guard: guard.clone(), is_claimed: false };
            guard
        })
    }

    /// Puts the hold back for its guard: it stays idle until then. Returns `false` if the coordinator has recalled it.
    pub(super) fn give_back(&self, until: Instant) -> bool {
        let mut turn = self.lock();
        let is_lent = matches!(*turn, Turn::Guard { is_claimed: false, .. });
        if is_lent {
            // What the guard shares may go with this, and must not go while the lock is held.
            let before = mem::replace(&mut *turn, Turn::Idle { until });
            drop(turn);
            drop(before);
        }
        is_lent
    }

    /// Keeps the hold for its guard. Returns whether the coordinator has yet to learn of the guard.
    pub(super) fn claim(&self) -> bool {
        match &mut *self.lock() {
            Turn::Guard { is_claimed, .. } => !mem::replace(is_claimed, true),
            Turn::Idle { .. } | Turn::Recalled => false,
        }
    }

    /// Returns the guard that has the hold.
    pub(super) fn guard(&self) -> Option<L> {
        match &*self.lock() {
            Turn::Guard { guard, .. } => Some(guard.clone()),
            Turn::Idle { .. } | Turn::Recalled => None,
        }
    }

    /// Takes the hold off the shelf, for the coordinator. Returns whose turn it was.
    pub(super) fn recall(&self) -> Turn<L> {
        mem::replace(&mut *self.lock(), Turn::Recalled)
    }

    fn lock(&self) -> MutexGuard<'_, Turn<L>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
