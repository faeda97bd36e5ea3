//! No state is a dead end: once the faults are over, the next one wins.

use crate::protocol::Protocol;
use crate::state::State;

/// All that is owed is paid, in order: then nothing stands in anybody's way, without any waiting.
/// (Nodes that warm up do.)
pub(super) fn at_once(protocol: &Protocol, state: &State) -> bool {
    protocol.heals(state, false)
}

/// Whatever was lost or stands where it should not: after the longest life of a key, and the
/// longest that a node does not vote, a quorum grants.
pub(super) fn in_the_end(protocol: &Protocol, state: &State) -> bool {
    protocol.heals(state, true)
}
