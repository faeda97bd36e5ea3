//! Every step from a state.
//!
//! A message that would change nothing is not delivered: that is the same as a message that never
//! arrives, which is explored anyway.

use super::mutants::Mutant;
use super::protocol::{Action, Sharing};
use super::state::{DOWNGRADE, Phase, Round, RoundPhase, State};
use crate::net::{Net, bit, round_bit};

impl Sharing {
    pub(super) fn steps(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        for who in 0..self.count() {
            match state.actors[who].phase {
                Phase::Idle => self.begins(state, who, &mut emit),
                Phase::Trying => {
                    self.wins(state, who, &mut emit);
                    let mut next = *state;
                    self.end(&mut next, who, true);
                    emit(Action::GiveUp { who }, next);
                    self.crashes(state, who, &mut emit);
                }
                Phase::Held => {
                    let mut next = *state;
                    self.end(&mut next, who, true);
                    emit(Action::Release { who }, next);
                    self.crashes(state, who, &mut emit);
                    self.extends(state, who, &mut emit);
                    self.downgrades(state, who, &mut emit);
                }
                Phase::Over => {}
            }
            for node in 0..self.config.nodes {
                self.delivers(state, node, who, &mut emit);
            }
        }
        self.by_itself(state, emit);
    }

    fn begins(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        if !self.may_begin(state, who) {
            return;
        }
        let mut next = *state;
        for place in self.members(who) {
            let node = &mut next.nodes[place];
            node.sent.acquire |= bit(who);
            if node.warm > 0 {
                node.answers.uncounted |= bit(who);
            }
        }
        next.actors[who].phase = Phase::Trying;
        emit(Action::Begin { who }, next);
    }

    fn may_begin(&self, state: &State, who: usize) -> bool {
        let contenders = &self.config.contenders;
        let phase = |other: usize| state.actors[other].phase;
        // Of clients that differ only by name, the first one begins first.
        let alone = |other: usize| {
            contenders.iter().filter(|peer| peer.client == contenders[other].client).count() == 1
        };
        let alike = |other: usize| {
            let unnamed =
                super::config::Contender { client: contenders[who].client, ..contenders[other] };
            alone(other) && alone(who) && unnamed == contenders[who]
        };
        self.before(who).all(|other| phase(other) == Phase::Over)
            && !(0..who).any(|other| phase(other) == Phase::Idle && alike(other))
    }

    fn wins(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        let Some(left) = self.left_of_a_win(state, who) else { return };
        if !self.has_won(state, who) {
            return;
        }
        let mut next = *state;
        next.nodes.iter_mut().for_each(|node| node.forget(who));
        let actor = &mut next.actors[who];
        (actor.phase, actor.left, actor.since) = (Phase::Held, left, 0);
        emit(Action::Win { who }, next);
    }

    fn extends(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        let actor = &state.actors[who];
        let rounds = usize::from(self.config.contenders[who].rounds).min(DOWNGRADE);
        for round in (0..rounds).chain([DOWNGRADE]) {
            match actor.rounds[round].phase {
                RoundPhase::Idle => {
                    let earlier = &actor.rounds[..round.min(DOWNGRADE)];
                    let begun = earlier.iter().all(|before| before.phase != RoundPhase::Idle);
                    if begun && round != DOWNGRADE {
                        let next = self.begin_round(state, who, round);
                        emit(Action::Extend { who, round }, next);
                    }
                }
                RoundPhase::Open => {
                    if let Some(left) = self.left_if_extended(state, who, round) {
                        let mut next = *state;
                        let this = &mut next.actors[who];
                        (this.rounds[round].phase, this.left) = (RoundPhase::Won, left);
                        for node in &mut next.nodes {
                            node.answers.forget_won(round_bit(who, round));
                        }
                        emit(Action::Extended { who, round }, next);
                    }
                }
                RoundPhase::Won => self.tops_up(state, who, round, emit),
                RoundPhase::Closed => {}
            }
        }
    }

    fn begin_round(&self, state: &State, who: usize, slot: usize) -> State {
        let mut next = *state;
        for place in self.members(who) {
            let node = &mut next.nodes[place];
            node.sent.extend |= round_bit(who, slot);
            if node.warm > 0 {
                node.answers.warming |= round_bit(who, slot);
            }
        }
        let shared = state.actors[who].reads && !self.config.contenders[who].reads;
        next.actors[who].rounds[slot] = Round { phase: RoundPhase::Open, since: 0, shared };
        next
    }

    fn tops_up(
        &self,
        state: &State,
        who: usize,
        round: usize,
        emit: &mut impl FnMut(Action, State),
    ) {
        for node in self.members(who) {
            if state.nodes[node].answers.vacant & round_bit(who, round) != 0 {
                let mut next = *state;
                next.nodes[node].answers.vacant &= !round_bit(who, round);
                next.nodes[node].sent.top_up |= round_bit(who, state.actors[who].latest());
                emit(Action::TopUp { who, round, node }, next);
            }
        }
    }

    /// The rounds that are open are closed, and the same token asks as a reader. From here on the
    /// guard is a reader's.
    fn downgrades(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        let actor = &state.actors[who];
        let easily = self.config.is(Mutant::ReturnedTooEasily);
        if easily && actor.rounds[DOWNGRADE].phase == RoundPhase::Open {
            let mut next = *state;
            self.give_back(&mut next, who);
            emit(Action::Return { who }, next);
        }
        if !self.config.contenders[who].downgrades
            || actor.reads
            || actor.rounds[DOWNGRADE].phase != RoundPhase::Idle
        {
            return;
        }
        let mut closed = *state;
        if !self.config.is(Mutant::RoundsStayOpen) {
            close_rounds(&mut closed, who);
        }
        let mut next = self.begin_round(&closed, who, DOWNGRADE);
        next.actors[who].reads = true;
        emit(Action::Downgrade { who }, next);
    }

    /// Gives the write guard back: the downgrade has never been.
    pub(super) fn give_back(&self, state: &mut State, who: usize) {
        let actor = &mut state.actors[who];
        actor.reads = false;
        actor.rounds[DOWNGRADE] = Round::default();
        if self.config.is(Mutant::ReturnedTooEasily) {
            actor.rounds[DOWNGRADE].phase = RoundPhase::Closed;
        }
        for node in &mut state.nodes {
            node.untouched &= !bit(who);
            node.answers.forget_rounds(round_bit(who, DOWNGRADE));
        }
    }

    /// In any order, a crash is a release that never arrives.
    fn crashes(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        if self.config.crashes && self.is_in_order() {
            let mut next = *state;
            self.end(&mut next, who, false);
            next.actors[who].crashed = true;
            emit(Action::Crash { who }, next);
        }
    }

    fn by_itself(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        let mut next = *state;
        self.tick(&mut next);
        emit(Action::Tick, next);
        for node in 0..self.config.nodes {
            if state.restarts > 0 && state.nodes[node].master.owner != 0 {
                let mut next = *state;
                self.restart(&mut next, node);
                emit(Action::Restart { node }, next);
            }
        }
    }
}

fn close_rounds(state: &mut State, who: usize) {
    let begun = |round: &&mut Round| round.phase != RoundPhase::Idle;
    for round in state.actors[who].rounds.iter_mut().filter(begun) {
        *round = Round { phase: RoundPhase::Closed, since: 0, shared: false };
    }
    state.nodes.iter_mut().for_each(|node| node.forget(who));
}
