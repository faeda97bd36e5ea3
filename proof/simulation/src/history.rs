//! The history of a world, for people who look at it: the holds, the state of each master, and the
//! faults.

use super::clock::Time;

/// One hold, from the win until its holder stopped believing in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HoldSpan {
    pub(super) client: String,
    pub(super) resource: String,
    pub(super) token: String,
    pub(super) from: Time,
    pub(super) to: Time,
    /// The last deadline that its holder had.
    pub(super) deadline: Time,
    pub(super) ballot: u64,
    pub(super) how: How,
}

/// How a hold ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    Released,
    Forgotten,
    /// It was detached, for another client to adopt.
    HandedOn,
    Lapsed,
    QuorumGone,
    /// It ended with its client.
    Killed,
    /// The world ended before it did.
    Open,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MasterState {
    Up,
    Slow,
    Stopped,
    Down,
    CutOff,
    WarmingUp,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MasterSpan {
    pub(super) node: usize,
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) state: MasterState,
}

#[derive(Default)]
pub(super) struct History {
    pub(super) holds: Vec<HoldSpan>,
    pub(super) masters: Vec<MasterSpan>,
    /// The client, from when, until when.
    pub(super) paused: Vec<(String, Time, Time)>,
    /// The time of each fault, the fault, and its victim.
    pub(super) marks: Vec<(Time, String, Option<String>)>,
    states: Vec<(Time, MasterState)>,
}

impl History {
    pub(super) fn new(masters: usize) -> Self {
        Self { states: vec![(0, MasterState::Up); masters], ..Self::default() }
    }

    pub(super) fn mark(&mut self, now: Time, label: String, on: Option<String>) {
        self.marks.push((now, label, on));
    }

    /// Enters a state at `now`, if it was in another one.
    pub(super) fn enters(&mut self, node: usize, state: MasterState, now: Time) {
        let (from, before) = self.states[node];
        if before != state {
            self.close(node, from, now, before);
            self.states[node] = (now, state);
        }
    }

    fn close(&mut self, node: usize, from: Time, to: Time, state: MasterState) {
        if to > from {
            self.masters.push(MasterSpan { node, from, to, state });
        }
    }

    /// Ends the history: every interval gets an end.
    pub(super) fn end(&mut self, now: Time) {
        for node in 0..self.states.len() {
            let (from, state) = self.states[node];
            self.close(node, from, now, state);
            self.states[node].0 = now;
        }
    }
}

#[test]
fn a_masters_states_follow_each_other_without_a_gap() {
    let mut history = History::new(1);
    history.enters(0, MasterState::Up, 5);
    history.enters(0, MasterState::Down, 10);
    history.enters(0, MasterState::WarmingUp, 20);
    history.end(30);
    let spans: Vec<_> =
        history.masters.iter().map(|span| (span.from, span.to, span.state)).collect();
    let expected =
        [(0, 10, MasterState::Up), (10, 20, MasterState::Down), (20, 30, MasterState::WarmingUp)];
    assert_eq!(spans, expected);
}
