//! Waitlists as a model to explore.

use super::config::Config;
use super::mutants::Mutant;
use super::state::{CLIENTS, Client, FAR, Phase, State};
use crate::checker::Model;

pub(super) const SERVED: &str = "a lock that is free goes to a client that waits";

/// A possible next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Acquire {
        who: usize,
    },
    /// A holder releases, which knows of the list or not.
    Release {
        who: usize,
        knows: bool,
    },
    /// A waiter reads that it is called, or is to watch.
    Read {
        who: usize,
    },
    Lose {
        who: usize,
    },
    Ask {
        who: usize,
    },
    /// A waiter gives up, and another one of its process waits.
    Cancel {
        who: usize,
    },
    Stop {
        who: usize,
    },
    End {
        who: usize,
    },
    Restart,
    Tick,
}

#[derive(Debug)]
pub struct Listed {
    pub config: Config,
}

impl Listed {
    pub fn new(config: Config) -> Self {
        assert!(config.clients <= CLIENTS, "so many clients have no room");
        Self { config }
    }

    /// Returns whether a client reaches the first node.
    fn reaches(&self, who: usize) -> bool {
        !(self.config.cut && who + 1 == self.config.clients)
    }

    /// Asks all masters. Returns whether the client has the lock now.
    fn tries(&self, state: &mut State, who: usize) -> bool {
        if state.is_held() {
            return false;
        }
        let is_aware = state.clients[who].is_aware;
        state.clients[who] = Client { phase: Phase::Holds, is_aware, ..Client::default() };
        state.is_held_there |= self.reaches(who);
        state.drought = 0;
        true
    }

    /// Asks in the list, and tries if the key is free there.
    fn asks(&self, state: &mut State, who: usize) {
        let is_in_front = state.clients[who].is_first;
        if !self.reaches(who) || is_in_front && !self.config.is(Mutant::ListDecides) {
            // As often as it asks in the list, it asks all masters.
            if self.tries(state, who) {
                return;
            }
        }
        if !self.reaches(who) {
            state.clients[who].due = 1;
            return;
        }
        let is_called = state.called_last == Some(who as u8);
        let may_try = !state.is_quiet || is_called && !self.config.is(Mutant::OwnCallCounts);
        if !state.is_held_there && may_try {
            state.clients[who].place = 0;
            state.is_quiet = state.clients.iter().any(|client| client.place > 0);
            state.called_last = Some(who as u8);
            if !self.tries(state, who) {
                // The hold lacks its first node.
                state.clients[who].due = 1;
            }
            return;
        }
        self.stands(state, who);
    }

    /// Stands in the list, where it stood before if it has a stamp.
    fn stands(&self, state: &mut State, who: usize) {
        let last = state.clients.iter().map(|client| client.stamp).max().unwrap_or(0);
        let client = &mut state.clients[who];
        if client.stamp == 0 {
            client.stamp = last + 1;
        }
        client.place = client.stamp;
        let is_first = state.listed().first() == Some(&who);
        let (has_called, is_quiet) = (state.has_called, state.is_quiet);
        let client = &mut state.clients[who];
        (client.is_aware, client.is_first) = (true, is_first);
        client.listens = is_first || !has_called;
        client.due = match is_first || std::mem::take(&mut client.watches) && is_quiet {
            true => 1,
            false if self.config.is(Mutant::NoPolls) => u8::MAX,
            false => FAR,
        };
    }

    fn releases(&self, state: &State, who: usize, knows: bool) -> State {
        let mut next = *state;
        let is_aware = state.clients[who].is_aware;
        next.clients[who] = Client { is_aware, ..Client::default() };
        next.is_held_there = self.config.stuck;
        if !self.reaches(who) {
            // Its calls and messages are at another node.
        } else if knows && !next.is_held_there {
            self.calls(&mut next);
        } else {
            self.publishes(&mut next);
        }
        next
    }

    fn reads(&self, state: &State, who: usize) -> State {
        let mut next = *state;
        let client = &mut next.clients[who];
        let was_called = std::mem::take(&mut client.called);
        if std::mem::take(&mut client.watch) {
            // It asks once the call does not count any more.
            (client.watches, client.due) = (true, client.due.min(1));
        }
        if was_called && !self.tries(&mut next, who) {
            self.stands(&mut next, who);
        }
        next
    }

    fn after_a_tick(&self, state: &State) -> Option<State> {
        let pends = |client: &Client| {
            client.phase == Phase::Waiting && (client.called || client.watch || client.due == 0)
        };
        if state.clients.iter().any(pends) {
            return None;
        }
        let mut next = *state;
        next.is_quiet &= self.config.is(Mutant::CallForGood);
        for client in next.clients.iter_mut().filter(|client| client.phase == Phase::Waiting) {
            if client.due < u8::MAX {
                client.due -= 1;
            }
        }
        let waits = next.clients.iter().any(|client| client.phase == Phase::Waiting);
        next.drought = if waits && !next.is_held() { next.drought + 1 } else { 0 };
        Some(next)
    }
}

impl Model for Listed {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        State { is_held_there: self.config.stuck, ..State::default() }
    }

    fn successors(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        (0..self.config.clients).for_each(|who| self.steps_of(state, who, &mut emit));
        if state.restarts < self.config.restarts {
            emit(Action::Restart, self.restarted(state));
        }
        if let Some(next) = self.after_a_tick(state) {
            emit(Action::Tick, next);
        }
    }

    fn canonical(&self, mut state: State) -> State {
        state.called_last = state.called_last.filter(|_| state.is_quiet);
        state.renumber();
        state
    }

    fn digest(&self, state: &State) -> u64 {
        state.digest(self.config.clients)
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        (state.drought > self.config.within).then_some(SERVED)
    }
}

impl Listed {
    /// The master of the list has lost all keys. Its clients ask again soon, once they are connected.
    fn restarted(&self, state: &State) -> State {
        let mut next = *state;
        next.restarts += 1;
        (next.is_held_there, next.is_quiet, next.has_called) = (self.config.stuck, false, false);
        for client in &mut next.clients {
            (client.place, client.stamp, client.is_first) = (0, 0, false);
            client.listens = false;
            (client.called, client.watch) = (false, false);
            client.due = client.due.min(1);
        }
        next
    }

    /// A waiter leaves the list, called or not, and the next one of its process asks in it.
    fn cancelled(&self, state: &State, who: usize) -> State {
        let mut next = *state;
        next.cancels += 1;
        let is_aware = state.clients[who].is_aware;
        next.clients[who] = Client { phase: Phase::Waiting, is_aware, ..Client::default() };
        next
    }

    /// Emits what a client may do next.
    fn steps_of(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        let client = &state.clients[who];
        let mut next = *state;
        match client.phase {
            Phase::Idle => {
                if !self.tries(&mut next, who) {
                    next.clients[who].phase = Phase::Waiting;
                    self.asks(&mut next, who);
                }
                emit(Action::Acquire { who }, next);
            }
            Phase::Holds => {
                for knows in [true, false] {
                    if knows || self.config.unaware && !client.is_aware {
                        let next = self.releases(state, who, knows);
                        emit(Action::Release { who, knows }, next);
                    }
                }
            }
            Phase::Waiting => {
                if client.called || client.watch {
                    emit(Action::Read { who }, self.reads(state, who));
                    if self.config.lossy {
                        let lost = &mut next.clients[who];
                        (lost.called, lost.watch) = (false, false);
                        emit(Action::Lose { who }, next);
                    }
                } else if client.due == 0 {
                    self.asks(&mut next, who);
                    emit(Action::Ask { who }, next);
                }
                let mut next = *state;
                let client = &mut next.clients[who];
                (client.called, client.watch) = (false, false);
                if state.cancels < self.config.cancels {
                    emit(Action::Cancel { who }, self.cancelled(state, who));
                }
                if state.stops < self.config.stops {
                    next.clients[who].phase = Phase::Stopped;
                    next.stops += 1;
                    emit(Action::Stop { who }, next);
                    next.stops -= 1;
                }
                if state.ends < self.config.ends {
                    next.clients[who].phase = Phase::Gone;
                    next.ends += 1;
                    emit(Action::End { who }, next);
                }
            }
            Phase::Stopped | Phase::Gone => {}
        }
    }
}
