//! Waiting as a model to explore.

use super::config::Config;
use super::mutant::Mutant;
use super::state::{Phase, State};
use crate::checker::Model;
use crate::config::NODES;
use crate::quorum::Membership;

pub(super) const WRITERS: &str = "a waiting writer gets in";
pub(super) const READERS: &str = "a waiting reader gets in";
pub(super) const EXCLUSION: &str = "no writer beside a valid holder";

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
    /// Nodes of one class can change places.
    classes: [u8; NODES],
}

impl Waiting {
    pub fn new(config: Config) -> Self {
        let membership = Membership::of(config.nodes).expect("a run without nodes");
        let mut classes = [0; NODES];
        let signature = |node: usize| {
            let alone = config.is(Mutant::HintReadAtOne) && node == 0;
            (config.down >> node & 1, config.deaf >> node & 1, alone)
        };
        for node in 1..config.nodes {
            let neighbour = signature(node) == signature(node - 1);
            classes[node] = classes[node - 1] + u8::from(!neighbour);
        }
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
        let mut from = 0;
        while from < self.config.nodes {
            let same = |class: &&u8| **class == self.classes[from];
            let count = self.classes[from..self.config.nodes].iter().take_while(same).count();
            state.nodes[from..from + count].sort_unstable();
            from += count;
        }
        state
    }

    fn digest(&self, state: &State) -> u64 {
        state.digest(self.config.nodes, self.count())
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        let actors = &state.actors[..self.count()];
        let holds = |phase| matches!(phase, Phase::Held | Phase::Downgrading);
        let holders = || actors.iter().filter(|actor| holds(actor.phase));
        if holders().any(|one| !one.reads) && holders().count() > 1 {
            return Some(EXCLUSION);
        }
        if state.drought > self.config.writers {
            return Some(WRITERS);
        }
        let thirsty = actors.iter().any(|actor| actor.waited > self.config.readers);
        thirsty.then_some(READERS)
    }
}
