//! The protocol as a model to explore.

use super::config::{Config, Contender, Fence};
use super::mutants::Mutant;
use super::properties;
use super::scripts::{Ballot, Claim};
use super::state::{Phase, State};
use crate::checker::Model;
use crate::masters::{self, Classes, NO_DRIFT, NO_WINDOW, listed, span};
use crate::net::{Message, bit, round_bits};
use crate::quorum::{ClockDrift, FencingWindow, Membership};

/// A possible next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Begin { attempt: usize, ballot: u8 },
    Win { attempt: usize, token: u8 },
    GiveUp { attempt: usize },
    Release { attempt: usize },
    EndWell { attempt: usize },
    Extend { attempt: usize, round: usize },
    Extended { attempt: usize, round: usize },
    TopUp { attempt: usize, round: usize, node: usize },
    Deliver { attempt: usize, node: usize, message: Message, again: bool },
    Tick,
    Restart { node: usize },
    Gain { node: usize },
    SetClock { node: usize },
    Detach { attempt: usize },
    Adopt { attempt: usize },
    Adopted { attempt: usize },
    Force { attempt: usize },
    Delete { attempt: usize, node: usize },
    Forced { attempt: usize },
    Keep { node: usize },
}

#[derive(Debug)]
pub struct Protocol {
    pub config: Config,
    /// By attempt.
    pub(crate) memberships: Vec<Membership>,
    classes: Classes,
    /// The ticks for which a restarted node does not vote.
    pub(crate) quarantine: u8,
}

impl Protocol {
    pub fn new(config: Config) -> Self {
        let memberships =
            config.attempts.iter().map(|contender| membership(&config, contender)).collect();
        let lists = || config.attempts.iter().map(|contender| contender.lists);
        let classes = Classes::of(config.nodes, |node| (listed(lists(), node), config.ahead[node]));
        let quarantine = quarantine(&config);
        Self { config, memberships, classes, quarantine }
    }

    pub(crate) fn drift(&self) -> ClockDrift {
        let drift = if self.config.is(Mutant::DriftDropped) { 0 } else { self.config.drift };
        ClockDrift { constant: span(drift), ..NO_DRIFT }
    }

    pub(crate) fn claim(&self, attempt: usize) -> Claim {
        let reused = self.config.is(Mutant::TokenReused);
        let client = |other: usize| self.config.attempts[other].client;
        let same =
            |other: &usize| *other == attempt || (reused && client(*other) == client(attempt));
        let ours =
            (0..self.config.attempts.len()).filter(same).fold(0, |all, other| all | bit(other));
        Claim {
            owner: attempt as u8 + 1,
            ours,
            resources: self.config.attempts[attempt].claims,
            life: (self.config.ttl_of(attempt) + self.config.lock_delay)
                .max(self.config.stays_for()),
        }
    }

    /// Returns the part of the claim of `attempt` that is about fences, as `node` receives it.
    pub(crate) fn ballot(&self, state: &State, attempt: usize, node: usize) -> Option<Ballot> {
        let number = state.attempts[attempt].ballot;
        let short = u8::from(self.config.is(Mutant::FenceExpiresEarly));
        let kept = if self.config.fence_expires { self.quarantine - short } else { 0 };
        let any = Ballot { number, back: None, ahead: None, kept, clock: 0, at_the_fence: false };
        match self.config.fence {
            Fence::None | Fence::Counters => None,
            Fence::Ballots { .. } => Some(any),
            Fence::Window { .. } if self.config.is(Mutant::NoWindow) => Some(any),
            Fence::Window { back, ahead, .. } => {
                let stepped = i16::from(state.nodes[node].stepped);
                let clock = i16::from(state.now)
                    + i16::from(self.config.ahead[node])
                    + i16::from(self.config.clock_step) * stepped;
                let clock = u8::try_from(clock.max(0)).unwrap_or(u8::MAX);
                Some(Ballot { back: Some(back), ahead: Some(ahead), clock, ..any })
            }
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.config.attempts.len()
    }

    /// Returns the nodes of an attempt's lists.
    pub(crate) fn members(&self, attempt: usize) -> u8 {
        let [list, also] = self.config.attempts[attempt].lists;
        list | also
    }

    /// Removes what is void. Messages that can change nothing any more are as good as lost, and a
    /// ballot that no message carries any more is none.
    fn forget_what_is_void(&self, state: &mut State) {
        if self.config.is(Mutant::TokenReused) {
            return;
        }
        let raises = self.raises_fences();
        for attempt in 0..self.count() {
            if state.attempts[attempt].phase != Phase::Over {
                continue;
            }
            let (this, rounds) = (bit(attempt), round_bits(attempt));
            let owner = attempt as u8 + 1;
            let mut under_way = false;
            for node in &mut state.nodes[..self.config.nodes] {
                let stands = node.keys.iter().any(|key| key.owner == owner);
                let may_come = node.sent.acquire & this != 0 || node.sent.top_up & rounds != 0;
                if !stands && !may_come {
                    node.sent.extend &= !rounds;
                    if !raises {
                        node.sent.release &= !this;
                    }
                }
                under_way |= may_come || node.sent.release & this != 0;
            }
            if !under_way {
                state.attempts[attempt].ballot = 0;
            }
        }
    }

    /// Returns whether a release raises the fence.
    pub(crate) fn raises_fences(&self) -> bool {
        matches!(self.config.fence, Fence::Ballots { .. } | Fence::Window { .. })
            && !self.config.is(Mutant::ReleaseRaisesNoFence)
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        State {
            restarts: self.config.restarts,
            duplicates: self.config.duplicates,
            clock_steps: self.config.clock_steps,
            forced: self.config.forced,
            older: self.config.older,
            now: if let Fence::Window { back, .. } = self.config.fence { back + 1 } else { 0 },
            ..State::default()
        }
    }

    fn successors(&self, state: &State, mut emit: impl FnMut(Action, State)) {
        self.steps(state, |action, mut next| {
            self.forget_what_is_void(&mut next);
            emit(action, next);
        });
    }

    fn canonical(&self, mut state: State) -> State {
        self.classes.sort(&mut state.nodes[..self.config.nodes]);
        state
    }

    fn digest(&self, state: &State) -> u64 {
        state.digest(self.config.nodes, self.count())
    }

    fn violated(&self, state: &State) -> Option<&'static str> {
        properties::violated(self, state)
    }
}

/// Returns the lists of an attempt as the core's membership.
fn membership(config: &Config, contender: &Contender) -> Membership {
    let [list, also] = contender.lists;
    match config.mutant {
        // A list whose majority is half of the nodes; the votes get its places in order.
        Some(Mutant::HalfIsAQuorum) => {
            Membership::of(2 * (config.nodes / 2) - 1).expect("a run without nodes")
        }
        Some(Mutant::MajorityOfTheUnion) => masters::membership([list | also; 2]),
        _ => masters::membership(contender.lists),
    }
}

/// Returns the core's value for how long a restarted node does not vote.
fn quarantine(config: &Config) -> u8 {
    let window = match config.fence {
        Fence::Window { back, ahead, .. } => FencingWindow { back: span(back), ahead: span(ahead) },
        _ => NO_WINDOW,
    };
    let drift = ClockDrift { constant: span(config.drift), ..NO_DRIFT };
    let from = masters::quarantine(config.longest(), window, drift);
    match config.mutant {
        Some(Mutant::NoRestartGuard) => 0,
        Some(Mutant::RestartGuardOneShort) => from - 1,
        _ => from,
    }
}
