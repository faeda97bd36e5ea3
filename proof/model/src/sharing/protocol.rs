//! Readers and writers as a model to explore.

use super::config::{Config, Contender};
use super::mutants::Mutant;
use super::properties;
use super::scripts::Command;
use super::state::{DOWNGRADE, Phase, State};
use crate::checker::Model;
use crate::masters::{self, Classes, NO_DRIFT, NO_WINDOW, listed};
use crate::net::{Message, bit, round_bits};
use crate::quorum::Membership;

/// A possible next step. With `Return` the write guard is given back; with `Fail` a node answers the
/// downgrade with an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Begin { who: usize },
    Win { who: usize },
    GiveUp { who: usize },
    Release { who: usize },
    Crash { who: usize },
    Extend { who: usize, round: usize },
    Extended { who: usize, round: usize },
    TopUp { who: usize, round: usize, node: usize },
    Downgrade { who: usize },
    Return { who: usize },
    Deliver { who: usize, node: usize, message: Message, again: bool },
    Fail { who: usize, node: usize },
    Tick,
    Restart { node: usize },
}

#[derive(Debug)]
pub struct Sharing {
    pub config: Config,
    /// By contender.
    pub(super) memberships: Vec<Membership>,
    classes: Classes,
    /// The ticks for which a restarted node does not vote.
    pub(super) quarantine: u8,
}

impl Sharing {
    pub fn new(config: Config) -> Self {
        let lists = || config.contenders.iter().map(|contender| contender.lists);
        let membership = |contender: &Contender| {
            let lists = if needs_one(&config, contender) { [1; 2] } else { contender.lists };
            masters::membership(lists)
        };
        let memberships = config.contenders.iter().map(membership).collect();
        let classes = Classes::of(config.nodes, |node| listed(lists(), node));
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
                let may_come = node.sent.acquire & bit(who) != 0
                    || node.sent.top_up & round_bits(who) != 0
                    || (sets && node.sent.extend & round_bits(who) != 0);
                if !may_come && !node.master.has(who) {
                    node.sent.extend &= !round_bits(who);
                    node.sent.release &= !bit(who);
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

fn needs_one(config: &Config, contender: &Contender) -> bool {
    match config.mutant {
        Some(Mutant::OneNodeForReader) => contender.reads,
        Some(Mutant::OneNodeForWriter) => !contender.reads,
        _ => false,
    }
}

/// Returns the core's value for how long a restarted node does not vote.
fn quarantine(config: &Config) -> u8 {
    let from = masters::quarantine(config.longest(), NO_WINDOW, NO_DRIFT);
    match config.mutant {
        Some(Mutant::NoRestartGuard) => 0,
        Some(Mutant::RestartGuardOneShort) => from - 1,
        _ => from,
    }
}
