//! What the reports of a client say of its nodes.

use quorumlock::report::{Answer, NodeReport, Refusal};
use std::time::Duration;

/// Returns the remaining wait of each master that is warming up.
pub(crate) fn warming(nodes: &[NodeReport]) -> Vec<Duration> {
    let remaining = |node: &NodeReport| match node.answer {
        Answer::Refused(Refusal::WarmingUp { remaining }) => Some(remaining),
        _ => None,
    };
    nodes.iter().filter_map(remaining).collect()
}
