//! The locks that are held, by the slot of their entry in the machine's table.

use super::LeaseState;
use crate::kind_name::{ByKind, KindName};
use quorumlock_core::coordinator::AttemptId;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Holds {
    slots: Vec<Option<Arc<LeaseState>>>,
    pub(super) by_kind: ByKind,
}

impl Holds {
    pub(super) fn len(&self) -> usize {
        self.by_kind.iter().sum()
    }

    pub(super) fn keep(&mut self, hold: Arc<LeaseState>) {
        let slot = hold.attempt.slot();
        self.slots.resize(self.slots.len().max(slot + 1), None);
        self.count(hold.kind, 1);
        let before = self.slots[slot].replace(hold);
        before.inspect(|before| self.count(before.kind, -1));
    }

    pub(crate) fn get(&self, attempt: AttemptId) -> Option<&Arc<LeaseState>> {
        self.slots.get(attempt.slot())?.as_ref().filter(|hold| hold.attempt == attempt)
    }

    pub(super) fn remove(&mut self, attempt: AttemptId) -> Option<Arc<LeaseState>> {
        self.get(attempt)?;
        let hold = self.slots[attempt.slot()].take()?;
        self.count(hold.kind, -1);
        if self.len() == 0 {
            self.slots.clear();
        }
        Some(hold)
    }

    fn count(&mut self, kind: KindName, change: isize) {
        let count = &mut self.by_kind[kind as usize];
        *count = count.saturating_add_signed(change);
    }

    /// Returns all of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<LeaseState>> {
        self.slots.iter().flatten()
    }

    /// Removes and returns all of them.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Arc<LeaseState>> + use<> {
        std::mem::take(self).slots.into_iter().flatten()
    }
}
