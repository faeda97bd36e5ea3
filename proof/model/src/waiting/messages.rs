//! The effect of what is in flight.

use super::mutants::Mutant;
use super::protocol::{Action, Waiting};
use super::state::{Node, Phase, State};
use crate::masters::Extended;
use crate::sharing::scripts::{Asked, Command, MARK, Master};

impl Waiting {
    pub(super) fn delivers(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        for node in 0..self.config.nodes {
            if state.nodes[node].sent >> who & 1 == 0 {
                continue;
            }
            let mut next = *state;
            next.nodes[node].sent &= !(1 << who);
            self.executes(&mut next, who, node);
            if next.nodes.iter().all(|node| node.sent >> who & 1 == 0) {
                self.continues(&mut next, who);
            }
            emit(Action::Deliver { who, node }, next);
        }
    }

    fn executes(&self, state: &mut State, who: usize, node: usize) {
        let command = Command { who, life: self.config.clients[who].ttl, mutant: None };
        let before = state.nodes[node].master;
        match state.actors[who].phase {
            Phase::Trying => self.asks(state, &command, node),
            Phase::Backing if state.actors[who].reads => {
                state.nodes[node].master.release_read(&command);
            }
            Phase::Backing => {
                state.nodes[node].master.release(&command);
                self.hints(state, who, node);
            }
            Phase::Queued => self.hints(state, who, node),
            Phase::Held => self.deletes_hint(&mut state.nodes[node].master, who, 0),
            Phase::GivingUp => self.gives_hint_up(&mut state.nodes[node].master, who),
            Phase::Downgrading => {
                let node = &mut state.nodes[node];
                if node.master.extend_read(&command) == Extended::Held {
                    node.granted |= 1 << who;
                }
            }
            Phase::Leaving if state.actors[who].reads => {
                state.nodes[node].master.release_read(&command);
            }
            Phase::Leaving => {
                state.nodes[node].master.release(&command);
            }
            Phase::Idle | Phase::Waiting | Phase::Dead => {}
        }
        // A release notifies readers once nothing is left of what it releases.
        let is_free = before.owner != 0 && state.nodes[node].master.owner == 0;
        if is_free && state.actors[who].phase == Phase::Leaving {
            self.tells(state);
        }
    }

    fn asks(&self, state: &mut State, command: &Command, node: usize) {
        let who = command.who;
        let reads = self.config.clients[who].reads;
        // The first reader, and the first node, are those of the rules that are broken.
        let first = self.config.clients.iter().position(|client| client.reads) == Some(who);
        let ignores = (self.config.is(Mutant::HintIgnoredByOne) && first)
            || (self.config.is(Mutant::HintReadAtOne) && node != 0);
        let node = &mut state.nodes[node];
        let granted = if reads {
            node.master.acquire_read(command, ignores) == Asked::Granted
        } else {
            node.master.set(command)
        };
        if granted {
            node.granted |= 1 << who;
        } else if reads && self.config.sleeps {
            let taken = node.master.owner != 0 && node.master.owner != MARK;
            let life = if taken { node.master.left } else { node.master.hint_left };
            let actor = &mut state.actors[who];
            actor.refused = actor.refused.max(life);
        }
    }

    /// Sets the hint of a writer that was refused, whatever hint stood there before.
    fn hints(&self, state: &mut State, who: usize, node: usize) {
        let once = self.config.is(Mutant::HintSetOnce) && state.actors[who].hinted;
        let last = state.nodes.iter().all(|node| node.sent >> who & 1 == 0);
        let never = self.config.is(Mutant::HintNeverSet) || self.config.clients[who].plain;
        if !never && !once && self.config.deaf >> node & 1 == 0 {
            let master = &mut state.nodes[node].master;
            (master.hint, master.hint_left) = (who as u8 + 1, self.config.hint);
        }
        // After the last of them: until then it sets it for the first time.
        state.actors[who].hinted |= last && !self.config.clients[who].plain;
    }

    fn gives_hint_up(&self, master: &mut Master, who: usize) {
        let rest = match self.config.mutant {
            Some(Mutant::HintDeletedWhenGivenUp) => 0,
            Some(Mutant::RestTooShort) => self.config.rest - 1,
            _ => self.config.rest,
        };
        self.deletes_hint(master, who, rest);
    }

    /// Compares, and leaves the hint no more than so many ticks.
    fn deletes_hint(&self, master: &mut Master, who: usize, rest: u8) {
        if master.hint == who as u8 + 1 || self.config.is(Mutant::HintDeletedUncompared) {
            master.hint_left = master.hint_left.min(rest);
            if master.hint_left == 0 {
                master.hint = 0;
            }
        }
    }
}

impl Node {
    pub(super) fn drop_all_of(&mut self, who: usize) {
        self.sent &= !(1 << who);
        self.granted &= !(1 << who);
    }
}
