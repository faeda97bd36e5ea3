//! Waiting as a model to explore.

use super::config::Config;
use super::mutants::Mutant;
use super::properties;
use super::state::{Phase, State};
use crate::checker::Model;
use crate::masters::Classes;
use crate::quorum::Membership;

/// A possible next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Try { who: usize },
    Queue { who: usize },
    Deliver { who: usize, node: usize },
    Release { who: usize },
    Downgrade { who: usize },
    GiveUp { who: usize },
    Crash { who: usize },
    Restart { node: usize },
    Tick,
}

#[derive(Debug)]
pub struct Waiting {
    pub config: Config,
    pub(super) membership: Membership,
    classes: Classes,
}

impl Waiting {
    pub fn new(config: Config) -> Self {
        let membership = Membership::of(config.nodes).expect("a run without nodes");
        let classes = Classes::of(config.nodes, |node| {
            let alone = config.is(Mutant::HintReadAtOne) && node == 0;
            (config.down >> node & 1, config.deaf >> node & 1, alone)
        });
        Self { config, membership, classes }
    }

    pub(super) fn count(&self) -> usize {
        self.config.clients.len()
    }

    /// Returns the nodes that answer, as bits.
    pub(super) fn up(&self) -> u8 {
        ((1 << self.config.nodes) - 1) & !self.config.down
    }

    /// Returns whether it is a writer that is alive and waits, tries or holds as one.
    pub(super) fn writes(&self, state: &State, who: usize) -> bool {
        let actor = &state.actors[who];
        !actor.reads && !matches!(actor.phase, Phase::Idle | Phase::Dead)
    }
}

impl Model for Waiting {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        let mut state = State { restarts: self.config.restarts, ..State::default() };
        for (actor, client) in state.actors.iter_mut().zip(&self.config.clients) {
            actor.reads = client.reads;
        }
        state
    }

    fn successors(&self, state: &State, emit: impl FnMut(Action, State)) {
        self.steps(state, emit);
    }

    fn canonical(&self, mut state: State) -> State {
        self.classes.sort(&mut state.nodes[..self.config.nodes]);
        state
    }

    fn digest(&self, state: &State) -> u64 {
        state.digest(self.config.nodes, self.count())
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        properties::violated(self, state)
    }
}
