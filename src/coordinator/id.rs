//! What requests, attempts and rounds are called.

use super::table::{Id, Place};

/// What a caller asked for; chosen by the caller's side, never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct RequestId(pub(crate) u64);

/// One attempt to hold a lock, and the hold that came of it; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct AttemptId(Place);

impl AttemptId {
    /// That of no attempt.
    pub(crate) const NONE: Self = Self(Place::NONE);

    /// Where its entry stands: no two attempts stand there at the same time.
    pub(crate) const fn slot(self) -> usize {
        self.0.slot()
    }
}

impl Id for AttemptId {
    fn of(place: Place) -> Self {
        Self(place)
    }

    fn place(self) -> Place {
        self.0
    }
}

/// One command sent to every node; never reused, so that a late answer is recognised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RoundId(Place);

impl Id for RoundId {
    fn of(place: Place) -> Self {
        Self(place)
    }

    fn place(self) -> Place {
        self.0
    }
}
