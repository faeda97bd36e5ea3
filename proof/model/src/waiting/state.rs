//! Everything that clients and nodes remember, and everything in flight.

use crate::digest::digest;
use crate::masters::NODES;
use crate::sharing::scripts::{CONTENDERS, Master};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Node {
    pub master: Master,
    /// Ticks until its votes count.
    pub warm: u8,
    /// By client: its command is in flight. Which one it is follows from the client's phase.
    pub sent: u8,
    /// By client: it has granted the round that is under way.
    pub granted: u8,
}

/// What a client does, and what it has in flight meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Phase {
    #[default]
    Idle,
    /// Its attempt.
    Trying,
    /// In the local queue of its process: the first writer's hint.
    Queued,
    /// Refused: its rollback, and a writer's hint.
    Backing,
    Waiting,
    /// A writer that has waited: the deletion of its hint.
    Held,
    /// Its downgrade.
    Downgrading,
    /// Its release.
    Leaving,
    /// The shortening of its hint.
    GivingUp,
    Dead,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Actor {
    pub phase: Phase,
    /// It reads, or its guard is a reader's by now.
    pub reads: bool,
    /// Ticks until its deadline.
    pub left: u8,
    /// It has tried in this tick.
    pub tried: bool,
    /// It has set its hint.
    pub hinted: bool,
    /// It has been notified, and may try again.
    pub notified: bool,
    /// Its place in the local queue, from 1; 0 for none.
    pub place: u8,
    /// The longest life that it was refused with.
    pub refused: u8,
    /// The ticks for which it has waited while no writer was in its way.
    pub waited: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub nodes: [Node; NODES],
    pub actors: [Actor; CONTENDERS],
    /// The ticks for which a writer that does not give up has waited while none held.
    pub drought: u8,
    /// A writer has tried in this tick.
    pub busy: bool,
    pub restarts: u8,
}

impl State {
    pub fn digest(&self, nodes: usize, clients: usize) -> u64 {
        let rest = (self.drought, self.restarts, self.busy);
        digest((&self.nodes[..nodes], &self.actors[..clients], rest))
    }
}
