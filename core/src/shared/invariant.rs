//! What nothing may break, whatever masters and callers do. It is checked in every build, and costs a comparison.
//!
//! A violation is a fault of this crate: nothing that the client knows can be relied on any more. So the client ends
//! ([`Event::Broken`](super::Event::Broken)), its holds are lost, and its keys expire. That a debt is settled once needs no
//! check: whoever settles it owns it.

/// What does not hold, although it must.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Invariant {
    /// An attempt wins once, and its caller has the places of its keys in this process.
    OneHolder,
    /// A deadline is the life of the key, less the drift, after the first byte at the latest.
    Deadline,
    /// A round that ends was open.
    OpenRound,
}

impl Invariant {
    /// Returns what is so instead.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OneHolder => "a key has a second holder in this process",
            Self::Deadline => "a deadline is later than the end of its key",
            Self::OpenRound => "a round has ended twice",
        }
    }
}
