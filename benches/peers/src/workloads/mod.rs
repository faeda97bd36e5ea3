//! The workloads that every contender is given.

pub(crate) mod alone;
pub(crate) mod contended;
pub(crate) mod crowd;
pub(crate) mod faults;
pub(crate) mod fenced;
pub(crate) mod gathered;
pub(crate) mod idle;
pub(crate) mod kept;
pub(crate) mod kept_alive;
pub(crate) mod outage;
pub(crate) mod warm;
pub(crate) mod weight;

use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Workload {
    Alone,
    Crowd,
    Fenced,
    Kept,
    Warm,
}

impl Workload {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Alone => "W1",
            Self::Crowd => "W2",
            Self::Fenced => "W7",
            Self::Kept => "W9",
            Self::Warm => "W10",
        }
    }

    /// Returns whether its ratios to the floor are what counts.
    pub(crate) fn is_compared(self) -> bool {
        matches!(self, Self::Alone | Self::Crowd)
    }

    pub(crate) const fn metrics(self) -> &'static [&'static str] {
        match self {
            Self::Alone => &alone::METRICS,
            Self::Crowd => &crowd::METRICS,
            Self::Fenced => &fenced::METRICS,
            Self::Kept => &kept::METRICS,
            Self::Warm => &warm::METRICS,
        }
    }
}

/// Result of one turn.
pub(crate) struct Measured {
    /// Locks won and released, warm-up excluded.
    pub(crate) cycles: u64,
    /// One for each metric of the workload that the contender can report.
    pub(crate) figures: Vec<f64>,
}

/// A client that locks, one lock at a time. It panics at anything except a win by a quorum of `OK`
/// and a release by a quorum of deletions: the resources are uncontended.
pub(crate) trait Locker: Send + 'static {
    type Held: Send;

    fn acquire(&mut self, resource: &Arc<str>) -> impl Future<Output = Self::Held> + Send;

    fn release(&mut self, held: Self::Held) -> impl Future<Output = ()> + Send;

    /// Waits for everything in flight once the turn is over.
    fn settle(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

pub(crate) fn micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}
