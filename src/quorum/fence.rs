//! Ballots.

use std::time::Duration;

/// How far a ballot may be from a master's own clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    pub(crate) back: Duration,
    pub(crate) ahead: Duration,
}

impl Window {
    pub(crate) const fn width(self) -> Duration {
        self.back.saturating_add(self.ahead)
    }
}
