//! Messages: those that are in flight, their effect on a node, and what is lost by it.

use super::mutants::Mutant;
use super::protocol::{Action, Sharing};
use super::scripts::Asked;
use super::state::{DOWNGRADE, Node, Phase, RoundPhase, State};
use crate::masters::{Extended, Order};
use crate::net::{Message, Net, SLOTS, Sent, bit, round_bit};

impl Net for Sharing {
    fn clients(&self) -> impl Iterator<Item = u8> {
        self.config.contenders.iter().map(|contender| contender.client)
    }

    fn is_in_order(&self) -> bool {
        self.config.order == Order::InOrder
    }

    fn sent<'a>(&self, state: &'a mut State, node: usize) -> &'a mut Sent {
        &mut state.nodes[node].sent
    }

    fn rounds(&self, state: &State, who: usize) -> [usize; SLOTS] {
        state.actors[who].in_order()
    }

    fn execute(&self, state: &mut State, node: usize, who: usize, message: Message) -> bool {
        let before = state.nodes[node];
        match message {
            Message::Acquire => self.execute_acquire(state, node, who),
            Message::TopUp(slot) => self.execute_top_up(state, node, who, slot),
            Message::Extend(slot) => self.execute_extend(state, node, who, slot),
            Message::Release => {
                let command = self.command(who);
                let as_reader = state.actors[who].reads
                    && !(self.config.is(Mutant::ReleasedAsWriter) && self.has_downgraded(who));
                let master = &mut state.nodes[node].master;
                if as_reader {
                    master.release_read(&command);
                } else {
                    master.release(&command);
                }
                // In order, it lets what was sent after it through.
                return self.is_in_order() || before != state.nodes[node];
            }
        }
        before != state.nodes[node]
    }
}

impl Sharing {
    pub(super) fn delivers(
        &self,
        state: &State,
        node: usize,
        who: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        let sent = state.nodes[node].sent;
        if self.is_in_order() && self.is_behind_a_release(sent, who) {
            return;
        }
        for message in sent.of(who, self.rounds(state, who)) {
            let mut next = *state;
            if message == Message::Extend(DOWNGRADE) && state.errors > 0 {
                let mut failed = next;
                self.fail(&mut failed, node, who);
                emit(Action::Fail { who, node }, failed);
            }
            let copied =
                message == Message::Extend(DOWNGRADE) && self.config.is(Mutant::ErrorOfASecondCopy);
            if copied && state.duplicates > 0 {
                let mut unanswered = *state;
                unanswered.duplicates -= 1;
                let command = self.command_of_a_round(who);
                unanswered.nodes[node].master.extend_read(&command);
                emit(Action::Deliver { who, node, message, again: true }, unanswered);
            }
            if !self.execute(&mut next, node, who, message) {
                continue;
            }
            if state.duplicates > 0 && message == Message::Release {
                let mut twice = next;
                twice.duplicates -= 1;
                emit(Action::Deliver { who, node, message, again: true }, twice);
            }
            self.consume(&mut next, node, who, message);
            emit(Action::Deliver { who, node, message, again: false }, next);
        }
    }

    /// Answers a downgrade with an error that says that nothing was done.
    fn fail(&self, state: &mut State, node: usize, who: usize) {
        state.errors -= 1;
        self.consume(state, node, who, Message::Extend(DOWNGRADE));
        if state.actors[who].rounds[DOWNGRADE].phase == RoundPhase::Open {
            self.denies(state, node, who);
        }
    }

    /// Notes that a node has not made a reader of the writer, as its answer says. If every answer
    /// says so, and no other round has asked as a reader, the write guard goes back to the caller.
    fn denies(&self, state: &mut State, node: usize, who: usize) {
        state.nodes[node].untouched |= bit(who);
        let beside = self.config.is(Mutant::ReturnedBesideARound);
        let unheard = self.is_unheard(state, who, beside);
        if unheard && !self.config.is(Mutant::IrrevocableTooEarly) {
            self.give_back(state, who);
        }
    }

    /// Returns whether no node can have made a reader of the writer: each has answered that it has
    /// not, and no other round has asked as a reader, unless that `beside` it does not matter.
    pub(super) fn is_unheard(&self, state: &State, who: usize, beside: bool) -> bool {
        let alone = state.actors[who].rounds.iter().all(|round| !round.shared || beside);
        alone && self.members(who).all(|node| state.nodes[node].untouched & bit(who) != 0)
    }

    /// Returns whether a contender that reads now has begun as a writer.
    fn has_downgraded(&self, who: usize) -> bool {
        !self.config.contenders[who].reads
    }

    fn execute_acquire(&self, state: &mut State, node: usize, who: usize) {
        let command = self.command(who);
        let Node { master, answers, .. } = &mut state.nodes[node];
        let granted = if self.config.contenders[who].reads {
            master.acquire_read(&command, false) == Asked::Granted
        } else {
            master.set(&command)
        };
        if granted && state.actors[who].phase == Phase::Trying {
            answers.granted |= bit(who);
        }
    }

    fn execute_top_up(&self, state: &mut State, node: usize, who: usize, slot: usize) {
        let command = self.command(who);
        let as_reader = self.asks_as_reader(state, who, slot);
        let Node { master, answers, .. } = &mut state.nodes[node];
        let granted = if as_reader {
            master.acquire_read(&command, true) == Asked::Granted
        } else {
            master.set(&command)
        };
        if granted && self.config.is(Mutant::TopUpCounts) {
            for (slot, round) in state.actors[who].rounds.iter().enumerate() {
                if round.phase == RoundPhase::Open {
                    answers.held |= round_bit(who, slot);
                }
            }
        }
    }

    fn execute_extend(&self, state: &mut State, node: usize, who: usize, slot: usize) {
        let command = self.command_of_a_round(who);
        let as_reader = self.asks_as_reader(state, who, slot);
        let actor = &state.actors[who];
        let phase = actor.rounds[slot].phase;
        let Node { master, answers, .. } = &mut state.nodes[node];
        let answer = if as_reader { master.extend_read(&command) } else { master.extend(&command) };
        let waits = matches!(phase, RoundPhase::Open | RoundPhase::Won);
        match answer {
            Extended::Held if phase == RoundPhase::Open => answers.held |= round_bit(who, slot),
            Extended::Vacant if waits && actor.phase == Phase::Held => {
                answers.vacant |= round_bit(who, slot);
            }
            _ => {}
        }
        let denies = answer != Extended::Held && phase == RoundPhase::Open;
        if denies && slot == DOWNGRADE {
            self.denies(state, node, who);
        }
    }
}
