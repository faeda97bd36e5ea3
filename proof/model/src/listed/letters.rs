//! What a release sends, and to which waiters.

use super::mutants::Mutant;
use super::protocol::Listed;
use super::state::{Phase, State};

impl Listed {
    /// Calls the first of these whose connection lives, for this slot. Returns `false` if there is none.
    fn calls_first(&self, state: &mut State, waiters: &[usize], slot: u8) -> bool {
        for waiter in waiters {
            let client = &mut state.clients[*waiter];
            client.place = 0;
            if client.phase == Phase::Gone && !self.config.is(Mutant::GoneIsCalled) {
                continue;
            }
            (client.called, client.passed) = (client.phase == Phase::Waiting, 0);
            client.slot = if client.called { slot } else { 0 };
            (state.is_quiet[usize::from(slot)], state.has_called) = (true, true);
            state.called_last = Some(*waiter as u8);
            state.watcher = state.watcher.filter(|watcher| usize::from(*watcher) != *waiter);
            return true;
        }
        false
    }

    /// Calls the first in front of a waiter. Returns `false` if there is none.
    pub(super) fn calls_in_front_of(&self, state: &mut State, who: usize) -> bool {
        let listed = state.listed();
        let ahead = listed.iter().position(|other| *other == who).unwrap_or(listed.len());
        self.calls_first(state, &listed[..ahead], 0)
    }

    /// Calls the first of the list, for this slot, and has the last one watch, unless another one watches all calls of this
    /// tick. If there is none, this is published.
    pub(super) fn calls(&self, state: &mut State, slot: u8) {
        self.passes_overdue(state);
        let listed = state.listed();
        let is_called = self.calls_first(state, &listed, slot);
        if !is_called && !self.config.is(Mutant::NoneIsPublished) {
            self.publishes(state);
        }
        let is_watched =
            state.watcher.is_some_and(|watcher| state.clients[usize::from(watcher)].place > 0);
        let last = state.listed().into_iter().rev();
        let mut reached = last.filter(|waiter| state.clients[*waiter].phase != Phase::Gone);
        let last = reached.next().filter(|_| !is_watched && !self.config.is(Mutant::NoWatch));
        if let Some(last) = last {
            state.watcher = Some(last as u8);
            state.clients[last].watch = state.clients[last].phase == Phase::Waiting;
        }
    }

    /// Asks the holder whose key is at the first node, if it was not called, as those in front do, of whom there are four:
    /// its release then calls.
    pub(super) fn asks_holder(&self, state: &mut State) {
        if self.config.slots == 1 && state.is_held_there[0] && !self.config.is(Mutant::NoneAsks) {
            let holder = state.clients.iter_mut().find(|client| client.phase == Phase::Holds);
            holder.into_iter().for_each(|holder| holder.asked = true);
        }
    }

    /// A client reads that others wait. If it has released the lock already, without a call, it calls now. Where another one
    /// has the lock by then, those that listen ask that one.
    pub(super) fn hears(&self, state: &State, who: usize) -> State {
        let mut next = *state;
        let client = &mut next.clients[who];
        let was_aware = std::mem::replace(&mut client.is_aware, true);
        client.asked = false;
        let is_over = client.phase != Phase::Holds && !was_aware;
        match next.is_held_there[0] {
            _ if !is_over || self.config.is(Mutant::LateAsksAreLost) => {}
            true => self.publishes(&mut next),
            false => self.calls(&mut next, 0),
        }
        next
    }

    /// Publishes on the channel of the key.
    pub(super) fn publishes(&self, state: &mut State) {
        if self.config.is(Mutant::NoneListens) {
            return;
        }
        for client in &mut state.clients {
            if client.phase == Phase::Waiting && client.listens {
                client.due = 0;
            }
        }
    }
}
