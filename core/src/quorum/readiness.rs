//! The time until a quorum may vote.

use super::{Membership, NodeSet};
use std::time::Duration;

/// Returns how long it takes until a quorum may vote if nothing but time passes. That is zero if
/// one may vote now, and `None` if too few masters need nothing but time. `waits` has each node's
/// wait by its place; `None` for one that time alone does not fix.
pub fn quorum_in(membership: Membership, waits: &[Option<Duration>]) -> Option<Duration> {
    let may_vote_in = |span: Duration| -> NodeSet {
        let nodes = waits.iter().enumerate();
        nodes.filter_map(|(node, wait)| wait.is_some_and(|it| it <= span).then_some(node)).collect()
    };
    let enough = |span: &Duration| membership.is_quorum(may_vote_in(*span));
    waits.iter().flatten().copied().filter(enough).min()
}
