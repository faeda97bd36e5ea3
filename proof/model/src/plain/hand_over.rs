//! A lock that goes to another process: `core/src/lock/hand_over.rs`.
//!
//! The first client extends once more, and waits for every answer that comes. In order, an answer
//! settles what that client has sent to the node: no SET of it arrives there any more. Nodes without an
//! answer are *unsettled*, and so are those that warm up: what they granted before they restarted may yet
//! be part of another client's quorum, which wins and releases while the token stands there. A client that detaches stops, and no client holds the lock. The adopter extends
//! with the same token, over connections of its own, and holds the lock once a quorum of settled nodes
//! has answered, in the core's judgement. It has to be the lock that was detached: no other attempt has
//! won in between.

use crate::masters::{self, now};
use crate::net::{Message, answers_to, bit, round_bit};
use crate::plain::mutants::Mutant;
use crate::plain::properties::Property;
use crate::plain::protocol::{Action, Protocol};
use crate::plain::state::{Attempt, Phase, RoundPhase, State};
use crate::quorum::NodeSet;

/// The first client's last round, and the adopter's.
const DETACHES: usize = 0;
const ADOPTS: usize = 1;

impl Protocol {
    fn is_handed_over(&self, attempt: usize) -> bool {
        self.config.hands_over & bit(attempt) != 0
    }

    pub(crate) fn is_last_of_the_first(&self, attempt: usize, round: usize) -> bool {
        self.is_handed_over(attempt) && round == DETACHES
    }

    pub(crate) fn is_adopters(&self, attempt: usize, round: usize) -> bool {
        self.is_handed_over(attempt) && round == ADOPTS
    }

    /// Returns whether the adopter sends the message. A release is taken for the adopter's even if the
    /// lock was never detached: then it only arrives in more orders.
    pub(crate) fn adopter_sends(&self, attempt: usize, message: Message) -> bool {
        let is_later = match message {
            Message::Extend(round) | Message::TopUp(round) => round == ADOPTS,
            Message::Release => true,
            Message::Acquire => false,
        };
        is_later && self.is_handed_over(attempt)
    }

    /// Returns whether a node that reports *vacant* may be topped up after the round, or is settled by
    /// that.
    pub(crate) fn tops_up_after(&self, record: &Attempt, attempt: usize, round: usize) -> bool {
        match record.phase {
            Phase::Held if self.is_last_of_the_first(attempt, round) => {
                record.rounds[round].phase == RoundPhase::Open
            }
            Phase::Held => true,
            Phase::Detached => round == ADOPTS,
            _ => false,
        }
    }

    /// Detaches, once a quorum has answered that it holds the key.
    pub(crate) fn detaches(
        &self,
        state: &State,
        attempt: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        if self.left_if_extended(state, attempt, DETACHES).is_none() {
            return;
        }
        let (mut next, this) = (*state, round_bit(attempt, DETACHES));
        let members = self.members(attempt);
        for (place, node) in next.nodes[..self.config.nodes].iter_mut().enumerate() {
            let is_warming =
                node.answers.warming & this != 0 && !self.config.is(Mutant::WarmingSettles);
            let is_settled = (node.answers.held | node.answers.vacant) & this != 0 && !is_warming;
            if members >> place & 1 == 1 && !is_settled {
                node.unsettled |= bit(attempt);
            }
            node.answers.forget_rounds(this);
        }
        let record = &mut next.attempts[attempt];
        (record.phase, record.left) = (Phase::Detached, 0);
        (record.rounds[DETACHES].phase, record.rounds[DETACHES].since) = (RoundPhase::Won, 0);
        emit(Action::Detach { attempt }, next);
    }

    /// Notes that another attempt has had what is detached now.
    pub(crate) fn passes_detached(&self, state: &mut State, winner: usize) {
        let claims = |attempt: usize| self.config.attempts[attempt].claims;
        for attempt in (0..self.count()).filter(|attempt| claims(*attempt) & claims(winner) != 0) {
            let record = &mut state.attempts[attempt];
            record.passed |= record.phase == Phase::Detached;
        }
    }

    /// Adopts, or gives back what no process wants.
    pub(crate) fn adopts(
        &self,
        state: &State,
        attempt: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        let mut given_back = *state;
        self.end(&mut given_back, attempt, true);
        emit(Action::GiveUp { attempt }, given_back);
        let record = &state.attempts[attempt];
        match record.rounds[ADOPTS].phase {
            RoundPhase::Idle => {
                emit(Action::Adopt { attempt }, self.begin_round(state, attempt, ADOPTS));
            }
            RoundPhase::Open => {
                if self.config.adopts_again {
                    emit(Action::Adopt { attempt }, self.adopts_anew(state, attempt));
                }
                let Some(left) = self.left_if_adopted(state, attempt) else { return };
                let (mut next, this) = (*state, round_bit(attempt, ADOPTS));
                if record.passed {
                    next.broken = Property::NeverReacquired.code();
                }
                let record = &mut next.attempts[attempt];
                (record.phase, record.left, record.passed) = (Phase::Held, left, false);
                record.rounds[ADOPTS].phase = RoundPhase::Won;
                for node in &mut next.nodes {
                    node.answers.forget_won(this);
                    node.unsettled &= !bit(attempt);
                }
                emit(Action::Adopted { attempt }, next);
            }
            RoundPhase::Won => {}
        }
    }

    /// Begins the adopter's round once more. No answer to the round before counts for it.
    fn adopts_anew(&self, state: &State, attempt: usize) -> State {
        let (mut next, this) = (*state, round_bit(attempt, ADOPTS));
        for node in &mut next.nodes[..self.config.nodes] {
            node.answers.forget_rounds(this);
        }
        self.begin_round(&next, attempt, ADOPTS)
    }

    /// Returns the ticks for which the adopter may rely on the lock, if the round is won now.
    fn left_if_adopted(&self, state: &State, attempt: usize) -> Option<u8> {
        let answers = state.nodes.iter().map(|node| &node.answers);
        let (warming, held) = answers_to(answers, round_bit(attempt, ADOPTS));
        let counts = self.config.is(Mutant::UnsettledCounts);
        let never = |node: &usize| !counts && state.nodes[*node].unsettled & bit(attempt) != 0;
        let never: NodeSet = (0..self.config.nodes).filter(never).collect();
        let times = (state.attempts[attempt].rounds[ADOPTS].since, self.config.extension_ttl);
        let extension = masters::round(self.memberships[attempt], times, warming, held.iter());
        masters::left_if_won(extension.adopted(never, now(), self.drift()))
    }
}
