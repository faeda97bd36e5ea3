//! A holder's belief is true: until its deadline its keys are on a quorum, where no other client
//! can be granted, or nodes of that quorum have restarted and do not vote for as long.
//!
//! This is why there is one holder. A violation shows here before there are two holders.

use crate::plain::protocol::Protocol;
use crate::plain::state::{Node, Phase, State};

pub(super) fn holds(protocol: &Protocol, state: &State) -> bool {
    (0..protocol.count()).all(|attempt| {
        let record = &state.attempts[attempt];
        if record.phase != Phase::Held || record.force != 0 {
            return true;
        }
        let claims = protocol.config.attempts[attempt].claims;
        let owner = attempt as u8 + 1;
        let stands = |node: &Node| {
            let keys = node.keys.iter().enumerate();
            let mut claimed = keys.filter(|(place, _)| claims >> place & 1 == 1);
            claimed.all(|(_, key)| key.owner == owner && key.left >= record.left)
        };
        let keeps_out = |node: &usize| {
            let node = &state.nodes[*node];
            stands(node) || node.warm >= record.left
        };
        protocol.is_quorum(attempt, (0..protocol.config.nodes).filter(keeps_out))
    })
}
