//! The protocol as a model to explore.

use crate::checker::Model;
use crate::config::{Config, Contender, Fence, NODES};
use crate::mutant::Mutant;
use crate::properties;
use crate::quorum::{ClockDrift, FencingWindow, Instant, Membership, NodeSet, standing};
use crate::scripts::{Ballot, Claim};
use crate::state::{Phase, State, bit};
use std::time::Duration;

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
    Forced { attempt: usize },
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Message {
    Acquire,
    Extend(usize),
    /// Sent before or after its attempt's second round began.
    TopUp(usize),
    Release,
    Force,
}

#[derive(Debug)]
pub struct Protocol {
    pub config: Config,
    /// By attempt.
    pub(crate) memberships: Vec<Membership>,
    /// Nodes of one class can change places.
    classes: [u8; NODES],
    /// The ticks for which a restarted node does not vote.
    pub(crate) quarantine: u8,
}

impl Protocol {
    pub fn new(config: Config) -> Self {
        let memberships = config.attempts.iter().map(|one| membership(&config, one)).collect();
        let classes = classes(&config);
        let quarantine = quarantine(&config);
        Self { config, memberships, classes, quarantine }
    }

    pub(crate) fn drift(&self) -> ClockDrift {
        let drift = if self.config.is(Mutant::DriftDropped) { 0 } else { self.config.drift };
        ClockDrift { rate_ppm: 0, constant: span(drift) }
    }

    pub(crate) fn claim(&self, attempt: usize) -> Claim {
        let reused = self.config.is(Mutant::TokenReused);
        let client = |one: usize| self.config.attempts[one].client;
        let same = |one: &usize| *one == attempt || (reused && client(*one) == client(attempt));
        let ours = (0..self.config.attempts.len()).filter(same).fold(0, |all, one| all | bit(one));
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
            let (one, rounds) = (bit(attempt), crate::state::round_bits(attempt));
            let owner = attempt as u8 + 1;
            let mut under_way = false;
            for node in &mut state.nodes[..self.config.nodes] {
                let stands = node.keys.iter().any(|key| key.owner == owner);
                let may_come = node.acquire & one != 0 || node.top_up & rounds != 0;
                if !stands && !may_come {
                    node.extend &= !rounds;
                    if !raises {
                        node.release &= !one;
                    }
                }
                under_way |= may_come || node.release & one != 0;
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
        let mut from = 0;
        while from < self.config.nodes {
            let same = |class: &&u8| **class == self.classes[from];
            let count = self.classes[from..self.config.nodes].iter().take_while(same).count();
            state.nodes[from..from + count].sort_unstable();
            from += count;
        }
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
fn membership(config: &Config, one: &Contender) -> Membership {
    let set = |bits: u8| (0..NODES).filter(|node| bits >> node & 1 == 1).collect::<NodeSet>();
    let [list, also] = one.lists.map(set);
    let joint = |list, also| Membership::joint(list, also).expect("an attempt without nodes");
    if config.is(Mutant::HalfIsAQuorum) {
        // A list whose majority is half of the nodes; the votes get its places in order.
        let fewer = Membership::of(2 * (config.nodes / 2) - 1);
        return fewer.expect("a run without nodes");
    }
    if config.is(Mutant::MajorityOfTheUnion) {
        return joint(list.union(also), list.union(also));
    }
    if list == NodeSet::first(config.nodes) && also == list {
        return Membership::of(config.nodes).expect("a run without nodes");
    }
    joint(list, also)
}

/// Returns the classes of nodes that are in the same lists and have the same clock. The nodes of a
/// class are neighbours.
fn classes(config: &Config) -> [u8; NODES] {
    let signature = |node: usize| {
        let lists = config.attempts.iter().flat_map(|one| one.lists);
        let listed: Vec<u8> = lists.map(|list| list >> node & 1).collect();
        (listed, config.ahead[node])
    };
    let mut classes = [0; NODES];
    for node in 1..config.nodes {
        let neighbour = signature(node) == signature(node - 1);
        classes[node] = classes[node - 1] + u8::from(!neighbour);
    }
    classes
}

/// Returns the core's value for how long a restarted node does not vote.
fn quarantine(config: &Config) -> u8 {
    let (back, ahead) = match config.fence {
        Fence::Window { back, ahead, .. } => (span(back), span(ahead)),
        _ => (Duration::ZERO, Duration::ZERO),
    };
    let drift = ClockDrift { rate_ppm: 0, constant: span(config.drift) };
    let longest =
        standing::quarantine(span(config.longest()), FencingWindow { back, ahead }, drift);
    let from = ticks(votes_after(longest));
    match config.mutant {
        Some(Mutant::NoRestartGuard) => 0,
        Some(Mutant::RestartGuardOneShort) => from - 1,
        _ => from,
    }
}

/// Returns how long after its start a node votes.
pub(crate) fn votes_after(quarantine: Duration) -> Duration {
    let now = Instant::from_nanos(NOW);
    standing::Start::at(now).votes_from(quarantine).since(now)
}

/// An arbitrary time, with room before it.
pub(crate) const NOW: u64 = 1_000_000_000;

/// Returns a span of ticks. A tick is a millisecond: the grain of a node's counting.
pub(crate) const fn span(ticks: u8) -> Duration {
    Duration::from_millis(ticks as u64)
}

pub(crate) fn ticks(span: Duration) -> u8 {
    u8::try_from(span.as_millis()).unwrap_or(u8::MAX)
}
