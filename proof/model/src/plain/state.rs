//! Everything that the protocol may remember, and everything in flight.
//!
//! Whatever concerns a node is stored in that node, so nodes can change places. Times are remaining
//! or elapsed spans, never dates, so a run without clock ballots needs no bound on time.

use super::config::{ATTEMPTS, RESOURCES, ROUNDS};
use crate::digest::digest;
use crate::masters::NODES;
use crate::net::{Answers, Sent, bit};

/// The owner of a key that a client of an older version keeps for its next waiter.
pub const OLDER: u8 = 8;

/// A lock and its fence on one node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Key {
    /// The attempt that owns the key, plus one; 0 for none.
    pub owner: u8,
    /// The remaining life, in ticks of its node's clock.
    pub left: u8,
    pub fence: u8,
    /// 0 for the whole run.
    pub fence_left: u8,
}

/// The state of a node. Bits are by attempt, or by attempt and round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Node {
    pub keys: [Key; RESOURCES],
    /// Ticks until its votes count.
    pub warm: u8,
    /// Ticks until its clock may gain again.
    pub steady: u8,
    /// How often its clock was set.
    pub stepped: u8,

    // In flight to it.
    pub sent: Sent,
    pub force: u8,

    pub answers: Answers,
    /// The attempts to which it has answered nil.
    pub nil: u8,
    pub forced: u8,
    /// It had not answered when the attempt was detached: a late SET may arrive.
    pub unsettled: u8,
    /// The count that it reported with its grant.
    pub reported: [u8; ATTEMPTS],
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Phase {
    #[default]
    Idle,
    Trying,
    Held,
    /// Its deadline has passed, and an extension is still in flight. Only a mutant waits for that.
    Lapsed,
    /// Given away by its client, and not adopted by another process yet.
    Detached,
    Over,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum RoundPhase {
    #[default]
    Idle,
    Open,
    Won,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Round {
    pub phase: RoundPhase,
    /// Ticks since it began.
    pub since: u8,
    /// It began after a forced release had been confirmed.
    pub after_force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Attempt {
    pub phase: Phase,
    /// Ticks since it began.
    pub since: u8,
    /// Ticks until its deadline.
    pub left: u8,
    pub ballot: u8,
    pub rounds: [Round; ROUNDS],
    /// Ticks since it was over, if another one waits for that.
    pub over: u8,
    /// Ticks for which its lock-delay still keeps others out.
    pub closed: u8,
    /// Its release is no deletion: it shortens the keys' life to so many ticks.
    pub kept: u8,
    /// Its keys are left to expire.
    pub left_alone: bool,
    /// A client deletes its keys in its name; later, that client has also received the
    /// confirmation.
    pub force: u8,
    /// Another attempt has won since it was detached.
    pub passed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub nodes: [Node; NODES],
    pub attempts: [Attempt; ATTEMPTS],
    /// Ticks since the beginning, if ballots come from clocks.
    pub now: u8,
    /// The greatest token of a win so far.
    pub greatest: [u8; RESOURCES],
    pub restarts: u8,
    pub duplicates: u8,
    pub clock_steps: u8,
    pub forced: u8,
    pub older: u8,
    /// A property that a step has broken, by its place in the list of properties, plus one.
    pub broken: u8,
}

impl Node {
    /// Forgets the node's answers to an attempt that waits for nothing any more.
    pub fn forget(&mut self, attempt: usize) {
        self.answers.forget(attempt);
        self.nil &= !bit(attempt);
        self.unsettled &= !bit(attempt);
        self.reported[attempt] = 0;
    }
}

impl State {
    pub fn digest(&self, nodes: usize, attempts: usize) -> u64 {
        let counts = (self.now, self.restarts, self.duplicates, self.clock_steps, self.forced);
        let rest = (counts, self.older, self.greatest, self.broken);
        digest((&self.nodes[..nodes], &self.attempts[..attempts], rest))
    }
}
