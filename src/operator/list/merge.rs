//! The verdict on the masters' answers about one key, without I/O.

use super::ListedLock;
use crate::driver::Own;
use crate::inspect::{Holder, Inspection, LockState};
use quorumlock_core::coordinator::Seen;
use quorumlock_core::quorum::{Membership, NodeSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How sure it is that a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// A quorum has the same value.
    Held,
    /// It may be: the masters that did not say could make up a quorum.
    Unclear,
    /// It is not: the value is left over, or on its way.
    Leftover,
}

impl ListedLock {
    /// Adds what this client knows of the key in this place.
    pub(super) fn learn(&mut self, own: &Own, place: usize) {
        self.inspection.learn(own, place);
        self.holder.learn(own, place);
    }

    pub(super) fn at_slot(self, slot: Option<u8>) -> Self {
        Self { inspection: self.inspection.at_slot(slot), ..self }
    }
}

/// Judges one key by the answers of all masters, in their order; `None` if none of them has it.
pub(super) fn merge(
    resource: Arc<str>,
    key: Arc<str>,
    seen: Vec<(Arc<str>, Seen)>,
    membership: Membership,
) -> Option<(Verdict, ListedLock)> {
    let nodes = |wanted: &dyn Fn(&Seen) -> bool| -> NodeSet {
        let all = seen.iter().enumerate();
        all.filter_map(|(node, (_, seen))| wanted(seen).then_some(node)).collect()
    };
    let silent = nodes(&|seen| seen.is_err());
    let values = seen.iter().filter_map(|(_, seen)| seen.as_ref().ok()?.as_ref());
    let on = |value| {
        nodes(&|seen| matches!(seen, Ok(Some(stored)) if stored.value.is_of_the_holder_of(&value)))
    };
    // Of several with the same number, the first.
    let most = values.rev().max_by_key(|stored| on(stored.value.clone()).len())?.clone();
    let most_on = on(most.value.clone());
    let inspection = Inspection::new(resource, key, seen, membership);
    let (verdict, holder) = match inspection.state() {
        LockState::Held(holder) => (Verdict::Held, holder.clone()),
        _ if membership.is_quorum(most_on.union(silent)) => (Verdict::Unclear, Holder::of(most)),
        _ => (Verdict::Leftover, Holder::of(most)),
    };
    Some((verdict, ListedLock { inspection, holder, waiting: None, waiters: BTreeSet::new() }))
}

/// Checks whether a lock can be held that none of these masters has: then more have to be scanned.
pub(super) fn may_miss(membership: Membership, scanned: NodeSet) -> bool {
    membership.can_spare(scanned)
}
