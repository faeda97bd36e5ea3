//! What a client asks for is its callers': it tries for one that waits, never what another of them holds.

use quorumlock_core::quorum::NodeSet;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct OwnAsks {
    /// The tokens that have been tried, and at which masters.
    tried: BTreeMap<String, NodeSet>,
}

impl OwnAsks {
    /// Notes that a token is tried at a master. Returns whether it had been tried, and whether there.
    pub(crate) fn tries(&mut self, token: &str, node: usize) -> (bool, bool) {
        let nodes = self.tried.entry(token.to_owned()).or_default();
        let had_been = (*nodes != NodeSet::EMPTY, nodes.contains(node));
        nodes.insert(node);
        had_been
    }
}

#[test]
fn a_token_is_known_by_where_it_was_tried() {
    let mut asks = OwnAsks::default();
    assert_eq!(asks.tries("t", 0), (false, false));
    assert_eq!(asks.tries("t", 1), (true, false));
    assert_eq!(asks.tries("t", 1), (true, true));
}
