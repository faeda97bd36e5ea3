//! The cases, as what is done to the store one after another.

use super::draw::Draw;
use std::fmt;

/// One way in which fences have failed; each play is of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Case {
    /// A holder has written, and then an earlier one writes.
    StaleAfterNew,
    /// An earlier holder's write is held on its way, while a later one writes.
    StaleInFlight,
    /// Two holders write, and their steps take turns.
    TwoAtOnce,
    /// A later holder's update is held on its way, while an earlier one updates.
    RaiseBeforeRead,
    /// One holder writes more than once.
    SameToken,
    /// The store restarts between a holder's write and an earlier holder's.
    Restart,
    /// The store cleans up, or idles, between a holder's write and an earlier holder's.
    Cleanup,
    /// A write fails, or its client ends, somewhere on its way; then both holders write.
    Rollback,
    /// A writer has no token.
    Unfenced,
    /// The lock is won and released again and again, across restart and cleanup.
    Tokens,
}

impl Case {
    pub(super) const ALL: [Self; 10] = [
        Self::StaleAfterNew,
        Self::StaleInFlight,
        Self::TwoAtOnce,
        Self::RaiseBeforeRead,
        Self::SameToken,
        Self::Restart,
        Self::Cleanup,
        Self::Rollback,
        Self::Unfenced,
        Self::Tokens,
    ];

    pub(super) const fn weight(self) -> u8 {
        match self {
            Self::StaleInFlight | Self::RaiseBeforeRead | Self::Rollback => 2,
            Self::TwoAtOnce => 3,
            _ => 1,
        }
    }

    /// Returns what is done, in order.
    pub(super) fn script(self, draw: &mut Draw) -> Vec<Act> {
        use Act::{Alone, Cleanup, Cut, Held, Read, Restart, Turns, Unfenced, Win};
        let first = draw.below(2) == 0;
        let after = [Read, Alone(OLD), Read, Alone(NEW), Read];
        let pair = |pair: Act| {
            // The first write of all finds no fence, and may race in another way.
            let first = if first { vec![Alone(FIRST)] } else { Vec::new() };
            [first, vec![pair], after.to_vec()].concat()
        };
        let across = |between| {
            vec![
                Alone(OLD),
                Alone(NEW),
                Alone(MIDDLE),
                between,
                Alone(MIDDLE),
                Read,
                Alone(NEW),
                Read,
            ]
        };
        match self {
            Self::StaleAfterNew => [vec![Alone(OLD), Alone(NEW)], after.to_vec()].concat(),
            Self::StaleInFlight => pair(Held(OLD, NEW)),
            Self::TwoAtOnce => pair(Turns(OLD, NEW)),
            Self::RaiseBeforeRead => pair(Held(NEW, OLD)),
            Self::SameToken => vec![Alone(NEW), Alone(NEW), Read, Alone(NEW), Read],
            Self::Restart => across(Restart),
            Self::Cleanup => across(Cleanup),
            Self::Rollback => {
                let fault = if first { Fault::Dropped } else { Fault::Failed };
                let cut = [Cut(NEW, fault), Read, Alone(OLD), Read, Alone(MIDDLE), Read];
                [vec![Alone(MIDDLE)], cut.repeat(3), after.to_vec()].concat()
            }
            Self::Unfenced => vec![Alone(NEW), Unfenced, Read],
            Self::Tokens => vec![Win, Win, Restart, Win, Cleanup, Win],
        }
    }
}

/// Holders, by the order of their tokens.
pub(super) const FIRST: usize = 0;
pub(super) const OLD: usize = 1;
pub(super) const MIDDLE: usize = 2;
pub(super) const NEW: usize = 3;

#[derive(Clone, Copy)]
pub(super) enum Act {
    /// One holder writes.
    Alone(usize),
    /// A holder is held on its way, until another one has written.
    Held(usize, usize),
    /// Two holders write in turns, or both at once.
    Turns(usize, usize),
    /// A holder begins to write, and this happens to it on its way.
    Cut(usize, Fault),
    Read,
    Restart,
    Cleanup,
    Unfenced,
    Win,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The client ends.
    Dropped,
    /// A gate reports an error.
    Failed,
}

/// Which of two writers run, and for how many steps.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) runs: [bool; 2],
    pub(super) steps: u64,
}

impl Turn {
    pub(super) const BOTH: Self = Self { runs: [true, true], steps: u64::MAX };

    pub(super) const fn of((writer, steps): (u64, u64)) -> Self {
        Self { runs: [writer == 0, writer == 1], steps }
    }
}

/// Returns four tokens that rise, of a size at which text, floats or 32 bits go wrong.
pub(super) fn tokens(draw: &mut Draw) -> [u64; 4] {
    const SIZES: [u64; 6] =
        [1, 8, 98, i32::MAX as u64 - 2, 1_795_158_604_154_900, (1 << 53) - 4_000];
    let mut last = SIZES[draw.below(6) as usize];
    [(); 4].map(|()| {
        last += if draw.below(2) == 0 { 1 } else { 1 + draw.below(900) };
        last
    })
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StaleAfterNew => "stale after new",
            Self::StaleInFlight => "stale in flight",
            Self::TwoAtOnce => "two at once",
            Self::RaiseBeforeRead => "raise before read",
            Self::SameToken => "same token again",
            Self::Restart => "restart",
            Self::Cleanup => "cleanup",
            Self::Rollback => "rollback",
            Self::Unfenced => "writer without a token",
            Self::Tokens => "tokens that rise",
        })
    }
}
