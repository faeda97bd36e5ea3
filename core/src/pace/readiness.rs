//! The time until a quorum may vote, and whatever else a quorum reaches.

use crate::quorum::{Membership, NodeSet};

/// Returns the smallest number, or the shortest time, that those of a quorum do not exceed. `values` has
/// each node's by its place; `None` for one that has none. For waits, that is how long it takes until a
/// quorum may vote if nothing but time passes: zero if one may vote now.
pub fn quorum_in<T: Copy + Ord>(membership: Membership, values: &[Option<T>]) -> Option<T> {
    let up_to = |most: T| NodeSet::places(values, |value| value.is_some_and(|value| value <= most));
    let enough = |most: &T| membership.is_quorum(up_to(*most));
    values.iter().flatten().copied().filter(enough).min()
}
