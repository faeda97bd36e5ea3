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
    /// No guard has it, since then.
    Idle { since: Instant },
    /// The coordinator has given it to a guard that the shell has yet to create.
    Promised,
    /// This guard has it, and gives it back here.
    Guard(L),
    /// This guard has it, and has left word for the coordinator.
    Claimed(L),
    /// It is no longer on the shelf.
    Recalled,
}

/// What the coordinator finds when it recalls a hold.
pub(super) enum Found<L> {
    Idle { since: Instant },
    Promised,
    InUse(L),
    Nothing,
}

impl<L: Clone> Turns<L> {
    pub(super) fn idle(since: Instant) -> Self {
        Self(Mutex::new(Turn::Idle { since }))
    }

    pub(super) fn promised() -> Self {
        Self(Mutex::new(Turn::Promised))
    }

    /// Gives the hold to the guard that it was promised to. `None` if the coordinator has recalled it.
    pub(super) fn lend(&self, create: impl FnOnce() -> L) -> Option<L> {
        let mut turn = self.lock();
        if !matches!(*turn, Turn::Promised) {
            return None;
        }
        let guard = create();
        *turn = Turn::Guard(guard.clone());
        Some(guard)
    }

    /// Takes the hold for the guard that `lend` creates, if it does, unless another one has it.
    pub(super) fn take(&self, lend: impl FnOnce(Instant) -> Option<L>) -> Option<L> {
        let mut turn = self.lock();
        let Turn::Idle { since } = *turn else { return None };
        let guard = lend(since)?;
        *turn = Turn::Guard(guard.clone());
        Some(guard)
    }

    /// Puts the hold back for its guard. Returns `false` if the coordinator has recalled it.
    pub(super) fn give_back(&self, now: Instant) -> bool {
        let mut turn = self.lock();
        let is_lent = matches!(*turn, Turn::Guard(_));
        if is_lent {
            // What the guard shares may go with this, and must not go while the lock is held.
            let before = mem::replace(&mut *turn, Turn::Idle { since: now });
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

    pub(super) fn is_idle(&self) -> bool {
        matches!(*self.lock(), Turn::Idle { .. })
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
            Turn::Idle { since } => Found::Idle { since },
            Turn::Promised => Found::Promised,
            Turn::Guard(guard) | Turn::Claimed(guard) => Found::InUse(guard),
            Turn::Recalled => Found::Nothing,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Turn<L>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
