//! The token of a win is greater than that of every win of the resource before it.

use super::Property;
use crate::plain::config::{Fence, RESOURCES};
use crate::plain::state::State;

pub(crate) fn won(state: &mut State, claims: u8, token: u8, fence: Fence) {
    if fence == Fence::None {
        return;
    }
    for resource in (0..RESOURCES).filter(|resource| claims >> resource & 1 == 1) {
        if token <= state.greatest[resource] {
            state.broken = Property::TokensRise.code();
        }
        state.greatest[resource] = token;
    }
}
