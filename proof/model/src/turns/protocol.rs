//! Turns as a model to explore.

use super::config::{Config, Kind};
use super::mutants::Mutant;
use super::properties;
use super::scripts::{Asks, CLIENTS};
use super::state::{Out, Stage, State};
use crate::checker::Model;
use crate::masters::NODES;
use crate::quorum::turns::ticket;
use crate::quorum::{Membership, NodeSet};

/// A possible next step. The `choice` of a delivery is the clock of the node, or whether its message is
/// heard. With `Part` the place of a winner is taken out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Come { who: usize },
    Look { who: usize },
    Try { who: usize },
    Extend { who: usize },
    Release { who: usize },
    GiveUp { who: usize },
    Die { who: usize },
    Deliver { who: usize, node: usize, choice: u8 },
    Part { who: usize, node: usize },
    Lose { who: usize, node: usize },
    Restart { node: usize },
    Tick,
}

#[derive(Debug)]
pub struct Turns {
    pub config: Config,
    pub(super) membership: Membership,
}

impl Turns {
    pub fn new(config: Config) -> Self {
        let membership = Membership::of(config.nodes).expect("a run without nodes");
        assert!(config.clients.len() <= CLIENTS && config.nodes <= NODES, "too large a run");
        Self { config, membership }
    }

    pub(super) fn count(&self) -> usize {
        self.config.clients.len()
    }

    pub(super) fn is_kind(&self, who: usize, kind: Kind) -> bool {
        self.config.clients[who].kind == kind
    }

    pub(super) fn asks(&self, state: &State, who: usize, clock: u8) -> Asks {
        Asks {
            who,
            tries: state.actors[who].out == Out::Try,
            ticket: if self.config.is(Mutant::NoTicket) { 0 } else { state.actors[who].ticket },
            clock,
            barred: self.config.clients[who].barred,
            ttl: self.config.ttl,
            entry: match state.actors[who].seldom && state.actors[who].out == Out::Look {
                true => 3 * self.config.seldom,
                false => self.config.entry,
            },
            kept: if self.config.is(Mutant::KeptShort) { 2 } else { self.config.kept },
            mutant: self.config.mutant,
        }
    }

    pub(super) fn nodes_where(&self, is: impl Fn(usize) -> bool) -> NodeSet {
        (0..self.config.nodes).filter(|node| is(*node)).collect()
    }

    /// Three waiters have looked once, and each is first at another node.
    fn stand_crosswise(&self, state: &mut State) {
        let Config { nodes, entry, .. } = self.config;
        for (at, node) in state.nodes[..nodes].iter_mut().enumerate() {
            for who in 0..self.count() {
                node.master.stamps[who] = ((who + nodes - at) % nodes) as u8 + 1;
                node.master.lives[who] = entry;
            }
        }
        for who in 0..self.count() {
            let stamp = |at: usize| Some(u64::from(state.nodes[at].master.stamps[who]));
            let stamps: Vec<Option<u64>> = (0..nodes).map(stamp).collect();
            let found = ticket(self.membership, &stamps).and_then(|found| u8::try_from(found).ok());
            let actor = &mut state.actors[who];
            (actor.stage, actor.ticket) = (Stage::Waits, found.unwrap_or(1));
        }
    }

    /// Those that wait stand in their order, and what was released is kept for the first.
    fn stand_released(&self, state: &mut State) {
        self.stand_queued(state);
        let nodes = self.config.nodes;
        let asks = self.asks(state, 0, 1);
        for node in &mut state.nodes[..nodes] {
            let head = node.master.head();
            node.master.keep_for(head, &asks);
        }
    }

    /// Those that wait stand in their order.
    fn stand_queued(&self, state: &mut State) {
        let Config { nodes, entry, seldom, .. } = self.config;
        for waiter in (0..self.count()).filter(|client| self.is_kind(*client, Kind::Fair)) {
            let is_seldom = self.config.clients[waiter].seldom;
            let life = if is_seldom { 3 * seldom } else { entry };
            let stamp = waiter as u8 + 1;
            for node in &mut state.nodes[..nodes] {
                (node.master.stamps[waiter], node.master.lives[waiter]) = (stamp, life);
            }
            let actor = &mut state.actors[waiter];
            (actor.stage, actor.ticket, actor.done) = (Stage::Waits, stamp, is_seldom);
            if is_seldom {
                (actor.nears, actor.rests, actor.lives) = (true, seldom, life);
            }
        }
    }

    pub(super) fn is_quiet(state: &State, who: usize) -> bool {
        state.nodes.iter().all(|node| node.sent >> who & 1 == 0)
    }
}

impl Model for Turns {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        let Config { restarts, losses, slow, .. } = self.config;
        let mut state = State { restarts, losses, slow, ..State::default() };
        if let Some(who) = (0..self.count()).find(|who| self.is_kind(*who, Kind::Holder)) {
            let nodes = &mut state.nodes[..self.config.nodes];
            nodes.iter_mut().for_each(|node| assert!(node.master.set(who, self.config.ttl)));
            (state.actors[who].stage, state.actors[who].left) = (Stage::Holds, self.config.ttl);
        }
        if self.config.crosswise {
            self.stand_crosswise(&mut state);
        }
        if self.config.queued {
            self.stand_queued(&mut state);
        }
        if self.config.released {
            self.stand_released(&mut state);
        }
        state
    }

    fn successors(&self, state: &State, emit: impl FnMut(Action, State)) {
        self.steps(state, emit);
    }

    fn canonical(&self, mut state: State) -> State {
        state.nodes[..self.config.nodes].sort_unstable();
        state
    }

    fn digest(&self, state: &State) -> u64 {
        state.digest(self.config.nodes, self.count())
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        properties::violated(self, state)
    }
}
