//! Everything that readers and writers may remember, and everything in flight.
//!
//! Whatever concerns a node is stored in that node, so nodes can change places. Times are remaining
//! or elapsed spans, never dates.

use super::scripts::{CONTENDERS, Master};
use crate::digest::digest;
use crate::masters::NODES;
use crate::net::{Answers, SLOTS, Sent, bit};

/// The round behind the two of extension.
pub const DOWNGRADE: usize = 2;

/// The state of a node. Bits are by contender, or by contender and round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Node {
    pub master: Master,
    /// Ticks until its votes count.
    pub warm: u8,

    pub sent: Sent,

    pub answers: Answers,
    /// It has answered that it has not made a reader of the writer.
    pub untouched: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Phase {
    #[default]
    Idle,
    Trying,
    Held,
    Over,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum RoundPhase {
    #[default]
    Idle,
    Open,
    Won,
    /// Its answers do not count any more.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Round {
    pub phase: RoundPhase,
    /// Ticks since it began.
    pub since: u8,
    /// It asks as a reader.
    pub shared: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Actor {
    pub phase: Phase,
    /// It reads, or its guard is a reader's by now.
    pub reads: bool,
    /// Ticks since it began.
    pub since: u8,
    /// Ticks until its deadline.
    pub left: u8,
    pub rounds: [Round; SLOTS],
    pub crashed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub nodes: [Node; NODES],
    pub actors: [Actor; CONTENDERS],
    pub restarts: u8,
    pub duplicates: u8,
    pub errors: u8,
}

impl Actor {
    /// Returns the round that has begun last, for what is sent now.
    pub fn latest(&self) -> usize {
        let begun = |slot: &usize| self.rounds[*slot].phase != RoundPhase::Idle;
        let downgrade = Some(DOWNGRADE).filter(begun);
        let after =
            |slot: &usize| begun(slot) && (downgrade.is_none() || self.rounds[*slot].shared);
        [1, 0].into_iter().find(after).or(downgrade).unwrap_or(0)
    }

    /// Returns the rounds in the order in which they began.
    pub fn in_order(&self) -> [usize; SLOTS] {
        match self.rounds[..DOWNGRADE] {
            [Round { shared: true, .. }, _] => [DOWNGRADE, 0, 1],
            [_, Round { shared: true, .. }] => [0, DOWNGRADE, 1],
            _ => [0, 1, DOWNGRADE],
        }
    }
}

impl Node {
    /// Forgets the node's answers to a contender that waits for nothing any more.
    pub fn forget(&mut self, who: usize) {
        self.answers.forget(who);
        self.untouched &= !bit(who);
    }
}

impl State {
    pub fn digest(&self, nodes: usize, contenders: usize) -> u64 {
        let counts = (self.restarts, self.duplicates, self.errors);
        digest((&self.nodes[..nodes], &self.actors[..contenders], counts))
    }
}
