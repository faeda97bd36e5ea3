//! The effect of what is in flight, and what follows at the end of a round.

use super::config::Kind;
use super::mutants::Mutant;
use super::protocol::{Action, Turns};
use super::scripts::{Answer, Leaves};
use super::state::{Node, Out, Stage, State};
use crate::masters::{self, Extended, NO_DRIFT, now, span};
use crate::quorum::turns::{Event, combined, ticket};
use crate::quorum::{NodeSet, Progress, Report, Tally, Verdict, Vote};

/// Answers as bytes; zero is none. From [`HELD`] on, the rest of a life, twice, and whether others are before it.
const GRANTED: u8 = 1;
const REFUSED: u8 = 2;
const WOULD: u8 = 3;
const OTHERS: u8 = 4;
const BARRED: u8 = 5;
const VACANT: u8 = 6;
const HELD: u8 = 16;

/// The choices of a release.
const TELL: u8 = 1;
const UNHEARD: u8 = 2;

impl Turns {
    pub(super) fn delivers(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        for node in 0..self.config.nodes {
            if state.nodes[node].sent >> who & 1 == 0 {
                continue;
            }
            for choice in self.choices(state, who, node) {
                let mut next = *state;
                next.nodes[node].sent &= !(1 << who);
                self.executes(&mut next, who, node, choice);
                next.nodes[node].settles();
                if Self::is_quiet(&next, who) {
                    self.continues(&mut next, who);
                }
                emit(Action::Deliver { who, node, choice }, next);
            }
            let owed = matches!(state.actors[who].out, Out::Undo | Out::Leave);
            if state.losses > 0 && !owed {
                let mut next = *state;
                next.nodes[node].sent &= !(1 << who);
                (next.losses, next.fault) = (next.losses - 1, true);
                if Self::is_quiet(&next, who) {
                    self.continues(&mut next, who);
                }
                emit(Action::Lose { who, node }, next);
            }
        }
    }

    pub(super) fn parts(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        for node in 0..self.config.nodes {
            if state.nodes[node].parting >> who & 1 == 1 {
                let mut next = *state;
                next.nodes[node].parting &= !(1 << who);
                next.nodes[node].master.part(&self.asks(state, who, 1));
                next.nodes[node].settles();
                emit(Action::Part { who, node }, next);
            }
        }
    }

    fn choices(&self, state: &State, who: usize, node: usize) -> std::ops::RangeInclusive<u8> {
        let actor = &state.actors[who];
        let others = state.nodes.iter().filter(|node| node.sent >> who & 1 == 1).count() > 1;
        match actor.out {
            Out::Join if state.nodes[node].master.stamps[who] == 0 => 1..=self.config.clocks,
            Out::Leave if actor.tells => {
                let least = if others { 0 } else { TELL };
                least..=if state.losses > 0 { UNHEARD } else { TELL }
            }
            _ => 0..=0,
        }
    }

    fn executes(&self, state: &mut State, who: usize, node: usize, choice: u8) {
        let clock = if state.actors[who].out == Out::Join { choice } else { 1 };
        let asks = self.asks(state, who, clock.max(1));
        let actor = state.actors[who];
        let master = &mut state.nodes[node].master;
        let answer = match actor.out {
            Out::Set if master.set(who, self.config.ttl) => GRANTED,
            Out::Join => {
                master.leave(&asks, Leaves::Nothing, true);
                code(master.ask(&asks))
            }
            Out::Look | Out::Try => code(master.ask(&asks)),
            Out::Extend => match master.extend(&asks) {
                Extended::Held => GRANTED,
                Extended::Vacant => VACANT,
                Extended::Taken => REFUSED,
            },
            Out::TopUp => {
                master.top_up(&asks);
                REFUSED
            }
            Out::Undo => {
                let fair = self.config.clients[who].kind == Kind::Fair;
                let drops = actor.beside && self.config.is(Mutant::RollbackDrops);
                master.leave(&asks, Leaves::Nothing, fair && !drops);
                REFUSED
            }
            Out::Leave => {
                let fair = self.config.clients[who].kind != Kind::Plain;
                let leaves = if actor.held { Leaves::Hold } else { Leaves::Place };
                let (freed, looks) = master.leave(&asks, leaves, fair);
                if choice > 0 {
                    state.actors[who].tells = false;
                }
                if choice > 0 && freed {
                    self.tells(state, node, fair, choice);
                    if choice == TELL && !self.config.is(Mutant::FrontNotNotified) {
                        (0..self.count()).filter(|other| looks >> other & 1 == 1).for_each(
                            |other| {
                                state.actors[other].rests = 0;
                                self.happens(state, other, Event::Due);
                            },
                        );
                    }
                }
                REFUSED
            }
            Out::Set | Out::Nothing => REFUSED,
        };
        state.nodes[node].answers[who] = answer;
    }

    /// Notifies the first waiter at this node; a plain release notifies all.
    fn tells(&self, state: &mut State, node: usize, names: bool, choice: u8) {
        if choice == UNHEARD {
            (state.losses, state.fault) = (state.losses - 1, true);
            return;
        }
        if self.config.is(Mutant::Silent) {
            return;
        }
        let head = state.nodes[node].master.head();
        for who in 0..self.count() {
            match head {
                Some(head) if names && head == who => self.happens(state, who, Event::Named),
                Some(_) if names => {}
                _ => self.happens(state, who, Event::Freed),
            }
        }
    }

    /// Continues after the last answer of a round.
    pub(super) fn continues(&self, state: &mut State, who: usize) {
        let out = std::mem::take(&mut state.actors[who].out);
        match out {
            Out::Nothing => {}
            Out::Set if self.has_won(state, who) => self.wins(state, who),
            Out::Set if self.is_kind(who, Kind::Fair) => self.sends(state, who, Out::Join),
            Out::Set => self.sends(state, who, Out::Undo),
            Out::Join => self.has_joined(state, who),
            Out::Look => {
                state.actors[who].out = Out::Look;
                self.learns(state, who);
                let actor = &mut state.actors[who];
                actor.out = if actor.out == Out::Look { Out::Nothing } else { actor.out };
            }
            Out::Try => self.has_tried(state, who),
            Out::Undo if self.is_kind(who, Kind::Plain) => state.actors[who] = Default::default(),
            Out::Undo => self.happens(state, who, Event::Pause),
            Out::Extend => self.has_extended(state, who),
            Out::TopUp => self.round_ends(state, who),
            Out::Leave if self.is_kind(who, Kind::Plain) => state.actors[who] = Default::default(),
            Out::Leave => {
                let gone = super::state::Actor { stage: Stage::Gone, ..Default::default() };
                state.actors[who] = gone;
            }
        }
        if state.actors[who].out == Out::Nothing {
            state.nodes.iter_mut().for_each(|node| node.answers[who] = 0);
            state.actors[who].since = 0;
        }
    }

    fn has_joined(&self, state: &mut State, who: usize) {
        let stamps: Vec<Option<u64>> = state.nodes[..self.config.nodes]
            .iter()
            .map(|node| {
                (node.answers[who] > 0 && node.warm == 0).then_some(node.master.stamps[who])
            })
            .map(|stamp| stamp.filter(|stamp| *stamp > 0).map(u64::from))
            .collect();
        let found = ticket(self.membership, &stamps);
        let least = stamps.iter().flatten().min().copied();
        let found = if self.config.is(Mutant::LeastStamp) { found.and(least) } else { found };
        match found.and_then(|found| u8::try_from(found).ok()) {
            None => self.happens(state, who, Event::Unable),
            Some(found) => {
                state.actors[who].ticket = found;
                // A message has named it meanwhile: its try stores the ticket, as a look does.
                let tries = state.actors[who].wants;
                self.sends(state, who, if tries { Out::Try } else { Out::Look });
            }
        }
    }

    fn has_won(&self, state: &State, who: usize) -> bool {
        let since = state.actors[who].since;
        let valid = masters::left_of_a_win(since, self.config.ttl, NO_DRIFT).is_some();
        let granted = |node: usize| {
            let node = &state.nodes[node];
            node.answers[who] == GRANTED && node.warm == 0
        };
        let mut tally = Tally::new(self.membership);
        for node in 0..self.config.nodes {
            tally.record(node, if granted(node) { Vote::Granted } else { Vote::Refused });
        }
        let enough = self.config.is(Mutant::OneIsEnough) && (0..self.config.nodes).any(granted);
        valid && (enough || tally.verdict() == Verdict::Won)
    }

    fn has_tried(&self, state: &mut State, who: usize) {
        if self.has_won(state, who) {
            self.happens(state, who, Event::Won);
            return;
        }
        state.actors[who].beside = state.nodes.iter().any(|node| node.answers[who] >= HELD);
        self.learns(state, who);
        if state.actors[who].stage == Stage::Waits {
            self.sends(state, who, Out::Undo);
        }
    }

    /// What the answers to a look or a lost try say. They are older than a message that came since.
    fn learns(&self, state: &mut State, who: usize) {
        let answer = |node: usize| (state.nodes[node].answers[who], state.nodes[node].warm == 0);
        let of = |is: &dyn Fn(u8) -> bool| {
            self.nodes_where(|node| matches!(answer(node), (code, true) if is(code)))
        };
        let able = of(&|code| code > 0 && code != BARRED);
        let would = of(&|code| code == WOULD);
        let first = of(&|code| code == WOULD || code == GRANTED || (code >= HELD && code & 1 == 1));
        let silent = self.nodes_where(|node| matches!(answer(node), (0, _) | (_, false)));
        let life = self.life(state, who);
        let event = self.heard(state, who, combined(self.membership, able, silent, would, first));
        let older = state.actors[who].wants && matches!(event, Event::First | Event::Others);
        state.actors[who].life = if event == Event::First { life } else { 0 };
        if event == Event::First {
            state.actors[who].rests = 0;
        }
        if !older {
            self.happens(state, who, event);
        }
    }

    /// Counts for how long no quorum has answered.
    fn heard(&self, state: &mut State, who: usize, event: Event) -> Event {
        let actor = &mut state.actors[who];
        match event {
            Event::Silent if actor.unheard >= actor.lives.max(self.config.entry) => {
                return Event::Unheard;
            }
            Event::Silent | Event::Unable => {}
            _ => {
                actor.unheard = actor.since;
                actor.lives = if actor.seldom { 3 * self.config.seldom } else { 0 };
            }
        }
        event
    }

    /// Returns the ticks until a quorum is free, by the lives that it reported.
    fn life(&self, state: &State, who: usize) -> u8 {
        let lives = (0..=self.config.ttl).find(|most| {
            let free = |node: usize| {
                let answer = state.nodes[node].answers[who];
                answer == WOULD
                    || answer == GRANTED
                    || (answer >= HELD && (answer - HELD) / 2 <= *most)
            };
            self.membership.is_quorum(self.nodes_where(free))
        });
        lives.unwrap_or(0)
    }

    fn has_extended(&self, state: &mut State, who: usize) {
        let actor = state.actors[who];
        let warming: NodeSet = self.nodes_where(|node| state.nodes[node].warm > 0);
        let times = (actor.since, self.config.ttl);
        let mut round = masters::round(self.membership, times, warming, []);
        for (place, node) in state.nodes[..self.config.nodes].iter().enumerate() {
            round.record(
                place,
                match node.answers[who] {
                    GRANTED => Report::Held,
                    VACANT => Report::Vacant,
                    REFUSED => Report::Taken,
                    _ => Report::Unknown,
                },
            );
        }
        let vacant = round.vacant();
        match round.progress(now().after(span(actor.left)), now(), NO_DRIFT) {
            Progress::Extended(until) => {
                state.actors[who].left = masters::ticks(until.since(now()));
                if vacant.len() == 0 {
                    self.round_ends(state, who);
                    return;
                }
                state.actors[who].out = Out::TopUp;
                for node in vacant.iter() {
                    state.nodes[node].sent |= 1 << who;
                }
            }
            Progress::Lost => self.sends(state, who, Out::Leave),
            Progress::Pending | Progress::Unconfirmed => {}
        }
    }

    fn round_ends(&self, state: &mut State, who: usize) {
        for node in &mut state.nodes[..self.config.nodes] {
            if node.master.holds(who) {
                node.absent = 0;
            }
            state.missing |= node.absent > self.config.rounds && node.warm == 0;
        }
    }
}

fn code(answer: Answer) -> u8 {
    match answer {
        Answer::Granted => GRANTED,
        Answer::Would => WOULD,
        Answer::Others => OTHERS,
        Answer::Barred => BARRED,
        Answer::Held { left, first } => HELD + left * 2 + u8::from(first),
    }
}

impl Node {
    /// A waiter that left the queue does not stand any more.
    pub(super) fn settles(&mut self) {
        for (who, stamp) in self.master.stamps.iter().enumerate() {
            if *stamp == 0 {
                self.before.iter_mut().for_each(|before| *before &= !(1 << who));
            }
        }
        self.ended &= self.master.key == 0 && self.master.head().is_some();
    }

    pub(super) fn forgets(&mut self, who: usize) {
        self.sent &= !(1 << who);
        (self.answers[who], self.before[who]) = (0, 0);
    }
}
