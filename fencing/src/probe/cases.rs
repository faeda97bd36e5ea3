//! The cases, as what is done to the store one after another.

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

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// One holder writes.
    Alone(usize),
    /// A holder writes or not: the first write of all finds no fence, and races in a way of its own.
    Perhaps(usize),
    /// Two holders write in turns, of which at most so many are drawn; then each goes to its end.
    Race(usize, usize, u64),
    /// A holder begins to write, and fails on its way, or its client ends.
    Cut(usize),
    Read,
    Restart,
    Cleanup,
    /// Goes on only if the store has updates.
    Updates,
    /// A lock is won. The token is that of a holder to come.
    Win,
}

use Act::{Alone, Cleanup, Cut, Perhaps, Race, Read, Restart, Updates, Win};

/// Holders, by the order of their tokens.
const FIRST: usize = 0;
const OLD: usize = 1;
const MIDDLE: usize = 2;
const NEW: usize = 3;
/// A writer without a token.
const NOBODY: usize = 4;

/// How many times as often as others it is played, as only some schedules of it hit; the act without
/// which it is left out; and what is done.
pub(super) type Row = (Case, usize, Act, &'static [&'static [Act]]);

/// A case that is left out leaves its plays to the one below it.
pub(super) const CASES: [Row; 11] = [
    (Case::StaleAfterNew, 1, Read, &[RISE, THEN]),
    (Case::SameToken, 1, Read, &[&[Alone(NEW), Alone(NEW), Read, Alone(NEW), Read]]),
    (Case::Unfenced, 1, Alone(NOBODY), &[&[Alone(NEW), Alone(NOBODY), Read]]),
    (Case::Tokens, 1, Win, &[&[Win, Win, Restart, Win, Cleanup, Win]]),
    (Case::StaleInFlight, 2, Read, &[&[Perhaps(FIRST), Race(OLD, NEW, 1)], THEN]),
    (Case::RaiseBeforeRead, 2, Updates, &[&[Updates, Perhaps(FIRST), Race(NEW, OLD, 1)], THEN]),
    (Case::TwoAtOnce, 2, Read, &[&[Perhaps(FIRST), Race(OLD, NEW, 6)], THEN]),
    (Case::TwoAtOnce, 1, Read, &[&[Perhaps(FIRST), Race(NEW, OLD, 6)], THEN]),
    (Case::Restart, 1, Restart, &[BEFORE, &[Restart, Alone(MIDDLE), Read, Alone(NEW), Read]]),
    (Case::Cleanup, 1, Cleanup, &[BEFORE, &[Cleanup, Alone(MIDDLE), Read, Alone(NEW), Read]]),
    (Case::Rollback, 2, Read, &[&[Alone(MIDDLE), Alone(OLD)], CUT, CUT, CUT, THEN]),
];
/// Each play begins with it.
pub(super) const FOUR_HOLDERS: &[Act] = &[Win, Win, Win, Win];
const RISE: &[Act] = &[Alone(OLD), Alone(MIDDLE), Alone(OLD), Alone(NEW), Alone(MIDDLE)];
const BEFORE: &[Act] = &[Alone(OLD), Alone(NEW), Alone(MIDDLE)];
const CUT: &[Act] = &[Cut(NEW), Read, Alone(OLD), Read, Alone(MIDDLE), Read];
const THEN: &[Act] = &[Read, Alone(OLD), Read, Alone(NEW), Read];
