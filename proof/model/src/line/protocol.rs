//! The line as a model to explore.

use super::config::Config;
use super::mutants::Mutant;
use super::state::{CLIENTS, Client, Command, Kind, LINES, STUCK, Stage, State};
use crate::checker::Model;
use quorumlock_core::waiting::rules::{News, Wait};

pub(super) const EXCLUSION: &str = "one holder";
pub(super) const ORDER: &str = "a fair client is served before those behind it";

/// A possible next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A client begins, with this slot.
    Come {
        who: usize,
        slot: u8,
    },
    /// A master executes the next command of a client.
    Run {
        who: usize,
        node: usize,
    },
    /// A client reads that a line calls it, or that a line wants its call.
    Called {
        who: usize,
        at: usize,
    },
    Wanted {
        who: usize,
        at: usize,
    },
    Lose {
        who: usize,
        at: usize,
    },
    Due {
        who: usize,
    },
    /// The same, and it has asked no other master for long, or there is no line for it.
    DueAtAll {
        who: usize,
    },
    Release {
        who: usize,
    },
    /// A client does not hear from the first master, or learns that another one has the line.
    Silent {
        who: usize,
    },
    Move {
        who: usize,
    },
    /// A call does not count any more, or a waiter has not asked when it was due.
    Lapse {
        at: usize,
        slot: u8,
    },
    Late {
        who: usize,
        at: usize,
    },
    Stop {
        who: usize,
    },
    End {
        who: usize,
    },
    Leave {
        who: usize,
    },
    /// The keys of a client that has stopped, or ended, expire.
    Expire {
        who: usize,
    },
    LoseLine,
    Fail,
    Hang,
    Wake,
    StepBack {
        at: usize,
    },
}

#[derive(Debug)]
pub struct Line {
    pub config: Config,
}

impl Line {
    pub fn new(config: Config) -> Self {
        config.check();
        Self { config }
    }

    /// Returns whether a client will ask in this line by itself.
    pub(super) fn lives_in(&self, state: &State, who: usize, at: usize) -> bool {
        let client = &state.clients[who];
        client.stage == Stage::Waits
            && usize::from(client.at) == at
            && self.kind(who) != Kind::Foreign
    }

    fn steps_of(&self, state: &State, who: usize, emit: &mut impl FnMut(Action, State)) {
        let client = &state.clients[who];
        let mut to = |action: Action, act: &dyn Fn(&mut State)| {
            let mut next = *state;
            act(&mut next);
            emit(action, next);
        };
        let (config, spent) = (&self.config, &state.spent);
        for node in 0..self.config.nodes {
            let answers = node > 0 || !(state.hangs || state.has_failed);
            let begins = client.sent[node][0] == Command::Ask { is_over: false };
            let waits = begins && !client.has_sent_little(Some(node));
            if answers && !waits && client.sent[node][0] != Command::None {
                to(Action::Run { who, node }, &|next| self.executes(next, who, node));
            }
        }
        let (waits, holds) = (client.stage == Stage::Waits, client.stage == Stage::Holds);
        let acts = !matches!(client.stage, Stage::Stopped | Stage::Gone);
        for at in 0..LINES {
            if acts && client.has_sent_little(None) && client.called[at] > 0 {
                to(Action::Called { who, at }, &|next| self.is_called(next, who, at));
            }
            if acts && client.has_sent_little(None) && client.wanted[at] {
                to(Action::Wanted { who, at }, &|next| self.is_wanted(next, who, at));
            }
            if (client.called[at] > 0 || client.wanted[at]) && spent.losses < config.losses {
                to(Action::Lose { who, at }, &|next| {
                    next.spent.losses += 1;
                    (next.clients[who].called[at], next.clients[who].wanted[at]) = (0, false);
                });
            }
            let lives = self.lives_in(state, who, at);
            let entry = client.entries[at];
            if entry.stamp > 0 && !entry.is_late && (!lives || spent.lapses < config.lapses) {
                to(Action::Late { who, at }, &|next| {
                    next.clients[who].entries[at].is_late = true;
                    next.spent.lapses += u8::from(lives);
                });
            }
        }
        if client.stage == Stage::Idle && client.has_sent_little(None) && self.is_next(state, who) {
            let slots = if self.kind(who) == Kind::Fair { 1 } else { config.slots };
            for slot in 0..slots {
                to(Action::Come { who, slot }, &|next| self.comes(next, who, slot));
            }
        }
        if waits && self.may_ask(state, who) {
            if self.asks_when_due(client) {
                to(Action::Due { who }, &|next| self.is_due(next, who, News::Due));
            }
            if self.asks_all_when_due(who, client) {
                to(Action::DueAtAll { who }, &|next| self.is_due(next, who, News::DueAtAll));
            }
        }
        if holds {
            to(Action::Release { who }, &|next| self.releases(next, who));
        }
        // A connection takes only so much that is not answered.
        let has_room = client.sent[0][1] == Command::None;
        let is_unheard = state.hangs && client.at == 0 && self.reaches(who, 0) && has_room;
        let is_open = (client.granted | client.refused) & 1 == 0 && self.is_trying(client);
        if waits && is_unheard && (client.wait == Some(Wait::Asking) || is_open) {
            to(Action::Silent { who }, &|next| match self.is_trying(&next.clients[who]) {
                true => self.is_unheard(next, who),
                false => self.hears_nothing(next, who),
            });
        }
        let is_elsewhere = match client.at {
            0 => state.has_failed || state.hangs,
            _ => !state.has_failed && !state.hangs && self.reaches(who, 0),
        };
        if waits && is_elsewhere && has_room && !self.is_trying(client) {
            to(Action::Move { who }, &|next| self.moves(next, who));
        }
        if waits && spent.leaves < config.leaves {
            to(Action::Leave { who }, &|next| {
                next.spent.leaves += 1;
                self.gives_up(next, who);
            });
        }
        if (waits || holds) && spent.stops < config.stops {
            to(Action::Stop { who }, &|next| {
                next.spent.stops += 1;
                next.clients[who].stage = Stage::Stopped;
            });
        }
        if (waits || holds) && spent.ends < config.ends {
            to(Action::End { who }, &|next| {
                next.spent.ends += 1;
                let client = &mut next.clients[who];
                (client.stage, client.sent) = (Stage::Gone, Default::default());
                (client.called, client.wanted) = Default::default();
            });
        }
        let has_key = state
            .masters
            .iter()
            .flat_map(|master| master.keys)
            .any(|key| usize::from(key) == who + 1);
        if !acts && has_key {
            to(Action::Expire { who }, &|next| {
                let keys = next.masters.iter_mut().flat_map(|master| &mut master.keys);
                keys.filter(|key| usize::from(**key) == who + 1).for_each(|key| *key = 0);
            });
        }
    }

    /// One question at a time.
    fn may_ask(&self, state: &State, who: usize) -> bool {
        let client = &state.clients[who];
        let asks = |command: &Command| *command == Command::Ask { is_over: false };
        client.has_sent_little(None) && !client.sent.iter().flatten().any(asks)
    }

    /// Returns whether a client whose pause is over asks in its line, or tries again as one that was let go.
    fn asks_when_due(&self, client: &Client) -> bool {
        match client.wait {
            Some(Wait::Behind) => !self.config.is(Mutant::NotAskedAgain),
            Some(Wait::First) => !client.has_asked,
            Some(Wait::Again) => true,
            _ => false,
        }
    }

    /// Returns whether it may have asked no other master for long: as the first of a line, where it asks once before, among
    /// those in front, or without a line. A fair client behind others never does.
    fn asks_all_when_due(&self, who: usize, client: &Client) -> bool {
        let is_plain = self.kind(who) != Kind::Fair;
        match client.wait {
            Some(Wait::First) => !self.config.is(Mutant::LineDecides),
            Some(Wait::Behind) => {
                is_plain
                    && !self.config.is(Mutant::LineDecides)
                    && !self.config.is(Mutant::NotAskedAgain)
            }
            Some(Wait::Alone) => true,
            _ => false,
        }
    }

    fn is_due(&self, state: &mut State, who: usize, news: News) {
        let client = &mut state.clients[who];
        let slot = client.slot;
        client.has_asked = news == News::Due
            && client.wait == Some(Wait::First)
            && self.asks_all_when_due(who, client);
        self.learns(state, who, (news, slot));
    }

    /// A client has no answer in time, and tries: a fair one, too, in no order.
    fn hears_nothing(&self, state: &mut State, who: usize) {
        let client = &mut state.clients[who];
        client.ahead = 0;
        let slot = client.slot;
        self.learns(state, who, (News::Due, slot));
    }

    /// Clients that differ only by name begin in order, unless they come again.
    fn is_next(&self, state: &State, who: usize) -> bool {
        let is_same = |other: usize| {
            self.kind(other) == self.kind(who) && self.reaches(other, 0) == self.reaches(who, 0)
        };
        let is_first =
            !(0..who).any(|other| is_same(other) && state.clients[other].stage == Stage::Idle);
        self.config.again || self.kind(who) == Kind::Foreign || is_first
    }
}

impl Model for Line {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        let mut state = State::default();
        if self.config.stuck {
            state.masters[0].keys[0] = STUCK;
        }
        state
    }

    fn successors(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        (0..self.config.kinds.len()).for_each(|who| self.steps_of(state, who, &mut emit));
        let (config, spent) = (&self.config, &state.spent);
        let mut to = |action: Action, act: &dyn Fn(&mut State)| {
            let mut next = *state;
            act(&mut next);
            emit(action, next);
        };
        for at in 0..LINES {
            for slot in 0..config.slots {
                let called = state.masters[at].calls[usize::from(slot)];
                let Some(who) = usize::from(called).checked_sub(1) else { continue };
                let lives = self.lives_in(state, who, at);
                let may_lapse = !lives || spent.lapses < config.lapses;
                if may_lapse && !config.is(Mutant::CallForGood) {
                    to(Action::Lapse { at, slot }, &|next| {
                        next.masters[at].calls[usize::from(slot)] = 0;
                        next.spent.lapses += u8::from(lives);
                        if next.clients[who].entries[at].stamp == 0 {
                            next.passes(who, at);
                        }
                    });
                }
            }
            if spent.steps_back < config.steps_back && !state.masters[at].is_behind {
                to(Action::StepBack { at }, &|next| {
                    next.spent.steps_back += 1;
                    next.masters[at].is_behind = true;
                });
            }
        }
        let is_up = !state.has_failed && !state.hangs;
        if is_up && spent.restarts < config.restarts {
            to(Action::LoseLine, &|next| {
                next.spent.restarts += 1;
                self.loses_line(next, 0);
            });
        }
        if is_up && spent.fails < config.fails {
            to(Action::Fail, &|next| {
                next.spent.fails += 1;
                self.fails(next);
            });
        }
        if is_up && spent.hangs < config.hangs {
            to(Action::Hang, &|next| {
                next.spent.hangs += 1;
                next.hangs = true;
            });
        }
        if state.hangs {
            to(Action::Wake, &|next| next.hangs = false);
        }
    }

    fn canonical(&self, mut state: State) -> State {
        state.renumber();
        state
    }

    fn digest(&self, state: &State) -> u64 {
        state.digest()
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        let holders = |slot: u8| {
            let holds = |who: &usize| {
                let client = &state.clients[*who];
                client.stage == Stage::Holds && client.slot == slot
            };
            (0..CLIENTS).filter(holds).count()
        };
        if (0..self.config.slots).any(|slot| holders(slot) > 1) {
            return Some(EXCLUSION);
        }
        state.overtaken.then_some(ORDER)
    }
}
