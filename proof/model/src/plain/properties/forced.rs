//! Once `force_release` has reported that a quorum has deleted, the lock is never extended by a
//! round that begins later.

use super::Property;
use crate::plain::state::State;

/// In progress.
pub(crate) const ASKED: u8 = 1;
/// A quorum has deleted.
pub(crate) const CONFIRMED: u8 = 2;

pub(crate) fn extended(state: &mut State, attempt: usize, round: usize) {
    if state.attempts[attempt].rounds[round].after_force {
        state.broken = Property::ForcedIsOver.code();
    }
}
