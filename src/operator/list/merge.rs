//! The verdict on the masters' answers about one key, without I/O.

use super::ListedLock;
use crate::driver::Own;
use crate::inspect::{Inspection, NodeState};
use quorumlock_core::quorum::{Membership, NodeSet};
use std::collections::BTreeSet;

impl ListedLock {
    /// Returns the lock that all masters were asked about; `None` if none of them has its key.
    pub(super) fn of(inspection: Inspection) -> Option<Self> {
        let on_nodes = || inspection.nodes().iter().filter_map(|node| node.state.holder());
        let count = |holder| on_nodes().filter(|other| other.same_hold_as(holder)).count();
        // Of several with the same number, the first.
        let most = || on_nodes().rev().max_by_key(|holder| count(holder));
        let holder = inspection.holder().or_else(most)?.clone();
        Some(Self { inspection, holder, waiting: None, waiters: BTreeSet::new() })
    }

    /// Adds what this client knows of the key in this place.
    pub(super) fn learn(&mut self, own: &Own, place: usize) {
        self.inspection.learn(own, place);
        self.holder.learn(own, place);
    }

    /// Checks whether a quorum may have the holder's key: a master that did not say may have it, too.
    pub(super) fn may_be_held(&self, membership: Membership) -> bool {
        membership.is_quorum(NodeSet::places(self.inspection.nodes(), |node| {
            self.is_on(&node.state) || matches!(node.state, NodeState::Unknown(_))
        }))
    }

    /// Checks whether the holder's key is on a master in this state.
    pub(super) fn is_on(&self, state: &NodeState) -> bool {
        state.holder().is_some_and(|holder| holder.same_hold_as(&self.holder))
    }
}
