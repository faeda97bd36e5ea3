//! Every step from a state.
//!
//! A message that would change nothing is not delivered: that is the same as a message that never
//! arrives, which is explored anyway.

use crate::net::{Net, bit, round_bit};
use crate::plain::config::{Fence, ROUNDS};
use crate::plain::mutants::Mutant;
use crate::plain::properties::{Property, delay, forced, tokens};
use crate::plain::protocol::{Action, Protocol};
use crate::plain::state::{OLDER, Phase, Round, RoundPhase, State};

impl Protocol {
    pub(crate) fn steps(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        for attempt in 0..self.count() {
            match state.attempts[attempt].phase {
                Phase::Idle => self.begins(state, attempt, &mut emit),
                Phase::Trying => {
                    self.wins(state, attempt, &mut emit);
                    let mut next = *state;
                    self.give_up(&mut next, attempt);
                    emit(Action::GiveUp { attempt }, next);
                }
                Phase::Held => {
                    let mut next = *state;
                    self.end(&mut next, attempt, true);
                    emit(Action::Release { attempt }, next);
                    self.ends_well(state, attempt, &mut emit);
                    self.extends(state, attempt, &mut emit);
                }
                Phase::Lapsed => self.extends(state, attempt, &mut emit),
                Phase::Detached => self.adopts(state, attempt, &mut emit),
                Phase::Over => {}
            }
            self.forces(state, attempt, &mut emit);
            for node in 0..self.config.nodes {
                self.delivers(state, node, attempt, &mut emit);
            }
        }
        self.by_itself(state, emit);
    }

    fn begins(&self, state: &State, attempt: usize, emit: &mut impl FnMut(Action, State)) {
        if !self.may_begin(state, attempt) {
            return;
        }
        let mut next = *state;
        let members = self.members(attempt);
        for (place, node) in next.nodes[..self.config.nodes].iter_mut().enumerate() {
            if members >> place & 1 == 1 {
                node.sent.acquire |= bit(attempt);
                if node.warm > 0 {
                    node.answers.uncounted |= bit(attempt);
                }
            }
        }
        if self.config.is(Mutant::PassedOnWhileHeld) {
            for held in
                self.before(attempt).filter(|held| state.attempts[*held].phase == Phase::Held)
            {
                next.nodes.iter_mut().for_each(|node| node.sent.release |= bit(held));
            }
        }
        next.attempts[attempt].phase = Phase::Trying;
        let ballots = match self.config.fence {
            Fence::None | Fence::Counters => 0..=0,
            Fence::Ballots { greatest } => 1..=greatest,
            // A lower one is refused by every node, now and later.
            Fence::Window { back, ahead, until } => {
                let furthest = self.config.ahead.iter().max().copied().unwrap_or(0);
                let set_back = self.config.clock_step.min(0).unsigned_abs();
                let behind = back + set_back * self.config.clock_steps;
                state.now.saturating_sub(behind).max(1)..=until + ahead + furthest
            }
        };
        for ballot in ballots {
            next.attempts[attempt].ballot = ballot;
            emit(Action::Begin { attempt, ballot }, next);
        }
    }

    fn may_begin(&self, state: &State, attempt: usize) -> bool {
        let attempts = &self.config.attempts;
        let phase = |other: usize| state.attempts[other].phase;
        let passes_on = self.config.is(Mutant::PassedOnWhileHeld);
        let done = |other: usize| {
            phase(other) == Phase::Over || (passes_on && phase(other) == Phase::Held)
        };
        let waits_for = |other: &usize| attempts[attempt].after >> other & 1 == 1;
        let rested = |other: usize| {
            phase(other) == Phase::Over && state.attempts[other].over >= attempts[attempt].rests
        };
        // Of clients that differ only by name, the first one begins first.
        let alone = |other: usize| {
            attempts.iter().filter(|peer| peer.client == attempts[other].client).count() == 1
        };
        let alike = |other: usize| {
            let (a, b) = (&attempts[other], &attempts[attempt]);
            alone(other)
                && alone(attempt)
                && (a.lists, a.claims, a.rounds, a.after, a.longer)
                    == (b.lists, b.claims, b.rounds, b.after, b.longer)
                && attempts.iter().all(|peer| peer.after >> other & 1 == peer.after >> attempt & 1)
        };
        self.before(attempt).all(done)
            && (0..self.count()).filter(waits_for).all(rested)
            && !(0..attempt).any(|other| phase(other) == Phase::Idle && alike(other))
    }

    fn wins(&self, state: &State, attempt: usize, emit: &mut impl FnMut(Action, State)) {
        let Some(left) = self.left_of_a_win(state, attempt) else { return };
        for token in self.tokens_of_a_win(state, attempt) {
            let mut next = *state;
            let claims = self.config.attempts[attempt].claims;
            tokens::won(&mut next, claims, token, self.config.fence);
            delay::won(&self.config, &mut next, attempt);
            self.passes_detached(&mut next, attempt);
            for node in &mut next.nodes {
                let nil = node.nil;
                node.forget(attempt);
                if self.config.is(Mutant::NilSettlesHolds) {
                    node.nil = nil;
                }
            }
            let record = &mut next.attempts[attempt];
            // The time from its begin counts for what stays, and for nothing else.
            let since = if self.config.at_least > 0 { record.since } else { 0 };
            (record.phase, record.left, record.since) = (Phase::Held, left, since);
            emit(Action::Win { attempt, token }, next);
        }
    }

    fn extends(&self, state: &State, attempt: usize, emit: &mut impl FnMut(Action, State)) {
        let record = &state.attempts[attempt];
        for round in 0..usize::from(self.config.attempts[attempt].rounds).min(ROUNDS) {
            match record.rounds[round].phase {
                RoundPhase::Idle => {
                    let earlier = record.rounds[..round].iter();
                    let begun = earlier.into_iter().all(|before| before.phase != RoundPhase::Idle);
                    if begun && record.phase == Phase::Held && !self.is_adopters(attempt, round) {
                        emit(
                            Action::Extend { attempt, round },
                            self.begin_round(state, attempt, round),
                        );
                    }
                }
                RoundPhase::Open if self.is_last_of_the_first(attempt, round) => {
                    self.detaches(state, attempt, emit);
                }
                RoundPhase::Open => {
                    if let Some(left) = self.left_if_extended(state, attempt, round) {
                        let mut next = *state;
                        let this = &mut next.attempts[attempt];
                        this.rounds[round].phase = RoundPhase::Won;
                        if this.phase == Phase::Lapsed {
                            this.phase = Phase::Held;
                            next.broken = Property::NeverReacquired.code();
                        }
                        next.attempts[attempt].left = left;
                        forced::extended(&mut next, attempt, round);
                        next.nodes.iter_mut().for_each(|node| {
                            node.answers.forget_won(round_bit(attempt, round));
                        });
                        emit(Action::Extended { attempt, round }, next);
                    }
                }
                RoundPhase::Won => self.tops_up(state, attempt, round, emit),
            }
        }
    }

    pub(crate) fn begin_round(&self, state: &State, attempt: usize, round: usize) -> State {
        let mut next = *state;
        let members = self.members(attempt);
        for (place, node) in next.nodes[..self.config.nodes].iter_mut().enumerate() {
            if members >> place & 1 == 1 {
                node.sent.extend |= round_bit(attempt, round);
                if node.warm > 0 {
                    node.answers.warming |= round_bit(attempt, round);
                }
            }
        }
        let after_force = state.attempts[attempt].force == forced::CONFIRMED;
        next.attempts[attempt].rounds[round] =
            Round { phase: RoundPhase::Open, since: 0, after_force };
        next
    }

    fn tops_up(
        &self,
        state: &State,
        attempt: usize,
        round: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        let second = usize::from(state.attempts[attempt].rounds[1].phase != RoundPhase::Idle);
        for node in 0..self.config.nodes {
            if state.nodes[node].answers.vacant & round_bit(attempt, round) != 0 {
                let mut next = *state;
                next.nodes[node].answers.vacant &= !round_bit(attempt, round);
                next.nodes[node].sent.top_up |= round_bit(attempt, second);
                emit(Action::TopUp { attempt, round, node }, next);
            }
        }
    }

    fn forces(&self, state: &State, attempt: usize, emit: &mut impl FnMut(Action, State)) {
        let record = &state.attempts[attempt];
        if state.forced > 0 && record.phase == Phase::Held && record.force == 0 {
            let mut next = *state;
            next.forced -= 1;
            next.attempts[attempt].force = forced::ASKED;
            next.nodes[..self.config.nodes].iter_mut().for_each(|node| node.force |= bit(attempt));
            emit(Action::Force { attempt }, next);
        }
        let deleted = |node: &usize| state.nodes[*node].forced & bit(attempt) != 0;
        if record.force == forced::ASKED
            && self.is_quorum(attempt, (0..self.config.nodes).filter(deleted))
        {
            let mut next = *state;
            next.attempts[attempt].force = forced::CONFIRMED;
            emit(Action::Forced { attempt }, next);
        }
    }

    fn by_itself(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        let ends = match self.config.fence {
            Fence::Window { until, .. } => state.now >= until,
            _ => false,
        };
        if !ends {
            let mut next = *state;
            self.tick(&mut next);
            emit(Action::Tick, next);
        }
        for node in 0..self.config.nodes {
            let master = &state.nodes[node];
            if state.restarts > 0 && master.remembers() {
                let mut next = *state;
                self.restart(&mut next, node);
                emit(Action::Restart { node }, next);
            }
            if self.config.gains_every > 0
                && master.steady == 0
                && (master.remembers() || master.warm > 0)
            {
                let mut next = *state;
                next.nodes[node].ages(1);
                next.nodes[node].steady = self.config.gains_every;
                emit(Action::Gain { node }, next);
            }
            if state.older > 0 && master.keys[0].owner == 0 {
                let mut next = *state;
                next.older -= 1;
                let key = &mut next.nodes[node].keys[0];
                (key.owner, key.left) = (OLDER, self.config.ttl);
                emit(Action::Keep { node }, next);
            }
            let counts = matches!(self.config.fence, Fence::Window { .. });
            if state.clock_steps > 0 && (counts || master.remembers() || master.warm > 0) {
                let mut next = *state;
                self.set_clock(&mut next, node);
                emit(Action::SetClock { node }, next);
            }
        }
    }
}
