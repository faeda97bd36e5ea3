//! Spontaneous steps: time passes, nodes restart, clocks are wrong.

use crate::masters::NODES;
use crate::net::{Net, bit};
use crate::plain::config::{Contender, Fence};
use crate::plain::mutants::Mutant;
use crate::plain::protocol::Protocol;
use crate::plain::state::{Attempt, Node, Phase, RoundPhase, State};

impl Protocol {
    /// Advances every clock by one tick.
    pub(crate) fn tick(&self, state: &mut State) {
        if let Fence::Window { .. } = self.config.fence {
            state.now += 1;
        }
        for node in &mut state.nodes[..self.config.nodes] {
            node.ages(1);
            node.steady = node.steady.saturating_sub(1);
        }
        for attempt in 0..self.count() {
            self.attempt_ages(state, attempt);
        }
    }

    fn attempt_ages(&self, state: &mut State, attempt: usize) {
        let longest = self.config.longest();
        let record = &mut state.attempts[attempt];
        record.closed = record.closed.saturating_sub(1);
        if matches!(record.phase, Phase::Held | Phase::Lapsed | Phase::Detached) {
            for round in record.rounds.iter_mut().filter(|round| round.phase != RoundPhase::Idle) {
                round.since = (round.since + 1).min(longest);
            }
        }
        match record.phase {
            Phase::Trying => {
                record.since = (record.since + 1).min(longest);
                // It can't win any more: its next step is to give up, whenever that arrives.
                if self.left_of_a_win(state, attempt).is_none() {
                    self.give_up(state, attempt);
                }
            }
            Phase::Held => {
                record.since =
                    if self.config.at_least > 0 { (record.since + 1).min(longest) } else { 0 };
                record.left -= 1;
                if record.left == 0 {
                    self.lapse(state, attempt);
                }
            }
            Phase::Lapsed => {
                let hopeless = |round: &crate::plain::state::Round| {
                    round.phase != RoundPhase::Open || round.since >= longest
                };
                if record.rounds.iter().all(hopeless) {
                    self.end(state, attempt, true);
                }
            }
            Phase::Over => {
                let waits = |other: &Contender| other.after >> attempt & 1 == 1;
                let others = self.config.attempts.iter().filter(|other| waits(other));
                let longest = others.map(|other| other.rests).max().unwrap_or(0);
                record.over = (record.over + 1).min(longest);
            }
            Phase::Idle | Phase::Detached => {}
        }
    }

    fn lapse(&self, state: &mut State, attempt: usize) {
        let record = &mut state.attempts[attempt];
        let waits = record.rounds.iter().any(|round| round.phase == RoundPhase::Open);
        if self.config.is(Mutant::ExtendedAfterTheDeadline) && waits {
            record.phase = Phase::Lapsed;
            return;
        }
        if self.config.at_least > 0 {
            return self.dies(state, attempt);
        }
        let delayed = self.config.lock_delay > 0;
        if delayed {
            record.closed = self.config.lock_delay;
        }
        let deletes = !delayed || self.config.is(Mutant::DelayedKeysDeleted);
        record.left_alone = !deletes;
        self.end(state, attempt, deletes);
    }

    /// Rolls an attempt that has not won back, on every node.
    pub(crate) fn give_up(&self, state: &mut State, attempt: usize) {
        let rolls_back = !self.config.is(Mutant::RollbackSkipped);
        self.end(state, attempt, rolls_back);
    }

    /// Ends an attempt. What is in flight may still arrive.
    pub(crate) fn end(&self, state: &mut State, attempt: usize, releases: bool) {
        let old = state.attempts[attempt];
        state.attempts[attempt] = Attempt {
            phase: Phase::Over,
            ballot: old.ballot,
            closed: old.closed,
            kept: old.kept,
            left_alone: old.left_alone,
            force: old.force,
            ..Attempt::default()
        };
        let members = self.members(attempt);
        for (place, node) in state.nodes[..self.config.nodes].iter_mut().enumerate() {
            let set_nothing = node.nil & bit(attempt) != 0;
            node.forget(attempt);
            if releases && !set_nothing && members >> place & 1 == 1 {
                node.sent.release |= bit(attempt);
            }
        }
    }

    /// Restarts a node, which comes back empty. What was in flight to it was lost with its
    /// connections; its earlier answers may still be read.
    pub(crate) fn restart(&self, state: &mut State, node: usize) {
        let node = &mut state.nodes[node];
        node.keys = Default::default();
        (node.sent, node.force) = Default::default();
        node.warm = self.quarantine;
        state.restarts -= 1;
    }

    /// Sets a node's clock, and with it the life of what it keeps, and the uptime that it reports.
    pub(crate) fn set_clock(&self, state: &mut State, node: usize) {
        let node = &mut state.nodes[node];
        let step = self.config.clock_step;
        if step > 0 {
            node.ages(step.unsigned_abs());
        } else {
            for key in node.keys.iter_mut().filter(|key| key.owner != 0) {
                key.left += step.unsigned_abs();
            }
            for key in node.keys.iter_mut().filter(|key| key.fence_left != 0) {
                key.fence_left += step.unsigned_abs();
            }
        }
        node.stepped += 1;
        state.clock_steps -= 1;
    }

    /// Plays a fault-free end. Every client gives up, and everything in flight arrives in the order
    /// in which it was sent. Then a new client of every list must win at once, or, if it `waits`,
    /// after the longest time that anything may remain.
    pub(crate) fn heals(&self, state: &State, waits: bool) -> bool {
        let mut state = *state;
        for attempt in 0..self.count() {
            match state.attempts[attempt].phase {
                Phase::Trying => self.give_up(&mut state, attempt),
                Phase::Held | Phase::Lapsed => self.end(&mut state, attempt, true),
                // No process adopts what was detached, and its keys expire.
                Phase::Idle | Phase::Over | Phase::Detached => {}
            }
        }
        for node in 0..self.config.nodes {
            self.deliver_all(&mut state, node);
            let forced = |attempt: &usize| state.nodes[node].force & bit(*attempt) != 0;
            for attempt in (0..self.count()).filter(forced).collect::<Vec<_>>() {
                self.delete(&mut state, node, attempt);
            }
        }
        let rests = self.quarantine.max(self.config.longest()) + 1 + self.config.drift;
        for _ in 0..if waits { rests } else { 0 } {
            self.tick(&mut state);
        }
        (0..self.count()).all(|attempt| {
            let claims = self.config.attempts[attempt].claims;
            let free = |node: &Node| {
                let taken = |(resource, key): (usize, &crate::plain::state::Key)| {
                    claims >> resource & 1 == 1 && key.owner != 0
                };
                !node.keys.iter().enumerate().any(taken) && (node.warm == 0 || !waits)
            };
            let votes = (0..NODES).filter(|node| free(&state.nodes[*node]));
            self.is_quorum(attempt, votes)
        })
    }
}

impl Node {
    /// Ages by so many ticks of the node's own clock.
    pub(crate) fn ages(&mut self, ticks: u8) {
        for key in &mut self.keys {
            if key.owner != 0 {
                key.left = key.left.saturating_sub(ticks);
                if key.left == 0 {
                    key.owner = 0;
                }
            }
            if key.fence_left != 0 {
                key.fence_left = key.fence_left.saturating_sub(ticks);
                if key.fence_left == 0 {
                    key.fence = 0;
                }
            }
        }
        self.warm = self.warm.saturating_sub(ticks);
    }

    /// Returns whether it remembers anything.
    pub(crate) fn remembers(&self) -> bool {
        self.keys.iter().any(|key| key.owner != 0 || key.fence != 0)
    }
}
