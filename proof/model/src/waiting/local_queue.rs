//! The local queue of one process: of its writers, one contends or holds, and the others wait behind it.

use super::mutants::Mutant;
use super::protocol::Waiting;
use super::state::{Phase, State};

impl Waiting {
    pub(super) const fn is_of_process(&self, who: usize) -> bool {
        who < self.config.together
    }

    /// Returns the client of the process that contends, holds, or has yet to leave.
    fn occupant(&self, state: &State) -> Option<usize> {
        let occupies =
            |who: &usize| !matches!(state.actors[*who].phase, Phase::Idle | Phase::Queued);
        (0..self.config.together).find(occupies)
    }

    pub(super) fn is_taken(&self, state: &State, who: usize) -> bool {
        self.is_of_process(who) && self.occupant(state).is_some()
    }

    /// Queues a client. If the contender has been refused, the first writer behind it sets its hint.
    pub(super) fn queues(&self, state: &State, who: usize) -> State {
        let mut next = *state;
        let last = state.actors.iter().map(|actor| actor.place).max().unwrap_or(0);
        (next.actors[who].phase, next.actors[who].place) = (Phase::Queued, last + 1);
        self.hints_behind(&mut next);
        next
    }

    /// Sends the hint of the first writer behind a contender that was refused. It is renewed whenever
    /// the contender is refused again: at least once in a tick.
    pub(super) fn hints_behind(&self, state: &mut State) {
        let refused = |actor| matches!(actor, Phase::Backing | Phase::Waiting);
        let contends = (0..self.config.together).any(|who| refused(state.actors[who].phase));
        let writers = (0..self.config.together).filter(|who| {
            state.actors[*who].phase == Phase::Queued && !self.config.clients[*who].plain
        });
        let first = writers.min_by_key(|who| state.actors[*who].place);
        let Some(who) = first.filter(|_| contends) else { return };
        if !self.config.is(Mutant::QueuedWriterSetsNoHint) {
            *state = self.sends(state, who, Phase::Queued);
            state.actors[who].hinted = true;
        }
    }

    pub(super) fn leaves_queue(&self, state: &mut State, who: usize) {
        let place = std::mem::take(&mut state.actors[who].place);
        let behind = state.actors.iter_mut().filter(|actor| place > 0 && actor.place > place);
        behind.for_each(|actor| actor.place -= 1);
    }

    /// Lets the next in the queue try, after `who` has left.
    pub(super) fn serves(&self, state: &mut State, who: usize) {
        let next = (0..self.config.together).find(|who| state.actors[*who].place == 1);
        let Some(next) = next.filter(|_| self.is_of_process(who)) else { return };
        if self.occupant(state).is_none() {
            self.leaves_queue(state, next);
            *state = self.tries(state, next);
        }
    }
}
