//! Messages: those that are in flight, their effect on a node, and what is lost by it.

use super::mutant::Mutant;
use super::protocol::{Action, Message, Sharing};
use super::scripts::Asked;
use super::state::{DOWNGRADE, Node, Phase, RoundPhase, State, bit, round_bit, round_bits};
use crate::config::Order;
use crate::scripts::Extended;

impl Sharing {
    pub(super) fn delivers(
        &self,
        state: &State,
        node: usize,
        who: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        if self.is_blocked(state, node, who) {
            return;
        }
        for message in self.under_way(state, node, who) {
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

    /// Returns the messages in flight, in the order in which they are sent.
    fn under_way(
        &self,
        state: &State,
        node: usize,
        who: usize,
    ) -> impl Iterator<Item = Message> + use<> {
        let one = state.nodes[node];
        let rounds = state.actors[who].in_order().into_iter().flat_map(move |slot| {
            let there = |bits: u16| bits & round_bit(who, slot) != 0;
            let extend = there(one.extend).then_some(Message::Extend(slot));
            extend.into_iter().chain(there(one.top_up).then_some(Message::TopUp(slot)))
        });
        let acquire = (one.acquire & bit(who) != 0).then_some(Message::Acquire);
        let release = (one.release & bit(who) != 0).then_some(Message::Release);
        acquire.into_iter().chain(rounds).chain(release)
    }

    /// Returns whether a release of the same client is owed before it, and cannot be overtaken.
    fn is_blocked(&self, state: &State, node: usize, who: usize) -> bool {
        let owed = |one: usize| state.nodes[node].release & bit(one) != 0;
        self.config.order == Order::InOrder && self.before(who).any(owed)
    }

    /// Takes a message that is no longer in flight; in order, neither is what was sent before it.
    fn consume(&self, state: &mut State, node: usize, who: usize, message: Message) {
        let in_order = self.config.order == Order::InOrder;
        if in_order {
            for before in self.before(who) {
                let one = &mut state.nodes[node];
                one.acquire &= !bit(before);
                one.extend &= !round_bits(before);
                one.top_up &= !round_bits(before);
            }
        }
        // `under_way` returns messages in the order of sending.
        for other in self.under_way(state, node, who) {
            let last = other == message;
            if last || in_order {
                state.nodes[node].remove(who, other);
            }
            if last {
                break;
            }
        }
    }

    /// Delivers everything that is in flight to a node, in order.
    pub(super) fn deliver_all(&self, state: &mut State, node: usize) {
        for who in 0..self.count() {
            for message in self.under_way(state, node, who) {
                self.execute(state, node, who, message);
                state.nodes[node].remove(who, message);
            }
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

    /// Executes a message at a node, and stores the answer if a client still waits for it. Returns
    /// whether anything has changed.
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
                return self.config.order == Order::InOrder || before != state.nodes[node];
            }
        }
        before != state.nodes[node]
    }

    /// Returns whether a contender that reads now has begun as a writer.
    fn has_downgraded(&self, who: usize) -> bool {
        !self.config.contenders[who].reads
    }

    fn execute_acquire(&self, state: &mut State, node: usize, who: usize) {
        let command = self.command(who);
        let one = &mut state.nodes[node];
        let granted = if self.config.contenders[who].reads {
            one.master.acquire_read(&command, false) == Asked::Granted
        } else {
            one.master.set(&command)
        };
        if granted && state.actors[who].phase == Phase::Trying {
            one.granted |= bit(who);
        }
    }

    fn execute_top_up(&self, state: &mut State, node: usize, who: usize, slot: usize) {
        let command = self.command(who);
        let as_reader = self.asks_as_reader(state, who, slot);
        let one = &mut state.nodes[node];
        let granted = if as_reader {
            one.master.acquire_read(&command, true) == Asked::Granted
        } else {
            one.master.set(&command)
        };
        if granted && self.config.is(Mutant::TopUpCounts) {
            for (slot, round) in state.actors[who].rounds.iter().enumerate() {
                if round.phase == RoundPhase::Open {
                    one.held |= round_bit(who, slot);
                }
            }
        }
    }

    fn execute_extend(&self, state: &mut State, node: usize, who: usize, slot: usize) {
        let command = self.command_of_a_round(who);
        let as_reader = self.asks_as_reader(state, who, slot);
        let actor = &state.actors[who];
        let phase = actor.rounds[slot].phase;
        let one = &mut state.nodes[node];
        let answer =
            if as_reader { one.master.extend_read(&command) } else { one.master.extend(&command) };
        let waits = matches!(phase, RoundPhase::Open | RoundPhase::Won);
        match answer {
            Extended::Held if phase == RoundPhase::Open => one.held |= round_bit(who, slot),
            Extended::Vacant if waits && actor.phase == Phase::Held => {
                one.vacant |= round_bit(who, slot);
            }
            _ => {}
        }
        let denies = answer != Extended::Held && phase == RoundPhase::Open;
        if denies && slot == DOWNGRADE {
            self.denies(state, node, who);
        }
    }
}

impl Node {
    fn remove(&mut self, who: usize, message: Message) {
        match message {
            Message::Acquire => self.acquire &= !bit(who),
            Message::Extend(slot) => self.extend &= !round_bit(who, slot),
            Message::TopUp(slot) => self.top_up &= !round_bit(who, slot),
            Message::Release => self.release &= !bit(who),
        }
    }
}
