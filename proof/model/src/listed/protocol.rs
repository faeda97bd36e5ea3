//! Waitlists as a model to explore.

use super::config::Config;
use super::mutants::Mutant;
use super::state::{CLIENTS, Client, FAR, Phase, SLOTS, State};
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
        assert!((1..=SLOTS).contains(&usize::from(config.slots)), "so many slots have no room");
        Self { config }
    }

    /// Returns whether a client reaches the first node.
    fn reaches(&self, who: usize) -> bool {
        !(self.config.cut && who + 1 == self.config.clients)
    }

    /// Asks all masters for a slot. Returns whether the client has it now.
    fn tries(&self, state: &mut State, who: usize, slot: u8) -> bool {
        if state.is_held(slot) {
            return false;
        }
        let is_aware = state.clients[who].is_aware;
        state.clients[who] = Client { phase: Phase::Holds, is_aware, slot, ..Client::default() };
        state.is_held_there[usize::from(slot)] |= self.reaches(who);
        state.drought = 0;
        true
    }

    /// Asks all masters for any slot.
    fn tries_any(&self, state: &mut State, who: usize) -> bool {
        (0..self.config.slots).any(|slot| self.tries(state, who, slot))
    }

    /// Asks in the list, and tries what is free there.
    fn asks(&self, state: &mut State, who: usize) {
        let is_in_front = state.clients[who].is_first;
        if !self.reaches(who) || is_in_front && !self.config.is(Mutant::ListDecides) {
            // As often as it asks in the list, it asks all masters.
            if self.tries_any(state, who) {
                return;
            }
        }
        if !self.reaches(who) {
            state.clients[who].due = 1;
            return;
        }
        let is_permit = self.config.slots > 1;
        let is_called = state.called_last == Some(who as u8)
            && !is_permit
            && !self.config.is(Mutant::OwnCallCounts);
        let may_try = |slot: &u8| {
            let at = usize::from(*slot);
            let is_quiet = state.is_quiet[at] && !is_called;
            !state.is_held_there[at] && !is_quiet
        };
        if let Some(slot) = (0..self.config.slots).find(may_try) {
            state.clients[who].place = 0;
            // Where several wait for several slots, each that asks tries one alone, also if it is the first.
            let stand = state.clients.iter().any(|client| client.place > 0);
            state.is_quiet[usize::from(slot)] = is_permit || stand;
            state.called_last = Some(who as u8);
            return match self.tries(state, who, slot) {
                true => {}
                // The hold lacks its first node. Another slot may be free.
                false if is_permit => self.asks(state, who),
                false => state.clients[who].due = 1,
            };
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
        let (has_called, is_quiet) = (state.has_called, state.is_quiet.contains(&true));
        let client = &mut state.clients[who];
        (client.is_aware, client.is_first) = (true, is_first);
        client.listens = is_first || !has_called;
        client.due = match is_first || std::mem::take(&mut client.watches) && is_quiet {
            true => 1,
            false if self.config.is(Mutant::NoPolls) => u8::MAX,
            false => FAR,
        };
    }

    /// Returns whether the key of a slot has another client's value at the first node: of the first slot.
    fn is_stuck(&self, slot: u8) -> bool {
        self.config.stuck && slot == 0
    }

    fn all_stuck(&self) -> [bool; SLOTS] {
        [self.config.stuck, false]
    }

    fn releases(&self, state: &State, who: usize, knows: bool) -> State {
        let mut next = *state;
        let Client { is_aware, slot, .. } = state.clients[who];
        next.clients[who] = Client { is_aware, ..Client::default() };
        next.is_held_there[usize::from(slot)] = self.is_stuck(slot);
        if !self.reaches(who) {
            // Its calls and messages are at another node.
        } else if knows && !self.is_stuck(slot) {
            self.calls(&mut next, slot);
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
        let slot = std::mem::take(&mut client.slot);
        if was_called && !self.tries(&mut next, who, slot) {
            match self.config.slots > 1 && !self.config.is(Mutant::RefusedStands) {
                true => self.asks(&mut next, who),
                false => self.stands(&mut next, who),
            }
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
        if !self.config.is(Mutant::CallForGood) {
            next.is_quiet = [false; SLOTS];
        }
        for client in next.clients.iter_mut().filter(|client| client.phase == Phase::Waiting) {
            if client.due < u8::MAX {
                client.due -= 1;
            }
        }
        let waits = next.clients.iter().any(|client| client.phase == Phase::Waiting);
        let is_free = (0..self.config.slots).any(|slot| !next.is_held(slot));
        next.drought = if waits && is_free { next.drought + 1 } else { 0 };
        Some(next)
    }
}

impl Model for Listed {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        State { is_held_there: self.all_stuck(), ..State::default() }
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
        let counts = self.config.slots == 1 && state.is_quiet[0];
        state.called_last = state.called_last.filter(|_| counts);
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
        (next.is_held_there, next.is_quiet) = (self.all_stuck(), [false; SLOTS]);
        next.has_called = false;
        for client in &mut next.clients {
            (client.place, client.stamp, client.is_first) = (0, 0, false);
            client.listens = false;
            client.slot = if client.phase == Phase::Holds { client.slot } else { 0 };
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
                if !self.tries_any(&mut next, who) {
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
                        (lost.called, lost.watch, lost.slot) = (false, false, 0);
                        emit(Action::Lose { who }, next);
                    }
                } else if client.due == 0 {
                    self.asks(&mut next, who);
                    emit(Action::Ask { who }, next);
                }
                let mut next = *state;
                let client = &mut next.clients[who];
                (client.called, client.watch, client.slot) = (false, false, 0);
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
