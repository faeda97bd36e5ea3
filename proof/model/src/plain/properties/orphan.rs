//! No key remains for an attempt that is over if its deletion has been executed, or was never owed.
//! (Keys that a lock-delay keeps are meant to remain.)

use crate::net::bit;
use crate::plain::protocol::Protocol;
use crate::plain::state::{OLDER, Phase, State};

pub(super) fn holds(protocol: &Protocol, state: &State) -> bool {
    state.nodes[..protocol.config.nodes].iter().all(|node| {
        let ours = node.keys.iter().filter(|key| key.owner != OLDER);
        let mut owners = ours.filter_map(|key| usize::from(key.owner).checked_sub(1));
        owners.all(|attempt| {
            let record = &state.attempts[attempt];
            record.phase != Phase::Over
                || record.left_alone
                || node.sent.release & bit(attempt) != 0
        })
    })
}
