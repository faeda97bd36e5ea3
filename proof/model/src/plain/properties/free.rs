//! No state is a dead end: once the faults are over, the next one wins.

use crate::plain::protocol::Protocol;
use crate::plain::state::State;

/// Checks after all debts are paid, in order: then nothing is in the way of a client, without any
/// waiting. (Nodes that warm up are.)
pub(super) fn at_once(protocol: &Protocol, state: &State) -> bool {
    protocol.heals(state, false)
}

/// Checks after the longest life of a key, and the longest time that a node does not vote: whatever
/// was lost or is where it should not be, a quorum grants.
pub(super) fn in_the_end(protocol: &Protocol, state: &State) -> bool {
    protocol.heals(state, true)
}
