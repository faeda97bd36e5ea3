//! What spans and events of `tracing` have in common.
//!
//! Levels: what an operator may have to act on is a warning or an error, changes are INFO, and what
//! happens all the time in healthy operation is DEBUG.

use super::redacted::Redacted;
use crate::report::NodeReport;
use quorumlock_core::coordinator::Watching;
use std::fmt;
use std::time::Duration;
use tracing::{Level, debug_span, enabled, field};

/// The targets, as `docs/observability.md` has them.
pub(super) const ACQUIRE: &str = "quorumlock::acquire";
pub(super) const HOLD: &str = "quorumlock::hold";
pub(super) const NODE: &str = "quorumlock::node";

/// Returns how much observers want to know. Without any, this is all it costs.
pub(super) fn watching() -> Watching {
    if enabled!(target: ACQUIRE, Level::DEBUG) {
        Watching::Votes
    } else if enabled!(target: HOLD, Level::WARN) || enabled!(target: NODE, Level::ERROR) {
        Watching::Outcomes
    } else {
        Watching::Nothing
    }
}

/// Returns the span of an acquire.
pub(super) fn acquire(resource: &str, fenced: bool, shared: bool) -> tracing::Span {
    debug_span!(
        target: ACQUIRE,
        "acquire",
        resource,
        fenced,
        shared,
        attempts = field::Empty,
        outcome = field::Empty,
        waited_ms = field::Empty,
    )
}

/// Converts to milliseconds, to the microsecond.
pub(super) fn ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

/// The answers of all nodes, in one line.
pub(super) struct Votes<'a>(pub(super) &'a [NodeReport]);

impl fmt::Display for Votes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(place, report)| {
            let between = if place == 0 { "" } else { "; " };
            write!(f, "{between}{}", Redacted(report))
        })
    }
}
