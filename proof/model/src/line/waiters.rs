//! What a client does, by the table that ships.

use super::mutants::Mutant;
use super::protocol::Line;
use super::state::{Client, Command, Kind, LINES, Stage, State};
use crate::line::rules::{Does, Event, Phase, next};
use crate::quorum::Membership;
use crate::quorum::NodeSet;

impl Line {
    pub(super) fn kind(&self, who: usize) -> Kind {
        self.config.kinds[who]
    }

    /// Returns whether a client reaches a master.
    pub(super) fn reaches(&self, who: usize, node: usize) -> bool {
        !(self.config.cut && node == 0 && who + 1 == self.config.kinds.len())
    }

    pub(super) fn is_trying(&self, client: &Client) -> bool {
        client.stage == Stage::Waits && matches!(client.phase, Phase::Trying | Phase::Called)
    }

    /// A client begins to wait.
    pub(super) fn comes(&self, state: &mut State, who: usize, slot: u8) {
        let client = &mut state.clients[who];
        client.stage = Stage::Waits;
        client.at = u8::from(!self.reaches(who, 0) || state.has_failed);
        let event = if self.kind(who) == Kind::Fair { Event::Begins } else { Event::Comes };
        self.learns(state, who, (event, slot));
    }

    /// A client learns something, of this slot, and does what follows from it.
    pub(super) fn learns(&self, state: &mut State, who: usize, (event, slot): (Event, u8)) {
        let client = &mut state.clients[who];
        if matches!(client.stage, Stage::Stopped | Stage::Gone) {
            return;
        }
        let is_trying = self.is_trying(client);
        let (does, phase) = next(client.phase, event);
        let is_named = phase == Phase::Called && client.phase == Phase::Trying;
        if is_named && self.config.is(Mutant::ForgetsCall) {
            return;
        }
        if phase == Phase::Called {
            client.next = slot;
        }
        client.phase = phase;
        match does {
            Does::Sleep => {}
            Does::Ask => self.asks(state, who),
            Does::Move => {
                client.ends_reading(true);
                client.at = 1 - client.at;
                self.asks(state, who);
            }
            Does::Try => self.tries(state, who, slot),
            Does::Hold => self.holds(state, who),
            Does::PassOn => {
                let at = usize::from(client.at);
                if !self.config.is(Mutant::NotPassedOn) {
                    self.sends(state, who, at, Command::Call { slot });
                }
            }
            Does::Leave => {
                client.ends_reading(true);
                if is_trying {
                    self.rolls_back(state, who);
                }
                let at = usize::from(state.clients[who].at);
                self.sends(state, who, at, Command::Leave);
                self.is_done(state, who);
            }
        }
    }

    /// Reads a message of a line that calls it.
    pub(super) fn is_called(&self, state: &mut State, who: usize, at: usize) {
        let client = &mut state.clients[who];
        let slot = std::mem::take(&mut client.called[at]) - 1;
        if client.phase == Phase::Out {
            // It passes on what another line has called it for, too.
            if !self.config.is(Mutant::NotPassedOn) {
                self.sends(state, who, at, Command::Call { slot });
            }
            return;
        }
        if !self.is_trying(client) {
            client.slot = slot;
            client.calls[at] = true;
        }
        self.learns(state, who, (Event::Named, slot));
    }

    /// Reads a message that it is to call in a line.
    pub(super) fn is_wanted(&self, state: &mut State, who: usize, at: usize) {
        let client = &mut state.clients[who];
        client.wanted[at] = false;
        match client.stage {
            Stage::Holds if !self.config.is(Mutant::NotTold) => client.calls[at] = true,
            Stage::Waits if self.is_trying(client) => client.calls[at] = true,
            Stage::Idle | Stage::Done => {
                let slot = client.slot;
                self.sends(state, who, at, Command::Call { slot });
            }
            _ => {}
        }
    }

    fn asks(&self, state: &mut State, who: usize) {
        let at = usize::from(state.clients[who].at);
        self.sends(state, who, at, Command::Ask { is_over: false });
    }

    pub(super) fn sends(&self, state: &mut State, who: usize, node: usize, command: Command) {
        let has_ended = node == 0 && state.has_failed;
        if !has_ended && self.reaches(who, node) {
            state.clients[who].send(node, command);
        }
    }

    /// Asks all masters for a slot.
    pub(super) fn tries(&self, state: &mut State, who: usize, slot: u8) {
        let client = &mut state.clients[who];
        (client.slot, client.granted, client.refused) = (slot, 0, 0);
        for node in 0..self.config.nodes {
            self.sends(state, who, node, Command::Set { slot, is_over: false });
        }
        if !self.reaches(who, 0) || state.has_failed {
            self.votes(state, who, 0, false);
        }
    }

    pub(super) fn votes(&self, state: &mut State, who: usize, node: usize, is_granted: bool) {
        let client = &mut state.clients[who];
        if !self.is_trying(client) {
            return;
        }
        let votes = if is_granted { &mut client.granted } else { &mut client.refused };
        *votes |= 1 << node;
        let members = Membership::of(self.config.nodes).expect("some masters");
        let nodes = |has: &dyn Fn(u8) -> bool| -> NodeSet {
            (0..self.config.nodes).filter(|node| has(1 << node)).collect()
        };
        if members.is_quorum(nodes(&|bit| client.granted & bit != 0)) {
            client.ends_reading(false);
            self.learns(state, who, (Event::Won, state.clients[who].slot));
        } else if !members.is_quorum(nodes(&|bit| client.refused & bit == 0)) {
            self.is_refused(state, who);
        }
    }

    fn is_refused(&self, state: &mut State, who: usize) {
        self.rolls_back(state, who);
        if self.kind(who) == Kind::Foreign {
            // It comes again by itself.
            return self.is_done(state, who);
        }
        let slot = state.clients[who].next;
        self.learns(state, who, (Event::Refused, slot));
    }

    fn rolls_back(&self, state: &mut State, who: usize) {
        state.clients[who].ends_reading(false);
        let slot = state.clients[who].slot;
        for node in 0..self.config.nodes {
            self.sends(state, who, node, Command::Delete { slot });
        }
    }

    fn holds(&self, state: &mut State, who: usize) {
        let client = &mut state.clients[who];
        client.stage = Stage::Holds;
        // It stands in its line, or stood there.
        if self.kind(who) == Kind::Fair || client.stamp > 0 {
            client.calls[usize::from(client.at)] = true;
        }
        let ahead = client.ahead;
        let is_fair = |who: usize| self.kind(who) == Kind::Fair;
        let waits =
            |other: usize| ahead & 1 << other != 0 && state.clients[other].stage == Stage::Waits;
        let mut others = 0..self.config.kinds.len();
        state.overtaken |= is_fair(who) && others.any(|other| is_fair(other) && waits(other));
    }

    pub(super) fn releases(&self, state: &mut State, who: usize) {
        let slot = state.clients[who].slot;
        for node in 0..self.config.nodes {
            self.sends(state, who, node, Command::Delete { slot });
            let calls = node < LINES && state.clients[who].calls[node];
            if calls && self.kind(who) != Kind::Foreign {
                self.sends(state, who, node, Command::Call { slot });
            }
        }
        self.is_done(state, who);
    }

    /// A client has released, or given up.
    fn is_done(&self, state: &mut State, who: usize) {
        let client = &mut state.clients[who];
        let comes_again = self.config.again || self.kind(who) == Kind::Foreign;
        let stage = if comes_again { Stage::Idle } else { Stage::Done };
        let Client { sent, called, wanted, entries, slot, at, .. } = *client;
        *client = Client { stage, sent, called, wanted, entries, slot, at, ..Client::default() };
        state.clients.iter_mut().for_each(|client| client.ahead &= !(1 << who));
    }
}
