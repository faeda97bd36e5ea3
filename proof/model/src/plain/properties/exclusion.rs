//! At any instant at most one holder of a resource believes that it holds.
//!
//! The exception is a holder whose keys were deleted in its name by another client: it is not
//! notified.

use crate::plain::protocol::Protocol;
use crate::plain::state::{Phase, State};

pub(super) fn holds(protocol: &Protocol, state: &State) -> bool {
    let attempts = &state.attempts[..protocol.count()];
    let mut taken = 0;
    attempts.iter().zip(&protocol.config.attempts).all(|(attempt, contender)| {
        let believes = attempt.phase == Phase::Held && attempt.force == 0;
        let claims = if believes { contender.claims } else { 0 };
        let alone = taken & claims == 0;
        taken |= claims;
        alone
    })
}
