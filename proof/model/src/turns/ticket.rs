//! The ticket of a waiter, from the stamps that the masters gave it.

use crate::quorum::{Membership, NodeSet};

/// Returns the smallest number that the stamps of a quorum do not exceed; `None` if no quorum has
/// given a stamp.
///
/// The stamps are by place in the list of masters. Those of a master that may not vote are left out.
pub fn ticket(membership: Membership, stamps: &[Option<u64>]) -> Option<u64> {
    let up_to = |most: u64| -> NodeSet {
        let few = stamps.iter().enumerate().filter(|(_, one)| one.is_some_and(|it| it <= most));
        few.map(|(node, _)| node).collect()
    };
    let enough = stamps.iter().flatten().filter(|one| membership.is_quorum(up_to(**one)));
    enough.min().copied()
}
