//! What a master does with a command.

use super::mutants::Mutant;
use super::protocol::Line;
use super::state::{CLIENTS, Client, Command, Entry, Kind, STUCK, Stage, State};
use quorumlock_core::waiting::rules::{News, Wait};

/// What a line answers to a question.
enum Answer {
    Go(u8),
    Waits(Wait),
}

impl Line {
    /// Executes the next command of a client; what is no message to another client is read at once.
    pub(super) fn executes(&self, state: &mut State, who: usize, node: usize) {
        match state.clients[who].take(node) {
            Command::None => {}
            Command::Set { slot, is_over } => {
                let key = &mut state.masters[node].keys[usize::from(slot)];
                let is_granted = *key == 0;
                if is_granted {
                    *key = who as u8 + 1;
                }
                if !is_over {
                    self.votes(state, who, node, is_granted);
                }
            }
            Command::Delete { slot } => {
                let key = &mut state.masters[node].keys[usize::from(slot)];
                if *key == who as u8 + 1 {
                    *key = 0;
                }
            }
            Command::Ask { is_over } => {
                let answer = self.asked(state, who, node);
                if !is_over {
                    self.is_answered(state, who, answer);
                }
            }
            Command::Call { slot } => self.gives_back(state, who, node, slot),
            Command::Leave => {
                state.clients[who].entries[node] = Entry::default();
                state.passes(who, node);
            }
        }
    }

    /// A client reads an answer.
    fn is_answered(&self, state: &mut State, who: usize, answer: Answer) {
        match answer {
            Answer::Go(slot) => self.learns(state, who, (News::Called, slot)),
            Answer::Waits(_) if self.is_trying(&state.clients[who]) => {}
            Answer::Waits(wait) => state.clients[who].wait = Some(wait),
        }
    }

    /// Enters a waiter, lets go those in front, and answers.
    fn asked(&self, state: &mut State, who: usize, at: usize) -> Answer {
        if !self.enters(state, who, at) {
            return Answer::Waits(Wait::Alone);
        }
        self.passes_late(state, at);
        for slot in 0..self.config.slots {
            let call = state.masters[at].calls[usize::from(slot)];
            let is_free = state.masters[at].keys[usize::from(slot)] == 0;
            if is_free && call == who as u8 + 1 {
                state.clients[who].entries[at] = Entry::default();
                return Answer::Go(slot);
            }
            if self.config.is(Mutant::AnyGoes) && is_free && call == 0 {
                state.clients[who].entries[at] = Entry::default();
                state.masters[at].calls[usize::from(slot)] = who as u8 + 1;
                self.notes_ahead(state, who, at);
                return Answer::Go(slot);
            }
            if self.lets_go(state, at, slot, Some(who)) {
                return Answer::Go(slot);
            }
        }
        let is_called = |slot: u8| state.masters[at].calls[usize::from(slot)] != 0;
        let line = state.line(at);
        // Where each slot is called for, those that were called are ahead.
        if line.first() != Some(&who) || (0..self.config.slots).all(is_called) {
            return Answer::Waits(Wait::Behind);
        }
        self.notes_ahead(state, who, at);
        for slot in 0..self.config.slots {
            let holder = state.masters[at].keys[usize::from(slot)];
            if (1..=CLIENTS as u8).contains(&holder) {
                let holder = usize::from(holder - 1);
                let is_heard = self.kind(holder) != Kind::Foreign && self.reaches(holder, at);
                if is_heard && !state.clients[holder].calls[at] {
                    state.clients[holder].wanted[at] = true;
                }
            }
        }
        Answer::Waits(Wait::First)
    }

    /// Enters a waiter where it stood, or behind all others. Returns whether there is room.
    fn enters(&self, state: &mut State, who: usize, at: usize) -> bool {
        let has_place = state.clients[who].entries[at].stamp > 0;
        if !has_place && state.line(at).len() >= usize::from(self.config.room) {
            return false;
        }
        let stamps = |client: &Client| {
            client.stamp.max(client.entries[0].stamp).max(client.entries[1].stamp)
        };
        let highest = state.clients.iter().map(stamps).max().unwrap_or(0);
        let is_behind = state.masters[at].is_behind;
        let client = &mut state.clients[who];
        let is_moved = client.counted != 0 && usize::from(client.counted) != at + 1;
        let is_new = client.stamp == 0
            || self.config.is(Mutant::StampsAreNew) && client.entries[at].stamp == 0
            || self.config.is(Mutant::NoAge) && is_moved;
        if is_new {
            client.stamp = highest + 1;
        }
        // Its clock counts from before the others have entered.
        let is_wrong = self.config.is(Mutant::ClockDecides) && is_behind && (is_new || is_moved);
        let is_again = client.entries[at].is_again || is_wrong;
        client.entries[at] = Entry { stamp: client.stamp, is_again, is_late: false };
        client.counted = at as u8 + 1;
        state.renumber();
        true
    }

    /// Takes out those that have not asked when they were due, whatever is under the key.
    fn passes_late(&self, state: &mut State, at: usize) {
        for waiter in 0..CLIENTS {
            if state.clients[waiter].entries[at].is_late && !self.config.is(Mutant::LateStay) {
                state.clients[waiter].entries[at] = Entry::default();
                state.passes(waiter, at);
            }
        }
    }

    /// Lets go the first of the line, if the slot is free and no waiter is called for it. Returns whether that is the one
    /// that asks.
    fn lets_go(&self, state: &mut State, at: usize, slot: u8, asks: Option<usize>) -> bool {
        let place = usize::from(slot);
        if state.masters[at].keys[place] != 0 || state.masters[at].calls[place] != 0 {
            return false;
        }
        for first in state.line(at) {
            let entry = std::mem::take(&mut state.clients[first].entries[at]);
            // Of several slots, it was let go as it was called first.
            if self.config.slots == 1 || !entry.is_again {
                self.notes_ahead(state, first, at);
            }
            if asks == Some(first) {
                state.masters[at].calls[place] = first as u8 + 1;
                return true;
            }
            let is_heard = state.clients[first].stage != Stage::Gone && self.reaches(first, at);
            if is_heard {
                state.clients[first].called[at] = slot + 1;
            }
            if is_heard || self.config.is(Mutant::GoneAreHeard) {
                state.masters[at].calls[place] = first as u8 + 1;
                return false;
            }
        }
        false
    }

    /// Notes which clients were ahead of one as it was let go, or the line said that it is the first. There is no order
    /// among those that are let go for several slots: then, those that were not let go before it.
    fn notes_ahead(&self, state: &mut State, who: usize, at: usize) {
        let counts = |other: &Client| self.config.slots == 1 || other.entries[at].stamp > 0;
        let (line, stamp) = (at as u8 + 1, state.clients[who].stamp);
        let clients = state.clients.iter().enumerate();
        let ahead = clients
            .filter(|(_, other)| other.counted == line && other.stamp < stamp && counts(other));
        state.clients[who].ahead = ahead.fold(0, |bits, (other, _)| bits | 1 << other);
    }

    /// A client gives back what it held, or a call that it does not need.
    fn gives_back(&self, state: &mut State, who: usize, at: usize, slot: u8) {
        let place = usize::from(slot);
        state.clients[who].entries[at] = Entry::default();
        self.passes_late(state, at);
        let called = state.masters[at].calls[place];
        if let Some(other) = usize::from(called).checked_sub(1) {
            let stamp = state.clients[other].stamp;
            let entry = &mut state.clients[other].entries[at];
            let has_lost = other != who && entry.stamp == 0 && stamp > 0;
            if has_lost && !self.config.is(Mutant::NotCalledAgain) {
                *entry = Entry { stamp, is_again: true, is_late: false };
            }
        }
        state.masters[at].calls[place] = 0;
        self.lets_go(state, at, slot, None);
    }

    /// A master has lost its line.
    pub(super) fn loses_line(&self, state: &mut State, at: usize) {
        (state.masters[at].calls, state.masters[at].is_behind) = Default::default();
        for waiter in 0..CLIENTS {
            state.clients[waiter].entries[at] = Entry::default();
            state.passes(waiter, at);
        }
    }

    /// The first master ends, with all that was on its way to it.
    pub(super) fn fails(&self, state: &mut State) {
        state.has_failed = true;
        state.masters[0].keys = [STUCK; 2];
        self.loses_line(state, 0);
        for waiter in 0..self.config.kinds.len() {
            let client = &mut state.clients[waiter];
            client.sent[0] = Default::default();
            (client.called[0], client.calls[0], client.wanted[0]) = Default::default();
            self.is_unheard(state, waiter);
        }
    }

    /// The first master does not answer an attempt.
    pub(super) fn is_unheard(&self, state: &mut State, who: usize) {
        let client = &state.clients[who];
        let is_answered = (client.granted | client.refused) & 1 != 0;
        if self.is_trying(client) && !is_answered {
            for command in &mut state.clients[who].sent[0] {
                if let Command::Set { is_over, .. } = command {
                    *is_over = true;
                }
            }
            self.votes(state, who, 0, false);
        }
    }
}

impl State {
    /// Those that are behind a client in this line need not wait for it until it asks again.
    pub(super) fn passes(&mut self, who: usize, at: usize) {
        if usize::from(self.clients[who].counted) == at + 1 {
            self.clients[who].counted = 0;
            self.clients.iter_mut().for_each(|client| client.ahead &= !(1 << who));
        }
    }
}
