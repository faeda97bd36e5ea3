//! Messages: those that are in flight, their effect on a node, and what is lost by it.

use crate::masters::{Extended, Order};
use crate::net::{Message, Net, SLOTS, Sent, bit, round_bit};
use crate::plain::config::{Fence, RESOURCES};
use crate::plain::mutants::Mutant;
use crate::plain::properties::{Property, owner};
use crate::plain::protocol::{Action, Protocol};
use crate::plain::scripts::{self, Acquired, Claim};
use crate::plain::state::{Key, OLDER, Phase, RoundPhase, State};

impl Net for Protocol {
    fn clients(&self) -> impl Iterator<Item = u8> {
        self.config.attempts.iter().map(|contender| contender.client)
    }

    fn is_in_order(&self) -> bool {
        self.config.order == Order::InOrder
    }

    fn sent<'a>(&self, state: &'a mut State, node: usize) -> &'a mut Sent {
        &mut state.nodes[node].sent
    }

    fn rounds(&self, _: &State, _: usize) -> [usize; SLOTS] {
        [0, 1, 2]
    }

    fn is_of_one_sender(&self, attempt: usize, message: Message, other: Message) -> bool {
        self.adopter_sends(attempt, message) == self.adopter_sends(attempt, other)
    }

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
                return self.is_in_order()
                    || self.config.checks(Property::NoOrphan)
                    || before != (state.nodes[node], state.broken);
            }
        }
        before != (state.nodes[node], state.broken)
    }
}

impl Protocol {
    pub(crate) fn delivers(
        &self,
        state: &State,
        node: usize,
        attempt: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        let sent = state.nodes[node].sent;
        let is_blocked = self.is_in_order() && !self.config.forgets;
        let is_blocked = is_blocked && self.is_behind_a_release(sent, attempt);
        for message in sent.of(attempt, self.rounds(state, attempt)).filter(|_| !is_blocked) {
            if message == Message::Release && self.waits_for_more(sent, attempt) {
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
            if state.duplicates > 0 && message != Message::Release {
                let mut twice = next;
                twice.duplicates -= 1;
                emit(Action::Deliver { attempt, node, message, again: true }, twice);
            }
            self.consume(&mut next, node, attempt, message);
            emit(Action::Deliver { attempt, node, message, again: false }, next);
        }
        if state.nodes[node].force & bit(attempt) != 0 {
            let mut next = *state;
            self.delete(&mut next, node, attempt);
            emit(Action::Delete { attempt, node }, next);
        }
    }

    /// Returns whether a broken rule keeps a release until its client sends something else.
    fn waits_for_more(&self, sent: Sent, attempt: usize) -> bool {
        let is_later = |later: &usize| self.before(*later).any(|before| before == attempt);
        let mut later = (attempt + 1..self.count()).filter(is_later);
        self.config.is(Mutant::DebtsWait)
            && !later.any(|later| sent.of(later, [0, 1, 2]).next().is_some())
    }

    /// Deletes an attempt's keys at a node, in its name.
    pub(crate) fn delete(&self, state: &mut State, node: usize, attempt: usize) {
        let node = &mut state.nodes[node];
        scripts::release(&mut node.keys, &self.claim(attempt), None);
        node.force &= !bit(attempt);
        node.forced |= bit(attempt);
    }

    fn execute_acquire(&self, state: &mut State, node: usize, attempt: usize) {
        let claim = self.claim(attempt);
        let reply = self.acquire(state, node, attempt, &claim, false);
        let waits = state.attempts[attempt].phase == Phase::Trying;
        let node = &mut state.nodes[node];
        if self.config.fence == Fence::Counters && reply == Acquired::Granted {
            node.keys[0].fence += 1;
        }
        if reply != Acquired::Granted && waits && self.config.nil_settles {
            node.nil |= bit(attempt);
        }
        if reply == Acquired::Granted && waits {
            node.answers.granted |= bit(attempt);
            if self.config.fence == Fence::Counters {
                node.reported[attempt] = node.keys[0].fence;
            }
        }
    }

    fn execute_top_up(&self, state: &mut State, node: usize, attempt: usize) {
        let claim = self.claim(attempt);
        let reply = self.acquire(state, node, attempt, &claim, true);
        if reply == Acquired::Granted && self.config.is(Mutant::TopUpCounts) {
            for (number, round) in state.attempts[attempt].rounds.iter().enumerate() {
                if round.phase == RoundPhase::Open {
                    state.nodes[node].answers.held |= round_bit(attempt, number);
                }
            }
        }
    }

    /// Acquires. One resource without a ballot is a plain `SET NX`, or tops up by a script of its own.
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
        if self.config.is(Mutant::KeptCounts) && keys[0].owner == OLDER {
            return Acquired::Granted;
        }
        if ballot.is_none() && claim.resources.count_ones() == 1 {
            if top_up { scripts::top_up(keys, claim) } else { scripts::set(keys, claim) }
        } else {
            scripts::acquire(keys, claim, ballot.as_ref(), top_up)
        }
    }

    fn execute_extend(&self, state: &mut State, node: usize, attempt: usize, round: usize) {
        let life = self.config.extension_ttl + self.config.lock_delay;
        let claim = Claim { life, ..self.claim(attempt) };
        let shortens = self.config.is(Mutant::ExtensionShortens);
        let reply = scripts::extend(&mut state.nodes[node].keys, &claim, shortens);
        let record = &state.attempts[attempt];
        let phase = record.rounds[round].phase;
        let this = round_bit(attempt, round);
        match reply {
            Extended::Held if phase == RoundPhase::Open => state.nodes[node].answers.held |= this,
            Extended::Vacant
                if phase != RoundPhase::Idle && self.tops_up_after(record, attempt, round) =>
            {
                state.nodes[node].answers.vacant |= this;
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
        if self.config.is(Mutant::ReleaseUncompared) {
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
