//! The conditions under which a client may send, and the result of a round.

use super::mutants::Mutant;
use super::properties::Property;
use super::protocol::Agreement;
use super::state::{Known, Link, NO_HOLDER, Node, Round, State, bit};
use crate::quorum::NodeSet;

/// A round that may be sent.
struct Passed {
    /// The nodes that it is sent to, as bits.
    to: u8,
    /// The clients whose note or lock is at a node that could report them.
    could: u8,
}

impl Agreement {
    pub(super) fn acquire(&self, state: &mut State, client: usize) -> Option<()> {
        let actor = &state.actors[client];
        let brief = actor.brief && !self.config.is(Mutant::BriefConfirms);
        if actor.attempts == 0 || actor.round != Round::None || actor.left > 0 || brief {
            return None;
        }
        let passed = self.passes(state, client)?;
        state.actors[client].attempts -= 1;
        state.actors[client].rounds = self.config.clients[client].rounds;
        self.send(state, client, Round::Acquire, &passed);
        Some(())
    }

    pub(super) fn extend(&self, state: &mut State, client: usize) -> Option<()> {
        let actor = &state.actors[client];
        let new = actor.left == self.config.clients[client].ttl;
        if actor.rounds == 0 || actor.round != Round::None || actor.left == 0 || new {
            return None;
        }
        let passed = match self.config.is(Mutant::ExtensionUngated) {
            true => self.passes_unasked(state, client),
            false => self.passes(state, client)?,
        };
        state.actors[client].rounds -= 1;
        self.send(state, client, Round::Extend, &passed);
        Some(())
    }

    fn send(&self, state: &mut State, client: usize, round: Round, passed: &Passed) {
        for (place, node) in state.nodes[..self.config.nodes].iter_mut().enumerate() {
            let link = &mut node.links[client];
            (link.sent, link.granted) = (passed.to >> place & 1 == 1, false);
            link.conditional = link.sent && link.confirmed == 0;
        }
        let under_way = |other: &usize| {
            let actor = &state.actors[*other];
            actor.round != Round::None || actor.left > 0
        };
        let others = (0..self.count()).filter(|other| *other != client).filter(under_way);
        let after = others.fold(0, |all, other| all | bit(other));
        for other in &mut state.actors {
            other.of_round.after &= !bit(client);
        }
        let actor = &mut state.actors[client];
        (actor.round, actor.since) = (round, 0);
        actor.of_round = Known { could: passed.could, beside: 0, after };
    }

    /// Returns a round of `client` if it may be sent.
    ///
    /// The client is cut off from the nodes from which it has no answer in time: links fail and
    /// heal at any time. Fewer cuts would only mean that it could know of more.
    fn passes(&self, state: &State, client: usize) -> Option<Passed> {
        let (numbers, lists) = self.decisions.reported(&self.config, state, client);
        let warms = self.decisions.warms(client, numbers);
        let answers = |node: &usize| {
            let link = &state.nodes[*node].links[client];
            link.answered > 0 && link.unseen == 0
        };
        let waits = !self.config.is(Mutant::NoBarrier);
        if waits && !self.config.cuts && !self.members(client).all(|node| answers(&node)) {
            return None;
        }
        let votes = |node: &Node| {
            let unseen = node.links[client].unseen;
            if unseen > 0 { unseen > warms } else { node.up >= warms }
        };
        if !self.config.is(Mutant::ListsCostOneVote) && lists != 0 {
            let shield = |place: &usize| {
                let node = &state.nodes[*place];
                let voting = votes(node) || self.config.is(Mutant::WarmingShields);
                voting && self.decisions.is_shield(client, &node.links[client])
            };
            let shields: NodeSet = self.members(client).filter(shield).collect();
            let reported = |other: &usize| lists >> other & 1 == 1;
            let apart = |other| self.decisions.wins_apart(&self.config, client, other, shields);
            if (0..self.count()).filter(reported).any(apart) {
                return None;
            }
        }
        let to = self.members(client).filter(|place| {
            let node = &state.nodes[*place];
            let link = &node.links[client];
            link.relies() && link.unseen == 0 && node.up >= warms
        });
        let to: Vec<usize> = to.collect();
        let reached = |node: &usize| answers(node) || !waits;
        let could = self.could_know(state, client, reached);
        let passed = Passed { to: to.iter().fold(0, |all, node| all | bit(*node)), could };
        self.decisions.is_quorum(client, to.into_iter()).then_some(passed)
    }

    /// Returns a round to every node that has not just started, whatever the node answers. Each can
    /// be reached.
    fn passes_unasked(&self, state: &State, client: usize) -> Passed {
        let warms = self.decisions.warms(client, 0);
        let votes = |node: &usize| state.nodes[*node].up >= warms;
        let to = self.members(client).filter(votes).fold(0, |all, node| all | bit(node));
        Passed { to, could: self.could_know(state, client, |_| true) }
    }

    /// Returns the clients whose note or lock is at a node that is `reached` and reports it: an
    /// error does not. A lock without its note means that a rule was broken, and does not excuse a
    /// client that receives no report.
    fn could_know(&self, state: &State, client: usize, reached: impl Fn(&usize) -> bool) -> u8 {
        let tells = |link: &Link| !link.failed || self.config.property == Property::ErrorsTell;
        let noted = |other: &usize| {
            self.members(client).filter(&reached).any(|node| {
                let (node, owner) = (&state.nodes[node], *other as u8 + 1);
                let (link, holds) = (&node.links[client], node.owner == owner && node.counted);
                (node.links[*other].note > 0 || holds) && link.unseen == 0 && tells(link)
            })
        };
        self.others(client).filter(noted).fold(0, |all, other| all | bit(other))
    }

    /// Reads the grant of a node. It is read at once: later is only a shorter hold.
    pub(super) fn grant(&self, state: &mut State, client: usize, place: usize) -> Option<()> {
        let (node, owner) = (&mut state.nodes[place], client as u8 + 1);
        let round = state.actors[client].round;
        let granted = if round == Round::Extend { node.owner == owner } else { node.owner == 0 };
        if !node.links[client].sent || !granted {
            return None;
        }
        (node.owner, node.left) = (owner, self.config.clients[client].ttl);
        node.links[client].sent = false;
        let counts = !node.links[client].conditional || self.condition(state, client, place);
        let node = &mut state.nodes[place];
        node.counted = counts && round != Round::None;
        if !node.counted {
            return Some(());
        }
        node.links[client].granted = true;
        let noted = |other: &usize| state.nodes[place].links[*other].note > 0;
        let beside = self.others(client).filter(noted).fold(0, |all, other| all | bit(other));
        state.actors[client].of_round.beside |= beside;
        let grants = |node: &usize| state.nodes[*node].links[client].granted;
        if self.decisions.is_quorum(client, self.members(client).filter(grants)) {
            self.win(state, client);
        }
        Some(())
    }

    fn win(&self, state: &mut State, client: usize) {
        let actor = &mut state.actors[client];
        actor.left = actor.left.max(self.decisions.left(client, actor.since));
        actor.of_hold = actor.of_round;
        let (after, extends) = (actor.of_round.after, actor.rounds > 0);
        for (other, actor) in state.actors.iter_mut().enumerate() {
            if after >> other & 1 == 1 {
                actor.of_hold.after &= !bit(client);
            }
        }
        self.end_round(state, client, extends);
    }

    /// Ends a round. What it sent may still set keys, which matter only to an extension.
    pub(super) fn end_round(&self, state: &mut State, client: usize, sets: bool) {
        let actor = &mut state.actors[client];
        (actor.round, actor.since, actor.of_round) = (Round::None, 0, Known::default());
        let holds = actor.left > 0;
        for node in &mut state.nodes[..self.config.nodes] {
            let link = &mut node.links[client];
            (link.sent, link.granted) = (link.sent && sets, false);
            if !holds && node.owner == client as u8 + 1 {
                (node.owner, node.counted) = (NO_HOLDER, false);
            }
        }
        if !holds {
            let actor = &mut state.actors[client];
            (actor.rounds, actor.of_hold) = (0, Known::default());
            for other in &mut state.actors {
                other.of_round.after &= !bit(client);
                other.of_hold.after &= !bit(client);
            }
        }
    }

    pub(super) fn give_up(&self, state: &mut State, client: usize) -> Option<()> {
        let actor = &state.actors[client];
        let tries_again = actor.attempts > 0 || (actor.rounds > 0 && actor.left > 0);
        if actor.round == Round::None || !tries_again {
            return None;
        }
        self.end_round(state, client, false);
        Some(())
    }

    /// Sets vacant keys, for a later extension to find.
    pub(super) fn top_up(&self, state: &mut State, client: usize, place: usize) -> Option<()> {
        let (actor, node) = (&state.actors[client], &state.nodes[place]);
        let link = &node.links[client];
        if actor.left == 0 || actor.rounds == 0 || node.owner != 0 || link.unseen > 0 {
            return None;
        }
        if !self.config.is(Mutant::TopUpUngated) {
            self.passes(state, client).filter(|_| link.confirmed > 0)?;
        }
        let ttl = self.config.clients[client].ttl;
        let node = &mut state.nodes[place];
        (node.owner, node.left) = (client as u8 + 1, ttl);
        Some(())
    }
}
