//! The time until a quorum may vote, and whatever else a quorum reaches.

use crate::quorum::{Membership, NodeSet};

/// Returns the smallest number, or the shortest time, that those of a quorum do not exceed. `values` has
/// each node's by its place; `None` for one that has none. For waits, that is how long it takes until a
/// quorum may vote if nothing but time passes: zero if one may vote now.
pub fn quorum_in<T: Copy + Ord>(membership: Membership, values: &[Option<T>]) -> Option<T> {
    let each = values.iter().enumerate();
    quorum_among(membership, each.filter_map(|(node, value)| Some((node, (*value)?))))
}

/// Returns the same for reports in any order, which may repeat a node.
pub fn quorum_among<T: Copy + Ord>(
    membership: Membership,
    reported: impl Iterator<Item = (usize, T)> + Clone,
) -> Option<T> {
    let up_to = |most: T| -> NodeSet {
        reported.clone().filter(|(_, value)| *value <= most).map(|(node, _)| node).collect()
    };
    let values = reported.clone().map(|(_, value)| value);
    values.filter(|most| membership.is_quorum(up_to(*most))).min()
}
