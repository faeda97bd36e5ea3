//! A valid hold is on a quorum: of masters that have its keys, or that have lost their memory and
//! may not vote.

use super::Verdict;
use quorumlock_core::quorum::{Membership, NodeSet};

pub(crate) fn on_a_quorum(token: &str, membership: Membership, nodes: NodeSet) -> Verdict {
    if membership.is_quorum(nodes) {
        return Ok(());
    }
    let on: Vec<String> = nodes.iter().map(|node| format!("n{}", node + 1)).collect();
    Err(format!("{token} does not stand on a quorum, but on {on:?}"))
}

#[test]
fn a_hold_on_two_of_five_is_found() {
    let five = Membership::of(5).unwrap();
    assert_eq!(on_a_quorum("1", five, NodeSet::first(3)), Ok(()));
    assert!(on_a_quorum("1", five, NodeSet::first(2)).is_err());
}
