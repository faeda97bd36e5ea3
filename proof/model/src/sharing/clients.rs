//! A client's decisions, from the answers that have come back: here the core is asked, as the
//! coordinator asks it. Answers may be read at any later time and in part.

use super::mutants::Mutant;
use super::protocol::Sharing;
use super::state::State;
use crate::masters::{self, NO_DRIFT, now, span};
use crate::net::{answers_to, bit, round_bit};
use crate::quorum::{NodeSet, Tally, Verdict, Vote};

impl Sharing {
    /// Returns whether a quorum has granted.
    pub(super) fn has_won(&self, state: &State, who: usize) -> bool {
        let mut tally = Tally::new(self.memberships[who]);
        for (place, node) in state.nodes[..self.config.nodes].iter().enumerate() {
            if node.answers.granted & bit(who) != 0 {
                let warming = node.answers.uncounted & bit(who) != 0;
                let vote = if warming { Vote::Refused } else { Vote::Granted };
                tally.record(self.place(who, place), vote);
            }
        }
        tally.verdict() == Verdict::Won
    }

    /// Returns the ticks that a win could be relied on now.
    pub(super) fn left_of_a_win(&self, state: &State, who: usize) -> Option<u8> {
        let ttl = self.config.contenders[who].ttl;
        masters::left_of_a_win(state.actors[who].since, ttl, NO_DRIFT)
    }

    /// Returns the ticks that are left if the round in this slot is won now.
    pub(super) fn left_if_extended(&self, state: &State, who: usize, slot: usize) -> Option<u8> {
        let actor = &state.actors[who];
        let answers = state.nodes.iter().map(|node| &node.answers);
        let (warming, held) = answers_to(answers, round_bit(who, slot));
        let ignores = self.config.is(Mutant::WarmingHeldCounts);
        let warming = if ignores { NodeSet::EMPTY } else { warming };
        let held = held.iter().map(|node| self.place(who, node));
        let times = (actor.rounds[slot].since, self.config.contenders[who].asks);
        let extension = masters::round(self.memberships[who], times, warming, held);
        let deadline = now().after(span(actor.left));
        masters::left_if_won(extension.progress(deadline, now(), NO_DRIFT))
    }

    /// Returns a node's place in the membership: all have the same one where one node is enough.
    fn place(&self, who: usize, node: usize) -> usize {
        if self.needs_one(who) { 0 } else { node }
    }
}
