//! The steps.

use super::config::Config;
use super::mutants::Mutant;
use super::properties;
use super::state::{BURSTS, State, WRITES, Write};
use crate::checker::Model;
use crate::pace::Window;
use crate::quorum::{Instant, Keeper};
use std::time::Duration;

/// A slot, and how many of them a step takes.
const SLOT: Duration = Duration::from_millis(10);
pub(super) const SLOTS: u32 = 5;

/// After so many slots an answer is too late.
pub(super) const TIMEOUT: u32 = 20;

/// How many commands a fast master executes in a slot.
const FAST: u16 = 200;

const TTL: Duration = Duration::from_millis(3_000);
const KEEPER: Keeper = Keeper::new(Instant::NEVER);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Many acquires come at once.
    Burst,
    /// The master becomes slow, or fast again.
    Change,
    Pass,
}

#[derive(Debug)]
pub struct Bursts {
    pub config: Config,
}

pub(super) fn at(slot: u32) -> Instant {
    Instant::from_nanos(0).after(SLOT * slot)
}

impl Bursts {
    pub const fn new(config: Config) -> Self {
        Self { config }
    }

    /// Lets the window learn, unless it is broken.
    fn learn(&self, state: &mut State, learn: impl FnOnce(&mut Window)) {
        let before = state.window;
        learn(&mut state.window);
        let (limit, was) = (state.window.limit, before.limit);
        let is_kept = self.config.is(Mutant::NeverNarrows) && limit < was
            || self.config.is(Mutant::NeverWidens) && limit > was;
        if is_kept {
            state.window = before;
        }
        state.window.end();
    }

    /// The master executes what it can in a slot, and the client reads the answers. Returns how many locks are to be
    /// given back.
    fn executes(&self, state: &mut State) -> u16 {
        let mut left = u32::from(if state.is_slow { self.config.slowly } else { FAST });
        state.lines.iter_mut().filter(|line| line.waiting > 0).for_each(|line| line.borne += left);
        let (now, mut won) = (at(state.now), 0);
        for place in 0..usize::from(state.pending) {
            let mut write = state.writes[place];
            if write.extends && left > 0 {
                (write.extends, left) = (false, left - 1);
                if state.extends_since == Some(write.at) {
                    state.extends_since = None;
                    state.deadline = at(write.at).after(TTL);
                    let next = KEEPER.next(at(write.at), TTL, state.deadline, 0);
                    state.extend_at = next.unwrap_or(Instant::NEVER);
                }
            }
            let released = left.min(write.releases.into());
            write.releases -= released as u16;
            left -= released;
            let set = left.min(write.sets.into()) as u16;
            write.sets -= set;
            left -= u32::from(set);
            if !write.is_late {
                for _ in 0..set {
                    let started = at(write.at);
                    self.learn(state, |window| window.answered(now, started, SLOT * TIMEOUT));
                }
                won += set;
            }
            state.writes[place] = write;
        }
        won
    }

    /// Ends the rounds that have had no answer in time. Returns how many are rolled back.
    fn times_out(&self, state: &mut State) -> u16 {
        let (now, mut lost) = (at(state.now), 0);
        for place in 0..usize::from(state.pending) {
            let write = state.writes[place];
            if write.is_late || state.now < write.at + TIMEOUT {
                continue;
            }
            state.writes[place].is_late = true;
            for _ in 0..write.sets {
                self.learn(state, |window| window.unanswered(now, at(write.at)));
            }
            lost += write.sets;
        }
        if state.extends_since.is_some_and(|since| state.now >= since + TIMEOUT) {
            state.extends_since = None;
            state.extend_at = KEEPER.retry(now, state.deadline);
        }
        // They begin again, as the oldest that there are.
        state.lines[0].waiting += lost;
        lost
    }

    /// Begins the acquires for which there is room.
    fn begins(&self, state: &mut State) -> u16 {
        let mut sets = 0;
        while state.window.has_room() {
            let mut waiting = (0..BURSTS).filter(|line| state.lines[*line].waiting > 0);
            let oldest = waiting.next();
            let newest = waiting.next_back();
            let next = newest.filter(|_| self.config.is(Mutant::NewestFirst)).or(oldest);
            let Some(line) = next else { break };
            state.is_passed |= next != oldest;
            state.lines[line].waiting -= 1;
            state.window.begin();
            sets += 1;
        }
        sets
    }

    /// Lets a slot pass.
    fn pass(&self, state: &mut State) {
        state.now += 1;
        let won = self.executes(state);
        let releases = won + self.times_out(state);
        let wait = u32::from(self.config.wait) * SLOTS;
        for line in &mut state.lines {
            if state.now > line.since + wait && !self.config.is(Mutant::NotTold) {
                line.waiting = 0;
            }
        }
        let is_due = state.extends_since.is_none() && at(state.now) >= state.extend_at;
        let is_in_line =
            self.config.is(Mutant::InLine) && (state.waiting() > 0 || !state.window.has_room());
        let extends = is_due && !is_in_line;
        state.is_behind |= is_due && is_in_line;
        if extends {
            state.extends_since = Some(state.now);
        }
        let sets = self.begins(state);
        self.writes(state, Write { at: state.now, extends, releases, sets, is_late: false });
    }

    fn writes(&self, state: &mut State, write: Write) {
        let is_pending = |write: &Write| write.extends || write.releases > 0 || write.sets > 0;
        let mut kept = [Write::default(); WRITES];
        let mut pending = 0;
        let all = state.writes[..usize::from(state.pending)].iter().chain([&write]);
        for write in all.filter(|write| is_pending(write)) {
            let place = pending.min(WRITES - 1);
            assert!(pending < WRITES, "more writes are under way than there is room for");
            kept[place] = *write;
            pending += 1;
        }
        (state.writes, state.pending) = (kept, pending as u16);
    }
}

impl Model for Bursts {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        let now = Instant::from_nanos(0);
        let deadline = now.after(TTL);
        let mut window = Window::new(now);
        // The hold was won by a round that took a slot.
        window.begin();
        window.answered(now.after(SLOT), now, SLOT * TIMEOUT);
        window.end();
        State {
            now: 1,
            window,
            writes: [Write::default(); WRITES],
            pending: 0,
            lines: Default::default(),
            begun: 0,
            changes: 0,
            is_slow: self.config.slow,
            deadline,
            extend_at: KEEPER.next(now, TTL, deadline, 0).unwrap_or(Instant::NEVER),
            extends_since: None,
            is_behind: false,
            is_passed: false,
        }
    }

    fn successors(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        if state.begun < self.config.bursts {
            let mut after = *state;
            let line = &mut after.lines[usize::from(state.begun)];
            (line.since, line.waiting) = (state.now, self.config.acquires);
            after.begun += 1;
            emit(Action::Burst, after);
        }
        if state.changes < self.config.changes {
            let mut after = *state;
            (after.is_slow, after.changes) = (!state.is_slow, state.changes + 1);
            emit(Action::Change, after);
        }
        if state.now < u32::from(self.config.steps) * SLOTS {
            let mut after = *state;
            for _ in 0..SLOTS {
                if properties::violated(self, &after).is_none() {
                    self.pass(&mut after);
                }
            }
            emit(Action::Pass, after);
        }
    }

    fn canonical(&self, state: State) -> State {
        state
    }

    fn digest(&self, state: &State) -> u64 {
        state.digest()
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        properties::violated(self, state)
    }
}
