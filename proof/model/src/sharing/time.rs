//! Spontaneous steps: time passes, nodes restart, and a fault-free end.

use super::protocol::Sharing;
use super::scripts::Master;
use super::state::{Actor, Phase, RoundPhase, State};
use crate::masters::NODES;
use crate::net::{Net, Sent, bit};

impl Sharing {
    /// Advances every clock by one tick.
    pub(super) fn tick(&self, state: &mut State) {
        for node in &mut state.nodes[..self.config.nodes] {
            node.master.ages();
            node.warm = node.warm.saturating_sub(1);
        }
        for who in 0..self.count() {
            self.actor_ages(state, who);
        }
    }

    fn actor_ages(&self, state: &mut State, who: usize) {
        let longest = self.config.longest();
        let actor = &mut state.actors[who];
        match actor.phase {
            Phase::Trying => {
                actor.since = (actor.since + 1).min(longest);
                // It can't win any more: its next step is to give up, whenever that arrives.
                if self.left_of_a_win(state, who).is_none() {
                    self.end(state, who, true);
                }
            }
            Phase::Held => {
                let waits = |phase| matches!(phase, RoundPhase::Open | RoundPhase::Won);
                for round in actor.rounds.iter_mut().filter(|round| waits(round.phase)) {
                    round.since = (round.since + 1).min(longest);
                }
                actor.left -= 1;
                if actor.left == 0 {
                    self.end(state, who, true);
                }
            }
            Phase::Idle | Phase::Over => {}
        }
    }

    /// Ends an attempt. What is in flight may still arrive.
    pub(super) fn end(&self, state: &mut State, who: usize, releases: bool) {
        let actor = &mut state.actors[who];
        let rounds = actor.rounds.map(|round| super::state::Round {
            phase: if round.phase == RoundPhase::Idle {
                RoundPhase::Idle
            } else {
                RoundPhase::Closed
            },
            since: 0,
            shared: round.shared,
        });
        *actor = Actor { phase: Phase::Over, reads: actor.reads, rounds, ..Actor::default() };
        state.nodes.iter_mut().for_each(|node| node.forget(who));
        for place in self.members(who).filter(|_| releases) {
            state.nodes[place].sent.release |= bit(who);
        }
    }

    /// Restarts a node, which comes back empty. What was in flight to it was lost with its
    /// connections; its earlier answers may still be read.
    pub(super) fn restart(&self, state: &mut State, node: usize) {
        let node = &mut state.nodes[node];
        node.master = Master::default();
        node.sent = Sent::default();
        node.warm = self.quarantine;
        state.restarts -= 1;
    }

    /// Plays a fault-free end. Every client gives up, and everything in flight arrives in the order
    /// in which it was sent. Then a new client of every list must win at once, or, if it `waits`,
    /// after the longest time that anything may remain.
    pub(super) fn heals(&self, state: &State, waits: bool) -> bool {
        let mut state = *state;
        for who in 0..self.count() {
            if matches!(state.actors[who].phase, Phase::Trying | Phase::Held) {
                self.end(&mut state, who, true);
            }
        }
        for node in 0..self.config.nodes {
            self.deliver_all(&mut state, node);
        }
        for _ in 0..if waits { self.quarantine.max(self.config.longest()) + 1 } else { 0 } {
            self.tick(&mut state);
        }
        (0..self.count()).all(|who| {
            let votes = (0..NODES).filter(|node| {
                let node = &state.nodes[*node];
                node.master.owner == 0 && (node.warm == 0 || !waits)
            });
            self.is_quorum(who, votes)
        })
    }
}
