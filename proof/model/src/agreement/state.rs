//! Everything that clients and nodes may remember of each other, and everything under way.
//!
//! Whatever concerns a node stands in that node, so nodes can change places. Times are what is left or
//! what has passed, never a date.

use super::config::{CLIENTS, NODES};
use crate::digest::Digest;

/// What stands for a lock that nobody holds any more: a key all the same.
pub const NOBODYS: u8 = u8::MAX;

/// What a client and a node have of each other. An age is 0 for none, else the ticks plus one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Link {
    /// Ticks that the client's note still stands.
    pub note: u8,
    /// The age of the question that was confirmed last.
    pub confirmed: u8,
    /// The age of the question that was answered last, however it was.
    pub answered: u8,
    /// The age of the question whose answer is under way, and of whom it tells.
    pub under_way: u8,
    pub tells: u8,
    /// By client: ticks that what was told of it still counts.
    pub told: [u8; CLIENTS],
    /// Of whom the numbers alone were told.
    pub hidden: u8,
    /// The last answer was an error.
    pub failed: bool,
    /// The node has restarted, and the client does not know: the ticks that it takes it to have run,
    /// plus one; 0 if it knows.
    pub unseen: u8,
    /// What the client has sent it is under way.
    pub sent: bool,
    /// It has granted this round.
    pub granted: bool,
}

impl Link {
    /// The connection is gone, and with it what was confirmed and what was under way. What was told
    /// is not.
    pub fn close(&mut self) {
        let (note, told, hidden, granted) = (self.note, self.told, self.hidden, self.granted);
        *self = Self { note, told, hidden, granted, ..Self::default() };
    }

    fn digest(&self, clients: usize, digest: &mut Digest) {
        let bits = [self.failed, self.sent, self.granted];
        let bits = bits.into_iter().fold(self.hidden, |bits, bit| bits << 1 | u8::from(bit));
        digest.bytes(&[self.note, self.confirmed, self.answered, self.under_way, self.tells]);
        digest.bytes(&[self.unseen, bits]);
        digest.bytes(&self.told[..clients]);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Node {
    /// The client whose lock stands here, plus one; 0 for none.
    pub owner: u8,
    pub left: u8,
    /// A round has counted it.
    pub counted: bool,
    /// Ticks since it started, as far as that matters.
    pub up: u8,
    pub links: [Link; CLIENTS],
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Round {
    #[default]
    None,
    Acquire,
    Extend,
}

/// Of whom something can be said, as bits, of the round under way or of the one that was won last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Known {
    /// Whose note or lock stood where this client had an answer from when it sent.
    pub could: u8,
    /// Whose note stood where this client was granted.
    pub beside: u8,
    /// Whose round this one was sent after.
    pub after: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Actor {
    pub round: Round,
    /// Ticks since it was sent.
    pub since: u8,
    pub of_round: Known,
    /// Ticks until the deadline of what it holds.
    pub left: u8,
    pub of_hold: Known,
    /// How often it may yet try, and extend.
    pub attempts: u8,
    pub rounds: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct State {
    pub nodes: [Node; NODES],
    pub actors: [Actor; CLIENTS],
    pub restarts: u8,
    /// No two can hold at a time any more.
    pub over: bool,
}

impl State {
    pub fn digest(&self, nodes: usize, clients: usize) -> u64 {
        let mut digest = Digest::default();
        for node in &self.nodes[..nodes] {
            digest.bytes(&[node.owner, node.left, u8::from(node.counted), node.up]);
            node.links[..clients].iter().for_each(|link| link.digest(clients, &mut digest));
        }
        for one in &self.actors[..clients] {
            digest.bytes(&[one.round as u8, one.since, one.left, one.attempts, one.rounds]);
            for known in [one.of_round, one.of_hold] {
                digest.bytes(&[known.could, known.beside, known.after]);
            }
        }
        digest.bytes(&[self.restarts, u8::from(self.over)]);
        digest.end()
    }
}

/// A bit for each client, or for each node.
pub const fn bit(place: usize) -> u8 {
    1 << place
}
