//! Everything that clients and nodes remember, and everything in flight.

use super::scripts::{CLIENTS, Master};
use crate::digest::digest;
use crate::masters::NODES;
use crate::quorum::turns::Phase;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Node {
    pub master: Master,
    /// Ticks until its votes count.
    pub warm: u8,
    /// By client: its command is in flight. Which one it is follows from the client's round.
    pub sent: u8,
    /// By client: a winner takes its place back here. Behind nothing, and before nothing: more orders than
    /// a connection has.
    pub parting: u8,
    /// By client: the answer in the round under way.
    pub answers: [u8; CLIENTS],
    /// By client, as bits: those that stood here when it came, and have stood here since.
    pub before: [u8; CLIENTS],
    /// A key that was kept has ended here before the place of the first waiter, and none has come since.
    pub ended: bool,
    /// The rounds that the holder has begun since the node has restarted, without its key there.
    pub absent: u8,
}

/// What a client has in flight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Out {
    #[default]
    Nothing,
    Set,
    /// The rollback of the SET, and the first look behind it.
    Join,
    Look,
    Try,
    /// The rollback of a try.
    Undo,
    Extend,
    TopUp,
    /// The release, or the withdrawal.
    Leave,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Stage {
    #[default]
    Away,
    Waits,
    Holds,
    Gone,
    Dead,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Actor {
    pub stage: Stage,
    pub phase: Phase,
    pub out: Out,
    /// Zero: none yet.
    pub ticket: u8,
    /// Ticks until its deadline, or until the key is not kept for it any more.
    pub left: u8,
    /// Ticks until the lives that a quorum reported are over.
    pub life: u8,
    /// Tries, or rounds of extension, in this tick.
    pub tries: u8,
    /// Ticks since the round began.
    pub since: u8,
    /// Ticks since a quorum has answered it, and for how many its entry lived from then on.
    pub unheard: u8,
    pub lives: u8,
    /// Ticks until its next look, if that is not due in each.
    pub rests: u8,
    /// The look under way is that of a waiter far back.
    pub seldom: bool,
    /// It has taken that look.
    pub nears: bool,
    /// It tries once its round has ended.
    pub wants: bool,
    /// It has looked, or extended, in this tick.
    pub done: bool,
    /// Its release has yet to notify a waiter.
    pub tells: bool,
    /// It leaves what it held; otherwise it withdraws.
    pub held: bool,
    /// A node of its try had a holder.
    pub beside: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    pub nodes: [Node; NODES],
    pub actors: [Actor; CLIENTS],
    /// Ticks for which a client that could win has waited while none held, and nothing failed.
    pub drought: u8,
    /// Something has failed in this tick.
    pub fault: bool,
    pub restarts: u8,
    pub losses: u8,
    pub slow: u8,
    /// The first waiter was passed.
    pub passed: bool,
    /// A waiter that could win has left the queue.
    pub left: bool,
    /// The holder was not on a voting node two rounds after its restart.
    pub missing: bool,
    /// A holder has let go in this tick before a waiter that stands.
    pub handed: bool,
    /// A plain client has held since the beginning: what it released was kept for no client.
    pub opened: bool,
    /// None took over within the tick.
    pub late: bool,
}

impl State {
    pub fn digest(&self, nodes: usize, clients: usize) -> u64 {
        let broken = (self.passed, self.left, self.missing, self.late);
        let seen = (self.drought, self.fault, self.handed, self.opened, broken);
        let counts = (self.restarts, self.losses, self.slow);
        digest((&self.nodes[..nodes], &self.actors[..clients], seen, counts))
    }
}
