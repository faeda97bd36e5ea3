//! The number that goes with each win of a fenced lock, for the protected resource to check.

use std::fmt;

/// A number greater than that of every earlier win of the same resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FencingToken(u64);

impl FencingToken {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number: microseconds since 1970 or a little above, below 2^53.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
