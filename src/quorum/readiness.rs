//! When a quorum may vote.

use super::{Membership, NodeSet};
use std::time::Duration;

/// How long it takes until a quorum may vote if nothing but time passes: nothing if one may now,
/// `None` if those that only wait are too few. `waits` has each node's wait by its place; `None`
/// for one that time alone does not mend.
pub(crate) fn quorum_in(membership: Membership, waits: &[Option<Duration>]) -> Option<Duration> {
    let may_vote_in = |span: Duration| -> NodeSet {
        let nodes = waits.iter().enumerate();
        nodes.filter_map(|(node, wait)| wait.is_some_and(|it| it <= span).then_some(node)).collect()
    };
    let enough = |span: &Duration| membership.is_quorum(may_vote_in(*span));
    waits.iter().flatten().copied().filter(enough).min()
}
