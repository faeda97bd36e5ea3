//! What must be true in every state.

use super::protocol::{Bursts, SLOTS, TIMEOUT, at};
use super::state::State;

/// An extension is written when it is due, whatever waits.
pub(super) const FIRST: &str = "an extension is behind no acquire";

/// The master answers within an operation timeout all along, behind the narrowest window.
pub(super) const HELD: &str = "no hold is lost while masters answer in time";

/// A burst has begun once the master could have executed so many commands for each acquire of it.
pub(super) const SERVED: &str = "a burst is served";
const EACH: u32 = 4;

pub(super) const TOLD: &str = "an acquire begins or is answered";
pub(super) const OLDEST: &str = "the oldest acquire begins first";

pub(super) fn violated(model: &Bursts, state: &State) -> Option<&'static str> {
    let config = &model.config;
    let acquires = u32::from(config.acquires) * u32::from(state.begun);
    let borne = EACH * acquires + 2 * TIMEOUT * u32::from(config.slowly);
    let is_late = |line: &super::state::Line| {
        line.waiting > 0 && state.now > line.since + u32::from(config.wait) * SLOTS
    };
    match () {
        () if state.is_behind => Some(FIRST),
        () if at(state.now) >= state.deadline => Some(HELD),
        () if state.lines.iter().any(|line| line.waiting > 0 && line.borne > borne) => Some(SERVED),
        () if state.lines.iter().any(is_late) => Some(TOLD),
        () if state.is_passed => Some(OLDEST),
        () => None,
    }
}
