//! A client's first round, before which its notes are brief, and its shutdown, after which it takes
//! them back.

use super::mutants::Mutant;
use super::protocol::Agreement;
use super::state::{Round, State};

impl Agreement {
    /// Makes every later question of a client one for a whole note: its first round is to come.
    pub(super) fn want(&self, state: &mut State, client: usize) -> Option<()> {
        let actor = &mut state.actors[client];
        if !actor.brief || actor.quit {
            return None;
        }
        actor.brief = false;
        let links = || state.nodes[..self.config.nodes].iter().map(|node| &node.links[client]);
        if links().any(|link| link.reported.iter().any(|ticks| *ticks > 0)) {
            // The answers decide which of the nodes are shields.
            state.nodes.iter_mut().for_each(|node| node.links[client].answered = 0);
        }
        Some(())
    }

    /// Ends all that a client will ever send. What it has won stays: keys that are to stay, or that
    /// another process has by now.
    pub(super) fn quit(&self, state: &mut State, client: usize) -> Option<()> {
        let actor = &mut state.actors[client];
        if !self.config.clients[client].quits || actor.quit || actor.round != Round::None {
            return None;
        }
        (actor.quit, actor.attempts, actor.rounds) = (true, 0, 0);
        Some(())
    }

    /// Takes back what a client has noted at a node, as far as nothing that it has sent relies on it.
    pub(super) fn take_back(&self, state: &mut State, client: usize, node: usize) -> Option<()> {
        let actor = &state.actors[client];
        if !actor.quit {
            return None;
        }
        let left = if self.config.is(Mutant::TakenBackWhileKeysStay) { 0 } else { actor.left };
        let clients = &self.config.clients;
        let of_all = self.config.is(Mutant::TakenBackForAll);
        let takes = |other: &usize| {
            *other == client || of_all && clients[client].lists == clients[*other].lists
        };
        for other in (0..self.count()).filter(takes) {
            let note = &mut state.nodes[node].links[other].note;
            *note = left.min(*note);
        }
        Some(())
    }
}
