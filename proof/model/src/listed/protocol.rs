//! Waitlists as a model to explore.

use super::config::Config;
use super::mutants::Mutant;
use super::state::{CLIENTS, Client, Phase, SLOTS, State, pause};
use crate::checker::Model;

pub(super) const PASSED: &str =
    "a waiter has the lock before those that came later, but once for each of them";
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
    /// A client reads that others wait for what it holds, or has held.
    Hear {
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
    /// A holder ends, and its key expires.
    Die {
        who: usize,
    },
    Restart,
    /// The clock of the list's master is set back.
    StepBack,
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
        let Client { is_aware, asked, .. } = state.clients[who];
        state.clients[who] =
            Client { phase: Phase::Holds, is_aware, asked, slot, ..Client::default() };
        // If it waits again, that is another waiter.
        state.watcher = state.watcher.filter(|watcher| usize::from(*watcher) != who);
        state.is_held_there[usize::from(slot)] |= self.reaches(who);
        state.drought = 0;
        true
    }

    /// Asks all masters for any slot.
    fn tries_any(&self, state: &mut State, who: usize) -> bool {
        (0..self.config.slots).any(|slot| self.tries(state, who, slot))
    }

    /// Asks in the list, and tries what is free there. Of a lock, only the first does: any other calls it.
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
        let free = (0..self.config.slots).find(may_try);
        if free.is_some() && !is_permit {
            self.stands(state, who);
            if self.calls_in_front_of(state, who) {
                state.clients[who].due = 1;
                return;
            }
        }
        if let Some(slot) = free {
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

    /// Takes all out of the list that have not asked when they were due, whatever is under the key.
    pub(super) fn passes_overdue(&self, state: &mut State) {
        let is_mute = |client: &&mut Client| matches!(client.phase, Phase::Stopped | Phase::Gone);
        for client in state.clients.iter_mut().filter(is_mute) {
            if client.due == 0 && !self.config.is(Mutant::OverdueStay) {
                client.place = 0;
            }
        }
    }

    /// Stands in the list, where it stood before if it has a stamp.
    fn stands(&self, state: &mut State, who: usize) {
        if state.clients[who].stamp == 0 || self.config.is(Mutant::StampsAreNew) {
            let last = state.clients.iter().map(|client| client.place).max().unwrap_or(0);
            let last = if self.config.is(Mutant::ClockDecides) { 0 } else { last };
            let stamp = state.stamp_after(last);
            (state.clients[who].stamp, state.clients[who].passed) = (stamp, 0);
        }
        state.clients[who].place = state.clients[who].stamp;
        self.passes_overdue(state);
        let listed = state.listed();
        let ahead = listed.iter().position(|other| *other == who).unwrap_or_default() as u8;
        let is_first = ahead == 0;
        let (has_called, is_quiet) = (state.has_called, state.is_quiet.contains(&true));
        let client = &mut state.clients[who];
        (client.is_aware, client.is_first) = (true, is_first);
        client.listens = is_first || !has_called;
        client.due = match is_first || std::mem::take(&mut client.watches) && is_quiet {
            true => 1,
            false if self.config.is(Mutant::NoPolls) => u8::MAX,
            false => pause(ahead),
        };
        self.asks_holder(state);
    }

    /// Returns whether a holder that knows of no waiter publishes its release: one of an older version, or that has held the
    /// lock for long, or had the key there, too, and does not know that another client's is.
    pub(super) fn publishes_release(&self, holder: &Client) -> bool {
        self.config.unaware || self.is_stuck(holder.slot)
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
        let Client { is_aware, asked, slot, .. } = state.clients[who];
        next.clients[who] = Client { is_aware, asked, ..Client::default() };
        next.is_held_there[usize::from(slot)] = self.is_stuck(slot);
        if !self.reaches(who) {
            // Its calls and messages are at another node.
        } else if knows {
            self.calls(&mut next, slot);
        } else if self.publishes_release(&state.clients[who]) {
            self.publishes(&mut next);
        }
        next
    }

    /// A holder ends without a release. Waiters know until when its key lives, and ask then, one after the other.
    fn dies(&self, state: &State, who: usize) -> State {
        let mut next = *state;
        next.dies += 1;
        let slot = state.clients[who].slot;
        next.clients[who] = Client { phase: Phase::Gone, ..Client::default() };
        next.is_held_there[usize::from(slot)] = self.is_stuck(slot);
        if !self.config.is(Mutant::PauseOutlastsKey) && !self.is_stuck(slot) {
            for client in next.clients.iter_mut().filter(|client| client.phase == Phase::Waiting) {
                client.due = client.due.min(1);
            }
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
        let (slot, came) = (std::mem::take(&mut client.slot), client.came);
        if was_called && self.tries(&mut next, who, slot) {
            let earlier = |other: &&mut Client| (1..came).contains(&other.came) && other.place > 0;
            for other in next.clients.iter_mut().filter(earlier) {
                other.passed += u8::from(other.phase == Phase::Waiting);
            }
        } else if was_called {
            match self.config.slots > 1 && !self.config.is(Mutant::RefusedStands) {
                true => self.asks(&mut next, who),
                false => self.stands(&mut next, who),
            }
        }
        next
    }

    fn after_a_tick(&self, state: &State) -> Option<State> {
        let pends = |client: &Client| {
            let is_due = client.called || client.watch || client.due == 0;
            client.phase == Phase::Waiting && is_due || client.hears()
        };
        if state.clients.iter().any(pends) {
            return None;
        }
        let mut next = *state;
        if !self.config.is(Mutant::CallForGood) {
            next.is_quiet = [false; SLOTS];
        }
        next.watcher = None;
        // One that is stopped, or gone, does not ask when it is due.
        for client in next.clients.iter_mut().filter(|client| client.due < u8::MAX) {
            client.due = client.due.saturating_sub(1);
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
        if state.steps_back < self.config.steps_back {
            let next = State { steps_back: state.steps_back + 1, clock: 0, ..*state };
            emit(Action::StepBack, next);
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
        let is_passed = |client: &Client| usize::from(client.passed) > self.config.clients;
        match state.clients.iter().any(is_passed) {
            true => Some(PASSED),
            false => (state.drought > self.config.within).then_some(SERVED),
        }
    }
}

impl Listed {
    /// The master of the list has lost all keys. Its clients ask again soon, once they are connected.
    fn restarted(&self, state: &State) -> State {
        let mut next = *state;
        next.restarts += 1;
        (next.is_held_there, next.is_quiet) = (self.all_stuck(), [false; SLOTS]);
        (next.has_called, next.watcher) = (false, None);
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
        let Client { is_aware, asked, .. } = state.clients[who];
        next.clients[who] = Client { phase: Phase::Waiting, is_aware, asked, ..Client::default() };
        next.watcher = next.watcher.filter(|watcher| usize::from(*watcher) != who);
        next
    }

    /// Emits what a client may do next.
    fn steps_of(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        let client = &state.clients[who];
        if client.hears() {
            emit(Action::Hear { who }, self.hears(state, who));
            if self.config.lossy {
                let mut next = *state;
                next.clients[who].asked = false;
                emit(Action::Lose { who }, next);
            }
        }
        let mut next = *state;
        match client.phase {
            Phase::Idle => {
                if !self.tries_any(&mut next, who) {
                    next.clients[who].phase = Phase::Waiting;
                    if self.config.steps_back > 0 {
                        let last = next.clients.iter().map(|client| client.came).max();
                        next.clients[who].came = last.unwrap_or_default() + 1;
                    }
                    self.asks(&mut next, who);
                }
                emit(Action::Acquire { who }, next);
            }
            Phase::Holds => {
                // Its key lives for longer than a call counts.
                if state.dies < self.config.dies && !state.is_quiet[usize::from(client.slot)] {
                    emit(Action::Die { who }, self.dies(state, who));
                }
                // Whoever has a permit calls as it gives it back.
                let knows = client.is_aware || self.config.slots > 1;
                let may_know = [knows.then_some(true), (!knows).then_some(false)];
                let publishes = self.is_stuck(client.slot).then_some(false);
                for knows in may_know.into_iter().chain([publishes]).flatten() {
                    let next = self.releases(state, who, knows);
                    emit(Action::Release { who, knows }, next);
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
                // It is overdue after two pauses of its place, of which it has begun one, and a tick.
                let place = state.listed().iter().position(|other| *other == who);
                let overdue =
                    client.due.saturating_add(place.map_or(0, |ahead| pause(ahead as u8) + 1));
                if state.cancels < self.config.cancels {
                    emit(Action::Cancel { who }, self.cancelled(state, who));
                }
                if state.stops < self.config.stops {
                    let mut next = next;
                    (next.clients[who].phase, next.clients[who].due) = (Phase::Stopped, overdue);
                    next.stops += 1;
                    emit(Action::Stop { who }, next);
                }
                if state.ends < self.config.ends {
                    (next.clients[who].phase, next.clients[who].due) = (Phase::Gone, overdue);
                    next.ends += 1;
                    emit(Action::End { who }, next);
                }
            }
            Phase::Stopped | Phase::Gone => {}
        }
    }
}
