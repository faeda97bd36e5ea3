//! What clients decide, and how time passes.

use super::mutants::Mutant;
use super::protocol::{Action, Waiting};
use super::state::{Actor, Phase, State};
use crate::masters::{self, NO_DRIFT, NO_WINDOW};
use crate::quorum::{NodeSet, Tally, Verdict, Vote};
use crate::sharing::scripts::Master;

impl Waiting {
    pub(super) fn steps(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        for who in 0..self.count() {
            let actor = &state.actors[who];
            let client = &self.config.clients[who];
            match actor.phase {
                Phase::Idle if self.is_taken(state, who) => {
                    emit(Action::Queue { who }, self.queues(state, who));
                }
                Phase::Idle => emit(Action::Try { who }, self.tries(state, who)),
                Phase::Queued if client.gives_up => {
                    emit(Action::GiveUp { who }, self.gives_up(state, who));
                }
                Phase::Waiting => {
                    if !(client.reads && self.config.sleeps) || actor.notified || actor.refused == 0
                    {
                        emit(Action::Try { who }, self.tries(state, who));
                    }
                    if client.gives_up {
                        emit(Action::GiveUp { who }, self.gives_up(state, who));
                    }
                }
                Phase::Held if self.is_quiet(state, who) => {
                    emit(Action::Release { who }, self.sends(state, who, Phase::Leaving));
                    if client.downgrades && !actor.reads {
                        let mut next = self.sends(state, who, Phase::Downgrading);
                        next.actors[who].reads = true;
                        emit(Action::Downgrade { who }, next);
                    }
                }
                _ => {}
            }
            if self.config.crashes && self.writes(state, who) {
                let mut next = *state;
                next.actors[who] = Actor { phase: Phase::Dead, ..Actor::default() };
                next.nodes.iter_mut().for_each(|node| node.drop_all_of(who));
                emit(Action::Crash { who }, next);
            }
            self.delivers(state, who, &mut emit);
        }
        for node in 0..self.config.nodes {
            if state.restarts > 0 && state.nodes[node].master != Master::default() {
                emit(Action::Restart { node }, self.restarted(state, node));
            }
        }
        if let Some(next) = self.after_a_tick(state) {
            emit(Action::Tick, next);
        }
    }

    fn is_quiet(&self, state: &State, who: usize) -> bool {
        state.nodes.iter().all(|node| node.sent >> who & 1 == 0)
    }

    /// Sends what belongs to the phase to every node.
    pub(super) fn sends(&self, state: &State, who: usize, phase: Phase) -> State {
        let mut next = *state;
        next.actors[who].phase = phase;
        for (place, node) in next.nodes[..self.config.nodes].iter_mut().enumerate() {
            node.granted &= !(1 << who);
            node.sent |= (self.up() >> place & 1) << who;
        }
        next
    }

    pub(super) fn tries(&self, state: &State, who: usize) -> State {
        let mut next = self.sends(state, who, Phase::Trying);
        let actor = &mut next.actors[who];
        (actor.tried, actor.notified, actor.refused) = (true, false, 0);
        next.busy |= !self.config.clients[who].reads;
        next
    }

    /// The hint is left to live for as long as others need to renew theirs.
    fn gives_up(&self, state: &State, who: usize) -> State {
        let mut next = self.sends(state, who, Phase::GivingUp);
        self.leaves_queue(&mut next, who);
        let actor = &mut next.actors[who];
        *actor = Actor { phase: Phase::GivingUp, ..Actor::default() };
        self.hints_behind(&mut next);
        if self.config.is(Mutant::HintLeftWhenGivenUp) {
            self.has_left(&mut next, who);
        }
        next
    }

    /// Continues after every node has answered.
    pub(super) fn continues(&self, state: &mut State, who: usize) {
        match state.actors[who].phase {
            Phase::Trying if self.has_quorum(state, who) => self.wins(state, who),
            Phase::Trying => {
                *state = self.sends(state, who, Phase::Backing);
                if self.is_of_process(who) {
                    self.hints_behind(state);
                }
            }
            Phase::Backing => state.actors[who].phase = Phase::Waiting,
            Phase::Leaving => self.has_left(state, who),
            Phase::GivingUp => {
                self.has_left(state, who);
                self.tells(state);
            }
            Phase::Downgrading => self.has_downgraded(state, who),
            Phase::Held | Phase::Idle | Phase::Queued | Phase::Waiting | Phase::Dead => {}
        }
    }

    fn has_quorum(&self, state: &State, who: usize) -> bool {
        let mut tally = Tally::new(self.membership);
        for (place, node) in state.nodes[..self.config.nodes].iter().enumerate() {
            let counts = node.granted >> who & 1 == 1 && node.warm == 0;
            tally.record(place, if counts { Vote::Granted } else { Vote::Refused });
        }
        tally.verdict() == Verdict::Won
    }

    fn wins(&self, state: &mut State, who: usize) {
        let hinted = state.actors[who].hinted;
        if hinted && !self.config.is(Mutant::HintLeftOnWin) {
            *state = self.sends(state, who, Phase::Held);
        }
        state.nodes.iter_mut().for_each(|node| node.granted &= !(1 << who));
        let client = &self.config.clients[who];
        state.actors[who] = Actor {
            phase: Phase::Held,
            reads: client.reads,
            left: client.ttl,
            hinted,
            ..Actor::default()
        };
        if !client.reads {
            state.drought = 0;
        }
    }

    /// A won downgrade tells the readers that wait. One that is not won changes nothing here: its
    /// guard is a reader's until its deadline.
    fn has_downgraded(&self, state: &mut State, who: usize) {
        let actor = &mut state.actors[who];
        actor.phase = Phase::Held;
        if !self.has_quorum(state, who) {
            return;
        }
        state.actors[who].left = self.config.clients[who].ttl;
        if !self.config.is(Mutant::SilentDowngrade) {
            self.tells(state);
        }
    }

    /// Tells every client that waits, or that is about to.
    pub(super) fn tells(&self, state: &mut State) {
        if self.config.sleeps {
            let waits = |actor: &&mut Actor| {
                let refused =
                    matches!(actor.phase, Phase::Trying | Phase::Backing | Phase::Waiting);
                actor.reads && refused
            };
            state.actors.iter_mut().filter(waits).for_each(|actor| actor.notified = true);
        }
    }

    pub(super) fn has_left(&self, state: &mut State, who: usize) {
        let reads = self.config.clients[who].reads;
        state.actors[who] = Actor { reads, ..Actor::default() };
        state.nodes.iter_mut().for_each(|node| node.drop_all_of(who));
        self.serves(state, who);
    }

    fn restarted(&self, state: &State, node: usize) -> State {
        let mut next = *state;
        next.nodes[node].master = Master::default();
        let longest = self.config.longest();
        next.nodes[node].warm = masters::quarantine(longest, NO_WINDOW, NO_DRIFT);
        next.restarts -= 1;
        next
    }

    /// Returns the state after a tick, unless something has still to happen before: messages arrive,
    /// and a client that waits tries, within a tick.
    fn after_a_tick(&self, state: &State) -> Option<State> {
        let sleeps = |who: usize| {
            let actor = &state.actors[who];
            self.config.sleeps && actor.reads && !actor.notified && actor.refused > 0
        };
        let due = |who: usize| {
            let actor = &state.actors[who];
            actor.phase == Phase::Waiting && !actor.tried && !sleeps(who)
        };
        let in_flight = state.nodes.iter().any(|node| node.sent != 0);
        if in_flight || (0..self.count()).any(due) {
            return None;
        }
        let mut next = *state;
        for node in &mut next.nodes[..self.config.nodes] {
            let hint = (node.master.hint, node.master.hint_left);
            node.master.ages();
            if self.config.is(Mutant::HintNeverExpires) {
                (node.master.hint, node.master.hint_left) = hint;
            }
            node.warm = node.warm.saturating_sub(1);
        }
        let busy = std::mem::take(&mut next.busy);
        for who in 0..self.count() {
            let actor = &mut next.actors[who];
            actor.tried = false;
            actor.refused -= u8::from(actor.refused > 0 && !self.config.is(Mutant::NeverWakes));
            if actor.phase == Phase::Held {
                actor.left -= 1;
                if actor.left == 0 {
                    self.has_left(&mut next, who);
                }
            }
        }
        // A client that a lapse serves tries in the tick that begins.
        let serves = std::mem::replace(&mut next.busy, busy);
        self.counts(&mut next);
        next.busy |= serves;
        Some(next)
    }

    /// Counts the ticks of waiting.
    fn counts(&self, state: &mut State) {
        let is = |who: usize, phase| self.writes(state, who) && state.actors[who].phase == phase;
        let waits = (0..self.count()).any(|who| is(who, Phase::Waiting) || is(who, Phase::Queued));
        let holds = (0..self.count()).any(|who| is(who, Phase::Held));
        let stays = |who: usize| {
            let client = &self.config.clients[who];
            let waits = is(who, Phase::Waiting) || is(who, Phase::Queued);
            waits && !client.gives_up && !client.plain
        };
        let stay = (0..self.count()).any(stays);
        let in_the_way = waits || holds || std::mem::take(&mut state.busy);
        let votes: NodeSet = (0..self.config.nodes)
            .filter(|node| self.up() >> node & 1 == 1 && state.nodes[*node].warm == 0)
            .collect();
        let could = self.membership.is_quorum(votes);
        let drought = state.drought.saturating_add(1);
        state.drought = if stay && !holds && could { drought } else { 0 };
        for actor in &mut state.actors[..self.count()] {
            let waits = actor.reads && actor.phase == Phase::Waiting && !in_the_way && could;
            actor.waited = if waits { actor.waited + 1 } else { 0 };
        }
    }
}
