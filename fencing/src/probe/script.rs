//! The cases, as what is done to the store one after another.

use super::draw::Draw;

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
    /// A write fails, or its client ends, somewhere on its way; then other holders write.
    Rollback,
    /// A writer has no token.
    Unfenced,
    /// The lock is won and released again and again, across restart and cleanup.
    Tokens,
}

#[derive(Clone, Copy)]
pub(super) enum Act {
    /// One holder writes.
    Alone(usize),
    /// A holder writes or not: the first write of all finds no fence, and races in a way of its own.
    Perhaps(usize),
    /// A holder is held on its way, until another one has written.
    Held(usize, usize),
    /// Two holders write in turns, or both at once.
    Turns(usize, usize),
    /// A holder begins to write, and fails on its way, or its client ends.
    Cut(usize),
    Read,
    Restart,
    Cleanup,
    Unfenced,
    Win,
}

/// Holders, by the order of their tokens.
const FIRST: usize = 0;
const OLD: usize = 1;
const MIDDLE: usize = 2;
const NEW: usize = 3;

use Act::{Alone, Cleanup, Cut, Held, Perhaps, Read, Restart, Turns, Unfenced, Win};

/// What is done in each case; and how many times as often as others it is played, as only some
/// schedules of it hit.
pub(super) const CASES: [(Case, usize, &[&[Act]]); 10] = [
    (Case::StaleAfterNew, 1, &[RISE, THEN]),
    (Case::StaleInFlight, 2, &[&[Perhaps(FIRST), Held(OLD, NEW)], THEN]),
    (Case::TwoAtOnce, 3, &[&[Perhaps(FIRST), Turns(OLD, NEW)], THEN]),
    (Case::RaiseBeforeRead, 2, &[&[Perhaps(FIRST), Held(NEW, OLD)], THEN]),
    (Case::SameToken, 1, &[&[Alone(NEW), Alone(NEW), Read, Alone(NEW), Read]]),
    (Case::Restart, 1, &[BEFORE, &[Restart, Alone(MIDDLE), Read, Alone(NEW), Read]]),
    (Case::Cleanup, 1, &[BEFORE, &[Cleanup, Alone(MIDDLE), Read, Alone(NEW), Read]]),
    (Case::Rollback, 2, &[&[Alone(MIDDLE), Alone(OLD)], CUT, CUT, CUT, THEN]),
    (Case::Unfenced, 1, &[&[Alone(NEW), Unfenced, Read]]),
    (Case::Tokens, 1, &[&[Win, Win, Restart, Win, Cleanup, Win]]),
];
const RISE: &[Act] = &[Alone(OLD), Alone(MIDDLE), Alone(OLD), Alone(NEW), Alone(MIDDLE)];
const BEFORE: &[Act] = &[Alone(OLD), Alone(NEW), Alone(MIDDLE)];
const CUT: &[Act] = &[Cut(NEW), Read, Alone(OLD), Read, Alone(MIDDLE), Read];
const THEN: &[Act] = &[Read, Alone(OLD), Read, Alone(NEW), Read];

/// Returns four numbers that rise, of a size at which text, floats or 32 bits go wrong.
pub(super) fn tokens(draw: &mut Draw) -> [u64; 4] {
    let sizes = [1, 8, 98, (1 << 31) - 3, 1_795_158_604_154_900, (1 << 53) - 4_000];
    let mut last = sizes[draw.below(6) as usize];
    [(); 4].map(|()| {
        last += 1 + draw.below(2) * draw.below(900);
        last
    })
}
