//! A client's decisions, from the answers that have come back: here the core is asked, as the
//! coordinator asks it. Answers may be read at any later time and in part.

use super::mutant::Mutant;
use super::protocol::Sharing;
use super::state::{State, bit, round_bit};
use crate::protocol::{NOW, span, ticks};
use crate::quorum::{
    ClockDrift, Extension, Instant, NodeSet, Progress, Report, Tally, Verdict, Vote, validity,
};
use std::time::Duration;

const NO_DRIFT: ClockDrift = ClockDrift { rate_ppm: 0, constant: Duration::ZERO };

impl Sharing {
    /// Returns whether a quorum has granted.
    pub(super) fn has_won(&self, state: &State, who: usize) -> bool {
        let mut tally = Tally::new(self.memberships[who]);
        for (place, node) in state.nodes[..self.config.nodes].iter().enumerate() {
            if node.granted & bit(who) != 0 {
                let warming = node.uncounted & bit(who) != 0;
                let vote = if warming { Vote::Refused } else { Vote::Granted };
                tally.record(self.place(who, place), vote);
            }
        }
        tally.verdict() == Verdict::Won
    }

    /// Returns the ticks that a win could be relied on now.
    pub(super) fn left_of_a_win(&self, state: &State, who: usize) -> Option<u8> {
        let ttl = span(self.config.contenders[who].ttl);
        let since = ago(state.actors[who].since);
        let deadline = validity::deadline(since, now(), ttl, NO_DRIFT)?;
        Some(ticks(deadline.since(now())))
    }

    /// Returns the ticks that are left if the round in this slot is won now.
    pub(super) fn left_if_extended(&self, state: &State, who: usize, slot: usize) -> Option<u8> {
        let actor = &state.actors[who];
        let this = round_bit(who, slot);
        let nodes = || state.nodes[..self.config.nodes].iter().enumerate();
        let ignores = self.config.is(Mutant::WarmingHeldCounts);
        let warming = nodes().filter(|(_, node)| node.warming & this != 0 && !ignores);
        let warming: NodeSet = warming.map(|(node, _)| node).collect();
        let ttl = span(self.config.contenders[who].asks);
        let since = ago(actor.rounds[slot].since);
        let mut extension = Extension::new(self.memberships[who], since, ttl, warming);
        for (node, _) in nodes().filter(|(_, node)| node.held & this != 0) {
            extension.record(self.place(who, node), Report::Held);
        }
        match extension.progress(now().after(span(actor.left)), now(), NO_DRIFT) {
            Progress::Extended(extended) => {
                Some(ticks(extended.since(now()))).filter(|left| *left > 0)
            }
            Progress::Pending | Progress::Unconfirmed | Progress::Lost => None,
        }
    }

    /// Returns a node's place in the membership: all have the same one where one node is enough.
    fn place(&self, who: usize, node: usize) -> usize {
        if self.needs_one(who) { 0 } else { node }
    }
}

fn now() -> Instant {
    Instant::from_nanos(NOW)
}

fn ago(ticks: u8) -> Instant {
    Instant::from_nanos(NOW - u64::try_from(span(ticks).as_nanos()).unwrap_or(0))
}
