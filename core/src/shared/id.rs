//! The ids of requests, attempts and rounds.

use super::table::Place;

/// The id of a caller's request; chosen by the caller's side, never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RequestId(pub u64);

/// The id of one attempt to hold a lock, and of the hold that resulted from it; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AttemptId(pub(crate) Place);

impl RequestId {
    /// Set in the ids that the machine gives to its own requests, on behalf of a caller's.
    const OWN: u64 = 1 << 63;

    /// Set, too, where the machine listens.
    const LISTENS: u64 = 1 << 62;

    /// Returns the id of what the machine asks itself for this request.
    pub(crate) const fn own(self) -> Self {
        Self(self.0 | Self::OWN)
    }

    /// Returns the id under which the machine listens since this request.
    pub(crate) const fn listener(self) -> Self {
        Self(self.0 | Self::OWN | Self::LISTENS)
    }

    /// Returns the request of a caller that this one serves, or is.
    pub(crate) const fn callers(self) -> Self {
        Self(self.0 & !Self::OWN & !Self::LISTENS)
    }

    pub(crate) const fn is_own(self) -> bool {
        self.0 & Self::OWN != 0
    }
}

impl AttemptId {
    /// The id of no attempt.
    pub const NONE: Self = Self(Place::NONE);

    /// Returns the slot of its entry: no two attempts have the same slot at the same time.
    pub const fn slot(self) -> usize {
        self.0.index()
    }
}

/// The id of one command sent to every node; never reused, so that a late answer is recognised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RoundId(pub(crate) Place);
