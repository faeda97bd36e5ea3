//! A client's decisions, from the answers that have come back: here the core is asked, as the
//! coordinator asks it.
//!
//! Answers that have come back may be read at any later time and in part: a win needs no more than
//! its grants, an extension no more than those that held. A refusal could only make a client give
//! up, and that is possible at any time anyway.

use crate::config::Fence;
use crate::mutant::Mutant;
use crate::protocol::{NOW, Protocol, span, ticks};
use crate::quorum::{
    Extension, Instant, NodeSet, Progress, Report, Tally, Verdict, Vote, validity,
};
use crate::state::{Phase, State, bit, round_bit};

impl Protocol {
    /// Returns the nodes whose grant counts for `attempt`.
    fn granted(&self, state: &State, attempt: usize) -> u8 {
        let counts = |node: &usize| state.nodes[*node].granted & bit(attempt) != 0;
        (0..self.config.nodes).filter(counts).fold(0, |all, node| all | 1 << node)
    }

    fn verdict(&self, state: &State, attempt: usize, granted: u8) -> Verdict {
        let mut tally = Tally::new(self.memberships[attempt]);
        let mut verdict = tally.verdict();
        let granted = (0..self.config.nodes).filter(|node| granted >> node & 1 == 1);
        for (nth, node) in granted.enumerate() {
            let warming = state.nodes[node].uncounted & bit(attempt) != 0;
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
        let ttl = span(self.config.ttl_of(attempt));
        let deadline = validity::deadline(ago(since), now(), ttl, self.drift())?;
        Some(ticks(deadline.since(now())))
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
        let said = |node: usize| state.nodes[node].said[attempt];
        let greatest =
            |read: u8| (0..self.config.nodes).filter(|node| read >> node & 1 == 1).map(said).max();
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
        let one = &state.attempts[attempt];
        let this = round_bit(attempt, round);
        let nodes = || state.nodes[..self.config.nodes].iter().enumerate();
        let ignores = self.config.is(Mutant::WarmingHeldCounts);
        let warming = nodes().filter(|(_, node)| node.warming & this != 0 && !ignores);
        let warming: NodeSet = warming.map(|(node, _)| node).collect();
        let late = self.config.is(Mutant::ExtensionClockStartedLate);
        let since = if late { 0 } else { one.rounds[round].since };
        let ttl = span(self.config.extension_ttl);
        let mut extension = Extension::new(self.memberships[attempt], ago(since), ttl, warming);
        let held = nodes().filter(|(_, node)| node.held & this != 0);
        for (nth, (node, _)) in held.enumerate() {
            extension.record(self.place(node, nth), Report::Held);
        }
        // Only a mutant asks after the deadline. For it the deadline is a nanosecond ahead.
        let deadline = match one.phase {
            Phase::Lapsed => Instant::from_nanos(NOW + 1),
            _ => now().after(span(one.left)),
        };
        match extension.progress(deadline, now(), self.drift()) {
            Progress::Extended(extended) => {
                Some(ticks(extended.since(now()))).filter(|left| *left > 0)
            }
            Progress::Pending | Progress::Unconfirmed | Progress::Lost => None,
        }
    }

    /// Returns whether these nodes are a quorum for `attempt`.
    pub(crate) fn is_quorum(&self, attempt: usize, nodes: impl Iterator<Item = usize>) -> bool {
        self.memberships[attempt].is_quorum(nodes.collect())
    }
}

pub(crate) fn now() -> Instant {
    Instant::from_nanos(NOW)
}

pub(crate) fn ago(ticks: u8) -> Instant {
    Instant::from_nanos(NOW - u64::try_from(span(ticks).as_nanos()).unwrap_or(0))
}
