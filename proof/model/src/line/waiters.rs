//! What a client does, by the table that ships.

use super::mutants::Mutant;
use super::protocol::Line;
use super::state::{Client, Command, Kind, LINES, Stage, State};
use crate::quorum::Membership;
use crate::quorum::NodeSet;
use quorumlock_core::waiting::rules::{Does, News, Wait, next};

impl Line {
    pub(super) fn kind(&self, who: usize) -> Kind {
        self.config.kinds[who]
    }

    /// Returns whether a client reaches a master.
    pub(super) fn reaches(&self, who: usize, node: usize) -> bool {
        !(self.config.cut && node == 0 && who + 1 == self.config.kinds.len())
    }

    pub(super) fn is_trying(&self, client: &Client) -> bool {
        client.stage == Stage::Waits && matches!(client.wait, Some(Wait::Trying | Wait::Called))
    }

    /// A client begins to wait.
    pub(super) fn comes(&self, state: &mut State, who: usize, slot: u8) {
        let client = &mut state.clients[who];
        client.stage = Stage::Waits;
        client.at = u8::from(!self.reaches(who, 0) || state.has_failed);
        match self.kind(who) {
            Kind::Fair => self.asks(state, who),
            Kind::Plain | Kind::Foreign => self.tries(state, who, slot),
        }
    }

    /// A client learns something, of this slot, and does what follows from it.
    pub(super) fn learns(&self, state: &mut State, who: usize, (news, slot): (News, u8)) {
        let client = &mut state.clients[who];
        if matches!(client.stage, Stage::Stopped | Stage::Gone) {
            return;
        }
        let Some(wait) = client.wait else { return };
        let does = next(wait, news);
        let is_let_go = news == News::Called;
        match does {
            Does::Nothing | Does::GoOn => {}
            Does::Remember if self.config.is(Mutant::ForgetsCall) => {}
            Does::Remember => {
                (client.wait, client.next, client.hurries) = (Some(Wait::Called), slot, is_let_go);
            }
            Does::Ask => self.asks(state, who),
            Does::Try => {
                client.hurries = is_let_go;
                self.tries(state, who, slot);
            }
        }
    }

    /// A client learns where its line is.
    pub(super) fn moves(&self, state: &mut State, who: usize) {
        let client = &mut state.clients[who];
        let before = usize::from(client.at);
        client.ends_reading(true);
        client.at = 1 - client.at;
        self.sends(state, who, before, Command::Leave);
        self.learns(state, who, (News::Moved, 0));
    }

    /// The caller of a client has gone, or its time is over.
    pub(super) fn gives_up(&self, state: &mut State, who: usize) {
        let client = &mut state.clients[who];
        client.ends_reading(true);
        if self.is_trying(&state.clients[who]) {
            self.rolls_back(state, who);
        }
        let at = usize::from(state.clients[who].at);
        self.sends(state, who, at, Command::Leave);
        self.is_done(state, who);
    }

    /// Reads a message of a line that calls it.
    pub(super) fn is_called(&self, state: &mut State, who: usize, at: usize) {
        let client = &mut state.clients[who];
        let slot = std::mem::take(&mut client.called[at]) - 1;
        if client.wait.is_none() {
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
        self.learns(state, who, (News::Called, slot));
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
        let client = &mut state.clients[who];
        (client.wait, client.hurries) = (Some(Wait::Asking), false);
        let at = usize::from(client.at);
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
        (client.wait, client.has_asked) = (Some(Wait::Trying), false);
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
            self.holds(state, who);
        } else if !members.is_quorum(nodes(&|bit| client.refused & bit == 0)) {
            self.is_refused(state, who);
        }
    }

    fn is_refused(&self, state: &mut State, who: usize) {
        let client = &mut state.clients[who];
        let has_granted = client.granted & 1 << client.at != 0;
        let is_early = has_granted && std::mem::take(&mut client.hurries);
        if is_early && client.wait == Some(Wait::Trying) {
            client.wait = Some(Wait::Again);
        }
        let waits_again = client.wait == Some(Wait::Again);
        self.rolls_back(state, who);
        if self.kind(who) == Kind::Foreign {
            // It comes again by itself.
            return self.is_done(state, who);
        }
        if !waits_again {
            let news = if is_early { News::RefusedEarly } else { News::Refused };
            self.learns(state, who, (news, state.clients[who].next));
        }
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
        (client.stage, client.wait) = (Stage::Holds, None);
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
