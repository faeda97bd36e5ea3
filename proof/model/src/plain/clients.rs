//! A client's decisions, from the answers that have come back: here the core is asked, as the
//! coordinator asks it.
//!
//! Answers that have come back may be read at any later time and in part: a win needs no more than
//! its grants, an extension no more than those that held. A refusal could only make a client give
//! up, and that is possible at any time anyway.

use super::config::Fence;
use super::mutants::Mutant;
use super::protocol::Protocol;
use super::state::{Phase, State};
use crate::masters::{self, NOW, now, span};
use crate::net::{answers_to, bit, round_bit};
use crate::quorum::{Instant, NodeSet, Tally, Verdict, Vote};

impl Protocol {
    /// Returns the nodes whose grant counts for `attempt`.
    fn granted(&self, state: &State, attempt: usize) -> u8 {
        let counts = |node: &usize| state.nodes[*node].answers.granted & bit(attempt) != 0;
        (0..self.config.nodes).filter(counts).fold(0, |all, node| all | 1 << node)
    }

    fn verdict(&self, state: &State, attempt: usize, granted: u8) -> Verdict {
        let mut tally = Tally::new(self.memberships[attempt]);
        let mut verdict = tally.verdict();
        let granted = (0..self.config.nodes).filter(|node| granted >> node & 1 == 1);
        for (nth, node) in granted.enumerate() {
            let warming = state.nodes[node].answers.uncounted & bit(attempt) != 0;
            let counts = !warming || self.config.is(Mutant::WarmingGrantCounts);
            let vote = if counts { Vote::Granted } else { Vote::Refused };
            verdict = tally.record(self.place(node, nth), vote);
        }
        verdict
    }

    /// Returns a node's place in the membership: only a quorum of half needs another order.
    fn place(&self, node: usize, nth: usize) -> usize {
        if self.config.is(Mutant::HalfIsAQuorum) { nth } else { node }
    }

    /// Returns the ticks that a win of `attempt` could be relied on now, if there is a quorum.
    pub(crate) fn left_of_a_win(&self, state: &State, attempt: usize) -> Option<u8> {
        let late = self.config.is(Mutant::ClockStartedLate);
        let since = if late { 0 } else { state.attempts[attempt].since };
        masters::left_of_a_win(since, self.config.ttl_of(attempt), self.drift())
    }

    /// Returns the tokens with which `attempt` could win now.
    pub(crate) fn tokens_of_a_win(&self, state: &State, attempt: usize) -> Vec<u8> {
        let granted = self.granted(state, attempt);
        let wins = |granted: u8| self.verdict(state, attempt, granted) == Verdict::Won;
        if granted == 0 || !wins(granted) {
            return Vec::new();
        }
        if self.config.fence != Fence::Counters {
            return vec![state.attempts[attempt].ballot];
        }
        // The greatest token depends on which of the grants were read first.
        let read = (1..=granted).filter(|read| read & !granted == 0 && wins(*read));
        let reported = |node: usize| state.nodes[node].reported[attempt];
        let greatest = |read: u8| {
            (0..self.config.nodes).filter(|node| read >> node & 1 == 1).map(reported).max()
        };
        let mut tokens: Vec<u8> = read.filter_map(greatest).collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    /// Returns the ticks that are left if the round is extended now.
    pub(crate) fn left_if_extended(
        &self,
        state: &State,
        attempt: usize,
        round: usize,
    ) -> Option<u8> {
        let record = &state.attempts[attempt];
        let answers = state.nodes.iter().map(|node| &node.answers);
        let (warming, held) = answers_to(answers, round_bit(attempt, round));
        let ignores = self.config.is(Mutant::WarmingHeldCounts);
        let warming = if ignores { NodeSet::EMPTY } else { warming };
        let late = self.config.is(Mutant::ExtensionClockStartedLate);
        let since = if late { 0 } else { record.rounds[round].since };
        let held = held.iter().enumerate().map(|(nth, node)| self.place(node, nth));
        let times = (since, self.config.extension_ttl);
        let extension = masters::round(self.memberships[attempt], times, warming, held);
        // Only a mutant asks after the deadline. For it the deadline is a nanosecond ahead.
        let deadline = match record.phase {
            Phase::Lapsed => Instant::from_nanos(NOW + 1),
            _ => now().after(span(record.left)),
        };
        masters::left_if_won(extension.progress(deadline, now(), self.drift()))
    }

    /// Returns whether these nodes are a quorum for `attempt`.
    pub(crate) fn is_quorum(&self, attempt: usize, nodes: impl Iterator<Item = usize>) -> bool {
        self.memberships[attempt].is_quorum(nodes.collect())
    }
}
