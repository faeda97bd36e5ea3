//! What clients begin, and how a waiter goes through the table.

use super::config::Kind;
use super::mutants::Mutant;
use super::protocol::{Action, Turns};
use super::scripts::{CLIENTS, KEPT};
use super::state::{Node, Out, Stage, State};
use crate::quorum::turns::{Does, Event, Phase, turn};

/// The most tries of a waiter in a tick.
const TRIES: u8 = 2;

impl Turns {
    pub(super) fn steps(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        for who in 0..self.count() {
            self.begins(state, who, &mut emit);
            self.delivers(state, who, &mut emit);
            self.parts(state, who, &mut emit);
        }
        for node in 0..self.config.nodes {
            if state.restarts > 0 && state.nodes[node].warm == 0 {
                emit(Action::Restart { node }, self.restarted(state, node));
            }
        }
        if let Some(next) = self.after_a_tick(state) {
            emit(Action::Tick, next);
        }
    }

    fn begins(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        let actor = &state.actors[who];
        let client = &self.config.clients[who];
        let mut sends = |action, out: Out| {
            let mut next = *state;
            self.sends(&mut next, who, out);
            emit(action, next);
        };
        match (actor.stage, actor.out) {
            (Stage::Away, Out::Nothing) => {
                let sets = client.kind == Kind::Plain || self.config.sets;
                sends(Action::Come { who }, if sets { Out::Set } else { Out::Join });
            }
            (Stage::Waits, Out::Nothing) if actor.wants => sends(Action::Try { who }, Out::Try),
            (Stage::Waits, Out::Nothing) if Self::tries_last(state, who) => {
                sends(Action::Try { who }, Out::Try);
            }
            (Stage::Waits, Out::Nothing) if !actor.done => sends(Action::Look { who }, Out::Look),
            (Stage::Holds, Out::Nothing) => {
                if client.extends && !actor.done {
                    sends(Action::Extend { who }, Out::Extend);
                }
                if !client.stays {
                    sends(Action::Release { who }, Out::Leave);
                }
            }
            _ => {}
        }
        if client.gives_up && actor.stage == Stage::Waits && actor.out == Out::Nothing {
            let mut next = *state;
            self.sends(&mut next, who, Out::Leave);
            next.handed = false;
            emit(Action::GiveUp { who }, next);
        }
        if client.dies && matches!(actor.stage, Stage::Waits | Stage::Holds) {
            let mut next = *state;
            next.actors[who] = super::state::Actor { stage: Stage::Dead, ..Default::default() };
            next.nodes.iter_mut().for_each(|node| node.forgets(who));
            next.fault = true;
            emit(Action::Die { who }, next);
        }
    }

    /// Sends a command to every node; a rollback only to those that may have granted.
    pub(super) fn sends(&self, state: &mut State, who: usize, out: Out) {
        match out {
            Out::Set => self.notes_standing(state, who, true),
            Out::Join => self.notes_standing(state, who, false),
            Out::Extend => self.counts_absence(state, who),
            _ => {}
        }
        let is_calm = state.nodes.iter().all(|node| node.sent == 0);
        state.handed |= out == Out::Leave && self.hands_on(state, who);
        for node in &mut state.nodes[..self.config.nodes] {
            let refused = out == Out::Undo && !matches!(node.answers[who], 0 | 1);
            node.answers[who] = 0;
            node.sent |= u8::from(!refused) << who;
        }
        let client = &self.config.clients[who];
        let is_held = state.actors.iter().any(|actor| actor.stage == Stage::Holds);
        let actor = &mut state.actors[who];
        (actor.out, actor.since) = (out, 0);
        match out {
            Out::Join => actor.stage = Stage::Waits,
            Out::Look => {
                actor.done = true;
                // One that is far back has others before it, and the lock is theirs first.
                actor.seldom = client.seldom && !actor.nears && is_held;
                actor.nears = client.seldom;
                actor.rests = if actor.seldom { self.config.seldom } else { 0 };
            }
            Out::Extend => actor.done = true,
            Out::Try => {
                (actor.seldom, actor.rests) = (false, 0);
                (actor.wants, actor.done) = (false, true);
                let last = u8::from(is_calm);
                actor.tries = (actor.tries + 1).min(TRIES + last);
            }
            Out::Leave => {
                let (holds, phase) = (actor.stage == Stage::Holds, Phase::Behind);
                *actor = super::state::Actor { out, phase, stage: Stage::Gone, ..*actor };
                (actor.wants, actor.done, actor.left, actor.life) = (false, false, 0, 0);
                (actor.unheard, actor.lives) = (0, 0);
                (actor.rests, actor.seldom, actor.nears) = (0, false, false);
                actor.tells = holds || actor.ticket > 0;
                actor.held = holds;
            }
            _ => {}
        }
        // A rollback that no node needs is over.
        if Self::is_quiet(state, who) {
            self.continues(state, who);
        }
    }

    /// Returns whether a waiter that was called has yet to try after all else has arrived.
    pub(super) fn tries_last(state: &State, who: usize) -> bool {
        let actor = &state.actors[who];
        let called = actor.phase == Phase::Called && actor.tries == TRIES;
        called && state.nodes.iter().all(|node| node.sent == 0)
    }

    /// Returns whether the client lets go in turn, and all waiters are alive and stand at every node.
    /// While a ticket is on its way, the message may name another, and while an earlier release or
    /// the rollback of a try is, it may name none. A SET may come between.
    fn hands_on(&self, state: &State, who: usize) -> bool {
        let waits = |other: usize| {
            let actor = &state.actors[other];
            actor.stage == Stage::Waits && !self.config.clients[other].barred
        };
        let nodes = &state.nodes[..self.config.nodes];
        let stands = |other: usize| {
            let ticket = state.actors[other].ticket;
            let stored = nodes.iter().all(|node| node.master.stamps[other] == ticket);
            waits(other) && ticket > 0 && stored
        };
        let queued = |other: &usize| nodes.iter().any(|node| node.master.stamps[*other] > 0);
        let others = || (0..self.count()).filter(|other| *other != who).filter(queued);
        let rests =
            |other: usize| !matches!(state.actors[other].out, Out::Leave | Out::Try | Out::Undo);
        state.actors[who].stage == Stage::Holds
            && !self.config.sets
            && (0..self.count()).all(|other| !self.is_kind(other, Kind::Plain))
            && self.membership.is_quorum(self.nodes_where(|node| nodes[node].warm == 0))
            && others().count() > 0
            && others().all(stands)
            && (0..self.count()).filter(|other| *other != who).all(rests)
    }

    /// Notes which clients stand at a quorum when one comes. What a SET finds vacant is open to all.
    fn notes_standing(&self, state: &mut State, who: usize, by_set: bool) {
        state.nodes.iter_mut().for_each(|node| node.before[who] = 0);
        for other in (0..self.count()).filter(|other| *other != who) {
            let actor = state.actors[other];
            if actor.stage != Stage::Waits || actor.ticket == 0 {
                continue;
            }
            let stands = |node: usize| {
                let master = &state.nodes[node].master;
                master.stamps[other] == actor.ticket
                    && !(by_set && self.is_open(&state.nodes[node]))
            };
            let places = self.nodes_where(stands);
            if self.membership.is_quorum(places) && !self.config.clients[other].barred {
                places.iter().for_each(|node| state.nodes[node].before[who] |= 1 << other);
            }
        }
    }

    /// Returns whether nothing is there, or what a plain release will delete.
    fn is_open(&self, node: &Node) -> bool {
        let key = node.master.key;
        let held = key > 0 && key & KEPT == 0;
        (key == 0 && !node.ended) || (held && self.is_kind(usize::from(key) - 1, Kind::Plain))
    }

    fn counts_absence(&self, state: &mut State, who: usize) {
        for node in &mut state.nodes[..self.config.nodes] {
            let more = node.absent > 0 && node.absent < 9 && !node.master.holds(who);
            node.absent += u8::from(more);
        }
    }

    /// Lets a waiter go through the table.
    pub(super) fn happens(&self, state: &mut State, who: usize, event: Event) {
        if state.actors[who].stage != Stage::Waits {
            return;
        }
        let actor = &mut state.actors[who];
        let (does, phase) = turn(actor.phase, self.broken(actor.phase, event));
        let looked = matches!(event, Event::First | Event::Others | Event::Would);
        let tries = self.config.is(Mutant::TryAtEachLook) && looked && actor.out == Out::Look;
        let gives_way = self.config.is(Mutant::CalledGivesWay) && event == Event::Others;
        actor.phase = if gives_way { Phase::Behind } else { phase };
        let phase = actor.phase;
        match (phase, event) {
            (Phase::Called, Event::Named | Event::Would) => actor.left = self.config.called,
            (Phase::Called, _) => {}
            _ => actor.left = 0,
        }
        match does {
            _ if tries => actor.wants = true,
            Does::Sleep => {}
            Does::Look => actor.done = false,
            Does::Try if event == Event::Pause && actor.tries >= TRIES => {}
            Does::Try => actor.wants = true,
            Does::Enter => self.wins(state, who),
            Does::Withdraw => {
                state.left |= self.could_win(state, who);
                self.sends(state, who, Out::Leave);
            }
        }
    }

    /// Returns whether a waiter has its ticket at a quorum that votes, and accepts its ballot.
    fn could_win(&self, state: &State, who: usize) -> bool {
        let ticket = state.actors[who].ticket;
        let stands = |node: usize| {
            let node = &state.nodes[node];
            node.warm == 0 && node.master.stamps[who] == ticket
        };
        let places = self.nodes_where(stands);
        ticket > 0 && !self.config.clients[who].barred && self.membership.is_quorum(places)
    }

    /// Returns the event that a broken rule takes it for.
    fn broken(&self, phase: Phase, event: Event) -> Event {
        match (self.config.mutant, event) {
            (Some(Mutant::NeverWithdraws), Event::Unable) => Event::First,
            (Some(Mutant::SilenceIsInability), Event::Silent) => Event::Unable,
            (Some(Mutant::TryWhenLivesEnd), Event::Life) if phase == Phase::First => Event::Freed,
            (Some(Mutant::NoFirst), Event::Life | Event::Freed) if phase == Phase::First => {
                Event::First
            }
            (_, event) => event,
        }
    }

    pub(super) fn wins(&self, state: &mut State, who: usize) {
        let passes = |other: usize| {
            let stands = |node: usize| state.nodes[node].before[who] >> other & 1 == 1;
            state.actors[other].stage == Stage::Waits
                && self.membership.is_quorum(self.nodes_where(stands))
        };
        state.passed |= (0..CLIENTS).any(passes);
        let actor = &mut state.actors[who];
        actor.left = self.config.ttl - actor.since;
        (actor.stage, actor.out, actor.phase) = (Stage::Holds, Out::Nothing, Phase::Behind);
        (actor.wants, actor.done, actor.beside) = (false, false, false);
        (actor.life, actor.tries, actor.unheard) = (0, 0, 0);
        (actor.lives, actor.rests, actor.seldom, actor.nears) = (0, 0, false, false);
        state.nodes.iter_mut().for_each(|node| (node.answers[who], node.before[who]) = (0, 0));
        state.nodes.iter_mut().for_each(|node| node.absent = 0);
        let stood = state.actors[who].ticket > 0 && !self.config.is(Mutant::WinnersStay);
        state.nodes[..self.config.nodes].iter_mut().for_each(|node| {
            node.parting |= u8::from(stood) << who;
        });
        if self.config.clients[who].forgets {
            state.actors[who] = super::state::Actor { stage: Stage::Gone, ..Default::default() };
        }
        (state.drought, state.handed) = (0, false);
        state.opened |= self.is_kind(who, Kind::Plain);
    }
}
