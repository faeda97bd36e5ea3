//! Everything that clients and nodes may remember of each other, and everything in flight.
//!
//! Whatever concerns a node is stored in that node, so nodes can change places. Times are remaining
//! or elapsed spans, never dates.

use super::config::CLIENTS;
use crate::digest::digest;
use crate::masters::NODES;

/// The owner of a lock that no client holds any more: a key all the same.
pub const NO_HOLDER: u8 = u8::MAX;

/// The relation of a client and a node. An age is 0 for none, else the ticks plus one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Link {
    /// The remaining ticks of the client's note.
    pub note: u8,
    /// The age of the last question that was confirmed.
    pub confirmed: u8,
    /// The same for a question whose note is brief.
    pub briefly: u8,
    /// The age of the last question that was answered, whatever the answer.
    pub answered: u8,
    /// The age of the question whose answer is in flight, and the clients that the answer reports.
    pub under_way: u8,
    pub tells: u8,
    /// By client: the ticks for which the report on it still counts.
    pub reported: [u8; CLIENTS],
    /// The clients of which only the numbers were reported.
    pub hidden: u8,
    /// The last answer was an error.
    pub failed: bool,
    /// The node has restarted, and the client does not know. The ticks that the client assumes the
    /// node to have run, plus one; 0 if it knows.
    pub unseen: u8,
    /// The client's command is in flight to the node.
    pub sent: bool,
    /// Ahead of that command is the first question whose note is not brief.
    pub conditional: bool,
    /// The node has granted this round.
    pub granted: bool,
}

impl Link {
    /// Returns whether the client relies on a confirmation.
    pub const fn relies(&self) -> bool {
        self.confirmed > 0 || self.briefly > 0
    }

    /// Closes the connection: what was confirmed and what was in flight is lost. What was reported
    /// is not.
    pub fn close(&mut self) {
        let (note, reported, hidden, granted) =
            (self.note, self.reported, self.hidden, self.granted);
        *self = Self { note, reported, hidden, granted, ..Self::default() };
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Node {
    /// The client whose lock is here, plus one; 0 for none.
    pub owner: u8,
    pub left: u8,
    /// A round has counted it.
    pub counted: bool,
    /// Ticks since it started, as far as that matters.
    pub up: u8,
    pub links: [Link; CLIENTS],
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Round {
    #[default]
    None,
    Acquire,
    Extend,
}

/// Sets of clients, as bits, of the round in progress or of the one that was won last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Known {
    /// The clients whose note or lock was at a node from which this client had an answer when it
    /// sent.
    pub could: u8,
    /// The clients whose note was at a node that granted this client.
    pub beside: u8,
    /// The clients whose round was sent before this one.
    pub after: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Actor {
    pub round: Round,
    /// Ticks since it was sent.
    pub since: u8,
    pub of_round: Known,
    /// Ticks until the deadline of its hold.
    pub left: u8,
    pub of_hold: Known,
    /// The number of tries and extensions that it has left.
    pub attempts: u8,
    pub rounds: u8,
    /// Its notes are brief, and confirm nothing: it has not wanted a round yet.
    pub brief: bool,
    /// It has shut down.
    pub quit: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct State {
    pub nodes: [Node; NODES],
    pub actors: [Actor; CLIENTS],
    pub restarts: u8,
    /// No two clients can hold at the same time any more.
    pub over: bool,
}

impl State {
    pub fn digest(&self, nodes: usize, clients: usize) -> u64 {
        digest((&self.nodes[..nodes], &self.actors[..clients], self.restarts, self.over))
    }
}

/// Returns a bit for each client, or for each node.
pub const fn bit(place: usize) -> u8 {
    1 << place
}
