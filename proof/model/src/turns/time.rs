//! Time passes, and nodes restart empty.

use super::config::Kind;
use super::mutants::Mutant;
use super::protocol::Turns;
use super::scripts::{KEPT, Master};
use super::state::{Node, Out, Stage, State};
use crate::masters::{self, NO_DRIFT, NO_WINDOW};
use crate::quorum::turns::{Event, Phase};

impl Turns {
    pub(super) fn restarted(&self, state: &State, node: usize) -> State {
        let mut next = *state;
        let guard = masters::quarantine(self.config.ttl, NO_WINDOW, NO_DRIFT);
        let warm = if self.config.is(Mutant::NoGuard) { 0 } else { guard };
        let node = &mut next.nodes[node];
        let (sent, answers) = (node.sent, node.answers);
        let absent = u8::from(state.actors.iter().any(|actor| actor.stage == Stage::Holds));
        *node = Node { warm, answers, absent, ..Node::default() };
        node.master = Master::default();
        (next.restarts, next.fault) = (next.restarts - 1, true);
        for who in (0..self.count()).filter(|who| sent >> who & 1 == 1) {
            if Self::is_quiet(&next, who) {
                self.continues(&mut next, who);
            }
        }
        next
    }

    fn is_due(&self, state: &State, who: usize) -> bool {
        let actor = &state.actors[who];
        match (actor.stage, actor.out) {
            (Stage::Waits, Out::Nothing) => {
                actor.wants || !actor.done || Self::tries_last(state, who)
            }
            (Stage::Holds, Out::Nothing) => self.config.clients[who].extends && !actor.done,
            _ => false,
        }
    }

    /// Returns the state after a tick. What is due comes before, and what is in flight, but for slow
    /// ticks.
    pub(super) fn after_a_tick(&self, state: &State) -> Option<State> {
        let in_flight = state.nodes.iter().any(|node| node.sent | node.parting != 0);
        if (0..self.count()).any(|who| self.is_due(state, who)) || (in_flight && state.slow == 0) {
            return None;
        }
        let mut next = *state;
        let holds = next.actors.iter().any(|actor| actor.stage == Stage::Holds);
        next.late |= std::mem::take(&mut next.handed) && !holds && !next.fault && !in_flight;
        if in_flight {
            (next.slow, next.fault) = (next.slow - 1, true);
        }
        for node in &mut next.nodes[..self.config.nodes] {
            self.node_ages(node, next.opened);
        }
        for who in 0..self.count() {
            self.client_ages(&mut next, who);
        }
        self.counts(&mut next);
        Some(next)
    }

    fn node_ages(&self, node: &mut Node, opened: bool) {
        let master = &mut node.master;
        let ends = master.left == 1;
        master.left = master.left.saturating_sub(1);
        let was_kept = master.key & KEPT != 0;
        if ends {
            master.key = 0;
        }
        for (stamp, life) in master.stamps.iter_mut().zip(&mut master.lives) {
            if *life == 1 && !self.config.is(Mutant::EntriesStay) {
                *stamp = 0;
            }
            if *stamp == 0 || *life > 1 {
                *life = life.saturating_sub(1);
            }
        }
        node.warm = node.warm.saturating_sub(1);
        node.settles();
        // A kept key is to outlive the place that it is kept for, and the next one's look behind it.
        node.ended |= ends && was_kept && !opened && node.master.head().is_some();
        if ends && !node.ended {
            // Where a key of a holder expired, a SET may be first.
            let plain = |who: &usize| self.is_kind(*who, Kind::Plain) || self.config.sets;
            (0..self.count()).filter(plain).for_each(|who| node.before[who] = 0);
        }
    }

    fn client_ages(&self, state: &mut State, who: usize) {
        let actor = &mut state.actors[who];
        if actor.out != Out::Nothing {
            actor.since = (actor.since + 1).min(self.config.ttl);
        }
        actor.tries = 0;
        match actor.stage {
            Stage::Holds => {
                actor.done = false;
                actor.left -= 1;
                if actor.left == 0 {
                    state.nodes.iter_mut().for_each(|node| node.sent &= !(1 << who));
                    self.sends(state, who, Out::Leave);
                }
            }
            Stage::Waits => {
                actor.unheard = (actor.unheard + 1).min(actor.lives.max(self.config.entry));
                actor.rests = actor.rests.saturating_sub(1);
                let lives_end = actor.life == 1;
                actor.life = actor.life.saturating_sub(1);
                let kept_ends = actor.phase == Phase::Called && actor.left == 1;
                actor.left = actor.left.saturating_sub(1);
                if kept_ends {
                    self.happens(state, who, Event::Kept);
                }
                if lives_end {
                    self.happens(state, who, Event::Life);
                }
                if state.actors[who].out == Out::Nothing {
                    self.happens(state, who, Event::Pause);
                }
                if state.actors[who].rests == 0 {
                    self.happens(state, who, Event::Due);
                }
            }
            Stage::Away | Stage::Gone | Stage::Dead => {}
        }
    }

    /// Counts the ticks of waiting in which nothing fails.
    fn counts(&self, state: &mut State) {
        let could = |who: usize| {
            state.actors[who].stage == Stage::Waits && !self.config.clients[who].barred
        };
        let holds = state.actors.iter().any(|actor| actor.stage == Stage::Holds);
        let votes = self.nodes_where(|node| state.nodes[node].warm == 0);
        let waits = (0..self.count()).any(could) && self.membership.is_quorum(votes);
        let fault = std::mem::take(&mut state.fault);
        let more = state.drought.saturating_add(1);
        state.drought = if waits && !holds && !fault { more } else { 0 };
    }
}
