//! What the client and the master remember, and what is on its way to it.

use crate::digest::digest;
use crate::pace::Window;
use crate::quorum::Instant;

/// The most bursts, and the most writes that the master has not executed.
pub const BURSTS: usize = 2;
pub const WRITES: usize = 320;

/// What the client has written at one time, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Write {
    pub at: u32,
    /// An extension of the hold.
    pub extends: bool,
    /// Releases, and SETs that are rolled back by others.
    pub releases: u16,
    pub sets: u16,
    /// Their rounds are over.
    pub is_late: bool,
}

/// Acquires that wait, of one burst.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Line {
    pub since: u32,
    pub waiting: u16,
    /// The commands that the master could have executed since then.
    pub borne: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The time in slots.
    pub now: u32,
    pub window: Window,
    pub writes: [Write; WRITES],
    pub pending: u16,
    pub lines: [Line; BURSTS],
    pub begun: u8,
    pub changes: u8,
    pub is_slow: bool,
    pub deadline: Instant,
    /// When the hold is extended next, and when the last extension was written that is still open.
    pub extend_at: Instant,
    pub extends_since: Option<u32>,
    /// What was done against a rule.
    pub is_behind: bool,
    pub is_passed: bool,
}

impl State {
    pub fn digest(&self) -> u64 {
        let rest = (self.now, self.window, self.lines, self.begun, self.changes, self.is_slow);
        let hold = (self.deadline, self.extend_at, self.extends_since);
        digest((&self.writes[..usize::from(self.pending)], rest, hold))
    }

    pub fn waiting(&self) -> u16 {
        self.lines.iter().map(|line| line.waiting).sum()
    }
}
