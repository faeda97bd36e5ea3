//! Everything that the protocol may remember, and everything in flight.
//!
//! Whatever concerns a node is stored in that node, so nodes can change places. Times are remaining
//! or elapsed spans, never dates, so a run without clock ballots needs no bound on time.

use crate::config::{ATTEMPTS, NODES, RESOURCES, ROUNDS};
use crate::digest::Digest;

/// A lock and its fence on one node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Node {
    pub keys: [Key; RESOURCES],
    /// Ticks until its votes count.
    pub warm: u8,
    /// Ticks until its clock may gain again.
    pub steady: u8,
    /// How often its clock was set.
    pub stepped: u8,

    // In flight to it.
    pub acquire: u8,
    pub extend: u8,
    /// Sent before or after its attempt's second round began.
    pub top_up: u8,
    pub release: u8,
    pub force: u8,

    // Its answers, and when it was asked.
    pub granted: u8,
    /// The node was warming up when the acquire was sent.
    pub uncounted: u8,
    pub held: u8,
    pub vacant: u8,
    /// The node was warming up when the round began.
    pub warming: u8,
    pub forced: u8,
    /// It had not answered when the attempt was detached: a late SET may arrive.
    pub unsettled: u8,
    /// The count that it reported with its grant.
    pub said: [u8; ATTEMPTS],
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
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

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum RoundPhase {
    #[default]
    Idle,
    Open,
    Won,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Round {
    pub phase: RoundPhase,
    /// Ticks since it began.
    pub since: u8,
    /// It began after a forced release had been confirmed.
    pub after_force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
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
    /// A property that a step has broken, by its place in the list of properties, plus one.
    pub broken: u8,
}

/// Returns a bit for each attempt.
pub const fn bit(attempt: usize) -> u8 {
    1 << attempt
}

/// Returns a bit for each attempt and round.
pub const fn round_bit(attempt: usize, round: usize) -> u8 {
    1 << (attempt * ROUNDS + round)
}

/// Returns the bits of all rounds of an attempt.
pub const fn round_bits(attempt: usize) -> u8 {
    round_bit(attempt, 0) | round_bit(attempt, 1)
}

impl Node {
    /// Forgets the node's answers to an attempt that waits for nothing any more.
    pub fn forget(&mut self, attempt: usize) {
        self.granted &= !bit(attempt);
        self.unsettled &= !bit(attempt);
        self.uncounted &= !bit(attempt);
        self.held &= !round_bits(attempt);
        self.vacant &= !round_bits(attempt);
        self.warming &= !round_bits(attempt);
        self.said[attempt] = 0;
    }

    fn digest(&self, digest: &mut Digest) {
        for key in &self.keys {
            digest.bytes(&[key.owner, key.left, key.fence, key.fence_left]);
        }
        digest.bytes(&[self.warm, self.steady, self.stepped]);
        digest.bytes(&[self.acquire, self.extend, self.top_up, self.release, self.force]);
        digest.bytes(&[self.granted, self.uncounted, self.held, self.vacant]);
        digest.bytes(&[self.warming, self.forced, self.unsettled]);
        digest.bytes(&self.said);
    }
}

impl State {
    pub fn digest(&self, nodes: usize, attempts: usize) -> u64 {
        let mut digest = Digest::default();
        self.nodes[..nodes].iter().for_each(|node| node.digest(&mut digest));
        for one in &self.attempts[..attempts] {
            digest.bytes(&[one.phase as u8, one.since, one.left, one.ballot]);
            for round in &one.rounds {
                digest.bytes(&[round.phase as u8, round.since, u8::from(round.after_force)]);
            }
            let [left_alone, passed] = [one.left_alone, one.passed].map(u8::from);
            digest.bytes(&[one.over, one.closed, one.kept, left_alone, one.force, passed]);
        }
        digest.bytes(&[self.now, self.restarts, self.duplicates, self.clock_steps, self.forced]);
        digest.bytes(&self.greatest);
        digest.byte(self.broken);
        digest.end()
    }
}
