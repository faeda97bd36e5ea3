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

#[derive(Clone, Copy)]
pub(super) enum Act {
    /// One holder writes.
    Alone(usize),
    /// Two holders write, in so many turns of a few steps; then each goes to its end.
    Race(usize, usize, u64),
    /// A holder begins to write, and fails on its way, or its client ends.
    Cut(usize),
    Read,
    Restart,
    Cleanup,
    /// Goes on if the store has updates.
    Updates,
    Win,
}

use Act::{Alone, Cleanup, Cut, Race, Read, Restart, Updates, Win};

/// Holders, by the order of their tokens.
const FIRST: usize = 0;
const OLD: usize = 1;
const MIDDLE: usize = 2;
const NEW: usize = 3;
/// A writer without a token.
const UNFENCED: usize = usize::MAX;

/// What is done in each case. One that only some schedules hit has more rows than others. The first
/// write of all finds no fence, and races in a way of its own. If a store has not all calls of a row,
/// its plays go to the rows below.
pub(super) const ROWS: [(Case, &[&[Act]]); 17] = [
    (Case::StaleAfterNew, &[RISE, THEN]),
    (Case::SameToken, &[&[Alone(NEW), Alone(NEW), Read, Alone(NEW), Read]]),
    (Case::Unfenced, &[&[Alone(NEW), Alone(UNFENCED), Read]]),
    (Case::Tokens, &[&[Win, Win]]),
    (Case::Tokens, &[&[Win, Restart, Win]]),
    (Case::StaleInFlight, &[&[Race(OLD, NEW, 1)], THEN]),
    (Case::StaleInFlight, &[&[Alone(FIRST), Race(OLD, NEW, 1)], THEN]),
    (Case::RaiseBeforeRead, &[&[Updates, Race(NEW, OLD, 1)], THEN]),
    (Case::RaiseBeforeRead, &[&[Updates, Alone(FIRST), Race(NEW, OLD, 1)], THEN]),
    (Case::TwoAtOnce, &[&[Race(OLD, NEW, 6)], THEN]),
    (Case::TwoAtOnce, &[&[Alone(FIRST), Race(OLD, NEW, 2)], THEN]),
    (Case::TwoAtOnce, &[&[Alone(FIRST), Race(NEW, OLD, 3)], THEN]),
    (Case::Tokens, &[&[Win, Cleanup, Win]]),
    (Case::Restart, &[BEFORE, &[Restart], AFTER]),
    (Case::Cleanup, &[BEFORE, &[Cleanup], AFTER]),
    (Case::Rollback, &[&[Alone(MIDDLE), Alone(OLD)], CUT, CUT, CUT, THEN]),
    (Case::Rollback, &[CUT, CUT, CUT, THEN]),
];
const RISE: &[Act] = &[Alone(OLD), Alone(MIDDLE), Alone(OLD), Alone(NEW), Alone(MIDDLE)];
const BEFORE: &[Act] = &[Alone(OLD), Alone(NEW), Alone(MIDDLE)];
const AFTER: &[Act] = &[Alone(MIDDLE), Read, Alone(NEW), Read];
const CUT: &[Act] = &[Cut(NEW), Read, Alone(OLD), Read, Alone(MIDDLE), Read];
const THEN: &[Act] = &[Read, Alone(OLD), Read, Alone(NEW), Read];
