//! Random walks, for runs with more states than can be explored, and the shortening of what they
//! find.
//!
//! In a purely random walk, clients seldom ask all nodes and then win. So some strides are several
//! steps: a client asks every node, or sends and is granted wherever it can be. The result is
//! reported step by step all the same.

use super::protocol::{Action, Agreement};
use super::state::State;
use crate::checker::{Began, Model, Outcome, Violation};

/// The number of steps of one walk.
const LENGTH: usize = 120;

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize
    }

    fn below(&mut self, count: usize) -> usize {
        self.next() % count
    }
}

impl Agreement {
    /// Walks from the first state, again and again, for so many `steps`.
    pub fn walk(&self, steps: usize, mut progress: impl FnMut(usize)) -> Outcome<Action> {
        let began = Began::now();
        let mut random = Random(0x1234_5678_9abc_def1);
        let (mut gone, mut violation) = (0, None);
        while gone < steps && violation.is_none() {
            let way = self.one_walk(&mut random, &mut violation);
            gone += way;
            progress(gone);
        }
        let depth = LENGTH;
        Outcome { states: gone, depth, complete: false, violation, took: began.took() }
    }

    fn one_walk(&self, random: &mut Random, found: &mut Option<Violation<Action>>) -> usize {
        let mut state = self.initial();
        let mut trace = Vec::new();
        // In some walks the clients are quick, in others they are not.
        let quick = random.below(4) > 0;
        for _ in 0..LENGTH {
            for action in self.stride(random, quick, &state) {
                let Some(next) = self.step(&state, action) else { continue };
                if next.over {
                    return trace.len();
                }
                trace.push(action);
                state = next;
                if let Some(property) = self.violated(&state) {
                    let gone = trace.len();
                    *found =
                        Some(Violation { property, trace: self.shortened(trace), again: None });
                    return gone;
                }
            }
        }
        trace.len()
    }

    fn stride(&self, random: &mut Random, quick: bool, state: &State) -> Vec<Action> {
        let client = random.below(self.count());
        let nodes = |step: fn(usize, usize) -> Action| {
            self.members(client).map(move |node| step(client, node)).collect::<Vec<_>>()
        };
        match random.below(16) {
            0 | 1 => vec![Action::Tick],
            2 => {
                let mut strides = nodes(|client, node| Action::Ask { client, node });
                if self.config.clients[client].late && quick {
                    strides.extend(nodes(|client, node| Action::Read { client, node }));
                }
                strides
            }
            3 if quick => {
                let holds = state.actors[client].left > 0;
                let send =
                    if holds { Action::Extend { client } } else { Action::Acquire { client } };
                let grants = nodes(|client, node| Action::Grant { client, node });
                [send].into_iter().chain(grants).collect()
            }
            _ => {
                let action = self.actions[random.below(self.actions.len())];
                let seldom = matches!(action, Action::GiveUp { .. } | Action::Restart { .. });
                if seldom && random.below(2) > 0 { Vec::new() } else { vec![action] }
            }
        }
    }

    /// Leaves out steps as long as the trace ends equally badly.
    fn shortened(&self, mut trace: Vec<Action>) -> Vec<Action> {
        let is_bad = |trace: &[Action]| self.outcome_of(trace).is_some();
        loop {
            let before = trace.len();
            for apart in 0..trace.len() {
                let mut place = 0;
                while place + apart < trace.len() {
                    let mut fewer = trace.clone();
                    if apart > 0 {
                        fewer.remove(place + apart);
                    }
                    fewer.remove(place);
                    if is_bad(&fewer) {
                        trace = fewer;
                    } else {
                        place += 1;
                    }
                }
            }
            if trace.len() == before {
                return trace;
            }
        }
    }

    /// Returns the property that breaks at the end of `trace`, if each of its steps is possible.
    pub fn outcome_of(&self, trace: &[Action]) -> Option<&'static str> {
        let mut state = self.initial();
        for action in trace {
            state = self.step(&state, *action)?;
        }
        self.violated(&state)
    }
}
