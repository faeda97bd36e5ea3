//! The properties that must hold, each in every state.

use super::protocol::Waiting;
use super::state::{Phase, State};

pub(super) const WRITERS: &str = "a waiting writer gets in";
pub(super) const READERS: &str = "a waiting reader gets in";
pub(super) const EXCLUSION: &str = "no writer beside a valid holder";

/// Returns the property that `state` breaks.
pub(super) fn violated(waiting: &Waiting, state: &State) -> Option<&'static str> {
    let actors = &state.actors[..waiting.count()];
    let holds = |phase| matches!(phase, Phase::Held | Phase::Downgrading);
    let holders = || actors.iter().filter(|actor| holds(actor.phase));
    if holders().any(|actor| !actor.reads) && holders().count() > 1 {
        return Some(EXCLUSION);
    }
    if state.drought > waiting.config.writers {
        return Some(WRITERS);
    }
    let thirsty = actors.iter().any(|actor| actor.waited > waiting.config.readers);
    thirsty.then_some(READERS)
}
