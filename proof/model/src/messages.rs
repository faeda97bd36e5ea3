//! Messages: those that are in flight, their effect on a node, and what is lost by it.

use crate::config::{Fence, Order, RESOURCES};
use crate::mutant::Mutant;
use crate::properties::{Property, owner};
use crate::protocol::{Action, Message, Protocol};
use crate::scripts::{self, Acquired, Claim, Extended};
use crate::state::{Key, Node, Phase, RoundPhase, State, bit, round_bit, round_bits};

impl Protocol {
    pub(crate) fn delivers(
        &self,
        state: &State,
        node: usize,
        attempt: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        for message in self.under_way(state, node, attempt) {
            if message != Message::Force && self.is_blocked(state, node, attempt) {
                continue;
            }
            let mut next = *state;
            let skips = message == Message::Release
                && self.config.forgets
                && self.config.is(Mutant::ForgottenIsDone);
            if skips {
                let mut skipped = next;
                self.consume(&mut skipped, node, attempt, message);
                emit(Action::Deliver { attempt, node, message, again: false }, skipped);
            }
            if !self.execute(&mut next, node, attempt, message) {
                continue;
            }
            if state.duplicates > 0 && !matches!(message, Message::Release | Message::Force) {
                let mut twice = next;
                twice.duplicates -= 1;
                emit(Action::Deliver { attempt, node, message, again: true }, twice);
            }
            self.consume(&mut next, node, attempt, message);
            emit(Action::Deliver { attempt, node, message, again: false }, next);
        }
    }

    /// Returns the messages in flight, in the order in which they are sent.
    fn under_way(
        &self,
        state: &State,
        node: usize,
        attempt: usize,
    ) -> impl Iterator<Item = Message> + use<> {
        let one = state.nodes[node];
        let rounds = move |bits: u8, round| bits & round_bit(attempt, round) != 0;
        let plain = move |bits: u8| bits & bit(attempt) != 0;
        let all = [
            (plain(one.acquire), Message::Acquire),
            (rounds(one.extend, 0), Message::Extend(0)),
            (rounds(one.top_up, 0), Message::TopUp(0)),
            (rounds(one.extend, 1), Message::Extend(1)),
            (rounds(one.top_up, 1), Message::TopUp(1)),
            (plain(one.release), Message::Release),
            (plain(one.force), Message::Force),
        ];
        all.into_iter().filter_map(|(there, message)| there.then_some(message))
    }

    /// Returns whether a release of the same client is owed before it, and cannot be overtaken.
    fn is_blocked(&self, state: &State, node: usize, attempt: usize) -> bool {
        let owed = |one: usize| state.nodes[node].release & bit(one) != 0;
        let in_order = self.config.order == Order::InOrder && !self.config.forgets;
        in_order && self.before(attempt).any(owed)
    }

    /// Takes a message that is no longer in flight; in order, neither is what was sent before it.
    fn consume(&self, state: &mut State, node: usize, attempt: usize, message: Message) {
        let in_order = self.config.order == Order::InOrder && message != Message::Force;
        let one = &mut state.nodes[node];
        if in_order {
            for before in self.before(attempt) {
                one.acquire &= !bit(before);
                one.extend &= !round_bits(before);
                one.top_up &= !round_bits(before);
            }
        }
        // `under_way` returns messages in the order of sending.
        for other in self.under_way(state, node, attempt) {
            let last = other == message;
            let is_of_one =
                self.adopter_sends(attempt, other) == self.adopter_sends(attempt, message);
            if last || (in_order && is_of_one) {
                state.nodes[node].remove(attempt, other);
            }
            if last {
                break;
            }
        }
    }

    /// Delivers everything that is in flight to a node, in order.
    pub(crate) fn deliver_all(&self, state: &mut State, node: usize) {
        for attempt in 0..self.count() {
            for message in self.under_way(state, node, attempt) {
                self.execute(state, node, attempt, message);
                state.nodes[node].remove(attempt, message);
            }
        }
    }
}

impl Protocol {
    /// Executes a message at a node, and stores the answer if a client still waits for it. Returns
    /// whether anything has changed.
    fn execute(&self, state: &mut State, node: usize, attempt: usize, message: Message) -> bool {
        let before = (state.nodes[node], state.broken);
        match message {
            Message::Acquire => self.execute_acquire(state, node, attempt),
            Message::TopUp(_) => self.execute_top_up(state, node, attempt),
            Message::Extend(round) => self.execute_extend(state, node, attempt, round),
            Message::Release => {
                self.execute_release(state, node, attempt);
                // Once the release has been there, whatever comes later is an orphan, and the next
                // attempt's messages get through.
                return self.config.order == Order::InOrder
                    || self.config.checks(Property::NoOrphan)
                    || before != (state.nodes[node], state.broken);
            }
            Message::Force => {
                let claim = self.claim(attempt);
                scripts::release(&mut state.nodes[node].keys, &claim, None);
                state.nodes[node].forced |= bit(attempt);
            }
        }
        before != (state.nodes[node], state.broken)
    }

    fn execute_acquire(&self, state: &mut State, node: usize, attempt: usize) {
        let claim = self.claim(attempt);
        let reply = self.acquire(state, node, attempt, &claim, false);
        let waits = state.attempts[attempt].phase == Phase::Trying;
        let one = &mut state.nodes[node];
        if self.config.fence == Fence::Counters && reply == Acquired::Granted {
            one.keys[0].fence += 1;
        }
        if reply == Acquired::Granted && waits {
            one.granted |= bit(attempt);
            if self.config.fence == Fence::Counters {
                one.said[attempt] = one.keys[0].fence;
            }
        }
    }

    fn execute_top_up(&self, state: &mut State, node: usize, attempt: usize) {
        let claim = self.claim(attempt);
        let reply = self.acquire(state, node, attempt, &claim, true);
        if reply == Acquired::Granted && self.config.is(Mutant::TopUpCounts) {
            for (round, one) in state.attempts[attempt].rounds.iter().enumerate() {
                if one.phase == RoundPhase::Open {
                    state.nodes[node].held |= round_bit(attempt, round);
                }
            }
        }
    }

    /// Acquires. One resource without a ballot is a plain `SET NX`, anything else is the script.
    fn acquire(
        &self,
        state: &mut State,
        node: usize,
        attempt: usize,
        claim: &Claim,
        top_up: bool,
    ) -> Acquired {
        let mut ballot = self.ballot(state, attempt, node);
        if let (Some(ballot), true) = (&mut ballot, top_up) {
            ballot.back = None;
            ballot.at_the_fence = self.config.is(Mutant::TopUpAtTheFence);
        }
        let keys = &mut state.nodes[node].keys;
        if self.config.is(Mutant::SomeOfSeveral) {
            return some_of_several(keys, claim);
        }
        if ballot.is_none() && claim.resources.count_ones() == 1 {
            scripts::set(keys, claim)
        } else {
            scripts::acquire(keys, claim, ballot.as_ref())
        }
    }

    fn execute_extend(&self, state: &mut State, node: usize, attempt: usize, round: usize) {
        let life = self.config.extension_ttl + self.config.lock_delay;
        let claim = Claim { life, ..self.claim(attempt) };
        let shortens = self.config.is(Mutant::ExtensionShortens);
        let reply = scripts::extend(&mut state.nodes[node].keys, &claim, shortens);
        let one = &state.attempts[attempt];
        let phase = one.rounds[round].phase;
        let this = round_bit(attempt, round);
        match reply {
            Extended::Held if phase == RoundPhase::Open => state.nodes[node].held |= this,
            Extended::Vacant
                if phase != RoundPhase::Idle && self.tops_up_after(one, attempt, round) =>
            {
                state.nodes[node].vacant |= this;
            }
            _ => {}
        }
    }

    fn execute_release(&self, state: &mut State, node: usize, attempt: usize) {
        let mut claim = self.claim(attempt);
        let kept = state.attempts[attempt].kept;
        if kept > 0 {
            return scripts::shorten(&mut state.nodes[node].keys, &claim, kept);
        }
        if self.config.is(Mutant::ReleaseOfAnybody) {
            claim.ours = u8::MAX;
        }
        let ballot = self.ballot(state, attempt, node).filter(|_| self.raises_fences());
        let keys = &mut state.nodes[node].keys;
        let deleted = scripts::release(keys, &claim, ballot.as_ref());
        owner::deleted(&self.config, state, attempt, deleted);
    }
}

/// Sets some of several keys, which breaks the rule of all or none.
fn some_of_several(keys: &mut [Key; RESOURCES], claim: &Claim) -> Acquired {
    let before = *keys;
    scripts::set_free(keys, claim);
    if before == *keys { Acquired::Held } else { Acquired::Granted }
}

impl Node {
    fn remove(&mut self, attempt: usize, message: Message) {
        match message {
            Message::Acquire => self.acquire &= !bit(attempt),
            Message::Extend(round) => self.extend &= !round_bit(attempt, round),
            Message::TopUp(sent) => self.top_up &= !round_bit(attempt, sent),
            Message::Release => self.release &= !bit(attempt),
            Message::Force => self.force &= !bit(attempt),
        }
    }
}
