//! Readers and writers as a model to explore.

use super::config::{Config, Contender};
use super::mutant::Mutant;
use super::property;
use super::scripts::Command;
use super::state::{DOWNGRADE, Phase, State, bit, round_bits};
use crate::checker::Model;
use crate::config::NODES;
use crate::protocol::{span, ticks, votes_after};
use crate::quorum::{ClockDrift, FencingWindow, Membership, NodeSet, standing};
use std::time::Duration;

/// A possible next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Begin {
        who: usize,
    },
    Win {
        who: usize,
    },
    GiveUp {
        who: usize,
    },
    Release {
        who: usize,
    },
    Crash {
        who: usize,
    },
    Extend {
        who: usize,
        round: usize,
    },
    Extended {
        who: usize,
        round: usize,
    },
    TopUp {
        who: usize,
        round: usize,
        node: usize,
    },
    Downgrade {
        who: usize,
    },
    /// The write guard is given back.
    Return {
        who: usize,
    },
    Deliver {
        who: usize,
        node: usize,
        message: Message,
        again: bool,
    },
    /// The downgrade is answered with an error.
    Fail {
        who: usize,
        node: usize,
    },
    Tick,
    Restart {
        node: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    Acquire,
    /// A round of extension, or the downgrade.
    Extend(usize),
    /// By the round that had begun last when it was sent.
    TopUp(usize),
    Release,
}

#[derive(Debug)]
pub struct Sharing {
    pub config: Config,
    /// By contender.
    pub(super) memberships: Vec<Membership>,
    /// Nodes of one class can change places.
    classes: [u8; NODES],
    /// The ticks for which a restarted node does not vote.
    pub(super) quarantine: u8,
}

impl Sharing {
    pub fn new(config: Config) -> Self {
        let memberships = config.contenders.iter().map(|one| membership(&config, one)).collect();
        let classes = classes(&config);
        let quarantine = quarantine(&config);
        Self { config, memberships, classes, quarantine }
    }

    pub(super) fn count(&self) -> usize {
        self.config.contenders.len()
    }

    /// Returns whether one node is enough for it, which breaks a rule.
    pub(super) fn needs_one(&self, who: usize) -> bool {
        needs_one(&self.config, &self.config.contenders[who])
    }

    pub(super) fn command(&self, who: usize) -> Command {
        let life = self.config.contenders[who].ttl;
        Command { who, life, mutant: self.config.mutant }
    }

    /// Returns the command of a round of extension, or of the downgrade.
    pub(super) fn command_of_a_round(&self, who: usize) -> Command {
        Command { life: self.config.contenders[who].asks, ..self.command(who) }
    }

    /// Returns the nodes of a contender's lists.
    pub(super) fn members(&self, who: usize) -> impl Iterator<Item = usize> + use<> {
        let [list, also] = self.config.contenders[who].lists;
        (0..self.config.nodes).filter(move |node| (list | also) >> node & 1 == 1)
    }

    /// Returns whether these nodes are a quorum for `who`.
    pub(super) fn is_quorum(&self, who: usize, nodes: impl Iterator<Item = usize>) -> bool {
        self.memberships[who].is_quorum(nodes.collect())
    }

    /// Returns whether what is sent with the round in this slot is sent by a reader.
    pub(super) fn asks_as_reader(&self, state: &State, who: usize, slot: usize) -> bool {
        let reads = self.config.contenders[who].reads;
        reads || slot == DOWNGRADE || state.actors[who].rounds[slot].shared
    }

    /// Removes messages that can change nothing any more: they are as good as lost.
    fn forget_what_is_void(&self, state: &mut State) {
        if self.config.is(Mutant::ReadersCounted) {
            return;
        }
        for who in 0..self.count() {
            if state.actors[who].phase != Phase::Over {
                continue;
            }
            let sets = self.config.is(Mutant::VacantConverts);
            for node in &mut state.nodes[..self.config.nodes] {
                let may_come = node.acquire & bit(who) != 0
                    || node.top_up & round_bits(who) != 0
                    || (sets && node.extend & round_bits(who) != 0);
                if !may_come && !node.master.has(who) {
                    node.extend &= !round_bits(who);
                    node.release &= !bit(who);
                }
            }
        }
    }
}

impl Model for Sharing {
    type State = State;
    type Action = Action;

    fn initial(&self) -> State {
        let Config { restarts, duplicates, errors, .. } = self.config;
        let mut state = State { restarts, duplicates, errors, ..State::default() };
        for (actor, contender) in state.actors.iter_mut().zip(&self.config.contenders) {
            actor.reads = contender.reads;
        }
        state
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
        property::violated(self, state)
    }
}

fn needs_one(config: &Config, one: &Contender) -> bool {
    match config.mutant {
        Some(Mutant::OneNodeForReader) => one.reads,
        Some(Mutant::OneNodeForWriter) => !one.reads,
        _ => false,
    }
}

/// Returns the lists of a contender as the core's membership.
fn membership(config: &Config, one: &Contender) -> Membership {
    if needs_one(config, one) {
        return Membership::of(1).expect("a list of one");
    }
    let set = |bits: u8| (0..NODES).filter(|node| bits >> node & 1 == 1).collect::<NodeSet>();
    let [list, also] = one.lists.map(set);
    Membership::joint(list, also).expect("a contender without nodes")
}

/// Returns the classes of nodes that are in the same lists. The nodes of a class are neighbours.
fn classes(config: &Config) -> [u8; NODES] {
    let signature = |node: usize| -> Vec<u8> {
        let lists = config.contenders.iter().flat_map(|one| one.lists);
        lists.map(|list| list >> node & 1).collect()
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
    let window = FencingWindow { back: Duration::ZERO, ahead: Duration::ZERO };
    let drift = ClockDrift { rate_ppm: 0, constant: Duration::ZERO };
    let from = ticks(votes_after(standing::quarantine(span(config.longest()), window, drift)));
    match config.mutant {
        Some(Mutant::NoRestartGuard) => 0,
        Some(Mutant::RestartGuardOneShort) => from - 1,
        _ => from,
    }
}
