//! A lock that ends well, or whose process dies, and keeps others out until some time after its begin:
//! `core/src/shared/at_least.rs`.
//!
//! Its keys live that long, and the drift, from their SET on. One that ends well shortens that to what
//! is left, and the drift; one that dies leaves them. A release after work that failed deletes them, as
//! any other.

use crate::plain::mutants::Mutant;
use crate::plain::protocol::{Action, Protocol};
use crate::plain::state::State;

impl Protocol {
    /// Ends well, where keys are to stay and there is something left of that time.
    pub(crate) fn ends_well(
        &self,
        state: &State,
        attempt: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        let left = self.rests(state, attempt);
        if left == 0 {
            return;
        }
        let drift = if self.config.is(Mutant::ShortenedTooEarly) { 0 } else { self.config.drift };
        let mut next = *state;
        let record = &mut next.attempts[attempt];
        (record.closed, record.kept) = (left, left + drift);
        self.end(&mut next, attempt, true);
        emit(Action::EndWell { attempt }, next);
    }

    /// Dies with its process: the keys are left to expire.
    pub(crate) fn dies(&self, state: &mut State, attempt: usize) {
        let left = self.rests(state, attempt);
        let record = &mut state.attempts[attempt];
        (record.closed, record.left_alone) = (left, true);
        self.end(state, attempt, false);
    }

    fn rests(&self, state: &State, attempt: usize) -> u8 {
        self.config.at_least.saturating_sub(state.attempts[attempt].since)
    }
}
