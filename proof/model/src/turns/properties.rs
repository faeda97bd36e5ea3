//! The properties that must hold, each in every state.

use super::protocol::Turns;
use super::state::{Stage, State};

pub(super) const EXCLUSION: &str = "one valid holder";
pub(super) const ORDER: &str = "a waiter that stands is served before a later client";
pub(super) const TICKET: &str = "a waiter that could win keeps its ticket";
pub(super) const PROGRESS: &str = "a client that could win gets in";
pub(super) const HANDOVER: &str = "a release before a waiter is followed by a win within the tick";
pub(super) const PRESENCE: &str = "the holder is on every voting node two rounds after a restart";

/// Returns the property that `state` breaks.
pub(super) fn violated(turns: &Turns, state: &State) -> Option<&'static str> {
    let holders = state.actors.iter().filter(|actor| actor.stage == Stage::Holds).count();
    let found = [
        (holders > 1, EXCLUSION),
        (state.passed, ORDER),
        (state.left, TICKET),
        (state.missing, PRESENCE),
        (state.late, HANDOVER),
        (state.drought > turns.config.within, PROGRESS),
    ];
    found.into_iter().find(|(is, _)| *is).map(|(_, property)| property)
}
