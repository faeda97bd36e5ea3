//! What is asked of every contender.

pub(crate) mod alone;
pub(crate) mod contended;
pub(crate) mod crowd;
pub(crate) mod faults;
pub(crate) mod fenced;
pub(crate) mod kept;
pub(crate) mod outage;
pub(crate) mod weight;

use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Workload {
    Alone,
    Crowd,
    Fenced,
    Kept,
}

impl Workload {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Alone => "W1",
            Self::Crowd => "W2",
            Self::Fenced => "W7",
            Self::Kept => "W9",
        }
    }

    /// Whether what counts in it are ratios to the floor.
    pub(crate) fn is_compared(self) -> bool {
        matches!(self, Self::Alone | Self::Crowd)
    }

    pub(crate) const fn metrics(self) -> &'static [&'static str] {
        match self {
            Self::Alone => &alone::METRICS,
            Self::Crowd => &crowd::METRICS,
            Self::Fenced => &fenced::METRICS,
            Self::Kept => &kept::METRICS,
        }
    }
}

/// What one turn has come to.
pub(crate) struct Measured {
    /// Locks won and released, warm-up excluded.
    pub(crate) cycles: u64,
    /// One for each metric of the workload that the contender can tell.
    pub(crate) figures: Vec<f64>,
}

/// Somebody who locks, one lock at a time. Panics at anything but a win by a quorum of `OK` and a
/// release by a quorum of deletions: the resources are uncontended.
pub(crate) trait Locker: Send + 'static {
    type Held: Send;

    fn acquire(&mut self, resource: &Arc<str>) -> impl Future<Output = Self::Held> + Send;

    fn release(&mut self, held: Self::Held) -> impl Future<Output = ()> + Send;

    /// Waits for what is still on its way once the turn is over.
    fn settle(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

pub(crate) fn micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}
