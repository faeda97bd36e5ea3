//! Everything that readers and writers may remember, and everything in flight.
//!
//! Whatever concerns a node is stored in that node, so nodes can change places. Times are remaining
//! or elapsed spans, never dates.

use super::scripts::{CONTENDERS, Master};
use crate::config::NODES;
use crate::digest::Digest;

/// Two rounds of extension, and behind them the downgrade.
pub const SLOTS: usize = 3;
pub const DOWNGRADE: usize = 2;

/// The state of a node. Bits are by contender, or by contender and round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Node {
    pub master: Master,
    /// Ticks until its votes count.
    pub warm: u8,

    // In flight to it.
    pub acquire: u8,
    pub release: u8,
    pub extend: u16,
    /// By the round that had begun last when it was sent.
    pub top_up: u16,

    // Its answers, and when it was asked.
    pub granted: u8,
    /// The node was warming up when the acquire was sent.
    pub uncounted: u8,
    /// It has answered that it has not made a reader of the writer.
    pub untouched: u8,
    pub held: u16,
    pub vacant: u16,
    /// The node was warming up when the round began.
    pub warming: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Phase {
    #[default]
    Idle,
    Trying,
    Held,
    Over,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum RoundPhase {
    #[default]
    Idle,
    Open,
    Won,
    /// Its answers do not count any more.
    Closed,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Round {
    pub phase: RoundPhase,
    /// Ticks since it began.
    pub since: u8,
    /// It asks as a reader.
    pub shared: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
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

/// Returns a bit for each contender.
pub const fn bit(who: usize) -> u8 {
    1 << who
}

/// Returns a bit for each contender and round.
pub const fn round_bit(who: usize, slot: usize) -> u16 {
    1 << (who * SLOTS + slot)
}

/// Returns the bits of all rounds of a contender.
pub const fn round_bits(who: usize) -> u16 {
    0b111 << (who * SLOTS)
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

    fn digest(&self, digest: &mut Digest) {
        digest.bytes(&[self.phase as u8, u8::from(self.reads), u8::from(self.crashed)]);
        digest.bytes(&[self.since, self.left]);
        for round in &self.rounds {
            digest.bytes(&[round.phase as u8, round.since, u8::from(round.shared)]);
        }
    }
}

impl Node {
    /// Forgets the node's answers to a contender that waits for nothing any more.
    pub fn forget(&mut self, who: usize) {
        self.granted &= !bit(who);
        self.uncounted &= !bit(who);
        self.untouched &= !bit(who);
        self.forget_rounds(round_bits(who));
    }

    pub fn forget_rounds(&mut self, rounds: u16) {
        self.held &= !rounds;
        self.vacant &= !rounds;
        self.warming &= !rounds;
    }

    fn digest(&self, contenders: usize, digest: &mut Digest) {
        let Master { owner, left, readers, hint, hint_left, count } = self.master;
        digest.bytes(&[owner, left, hint, hint_left, count, self.warm]);
        digest.bytes(&readers[..contenders]);
        digest.bytes(&[self.acquire, self.release, self.granted, self.uncounted, self.untouched]);
        for rounds in [self.extend, self.top_up, self.held, self.vacant, self.warming] {
            digest.bytes(&rounds.to_be_bytes());
        }
    }
}

impl State {
    pub fn digest(&self, nodes: usize, contenders: usize) -> u64 {
        let mut digest = Digest::default();
        self.nodes[..nodes].iter().for_each(|node| node.digest(contenders, &mut digest));
        self.actors[..contenders].iter().for_each(|actor| actor.digest(&mut digest));
        digest.bytes(&[self.restarts, self.duplicates, self.errors]);
        digest.end()
    }
}
