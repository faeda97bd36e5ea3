//! Happenings as spans and events of `tracing`.
//!
//! Levels: what an operator may have to act on is a warning or an error, changes are INFO, and what
//! happens all the time in healthy operation is DEBUG.

use super::happening::Happening;
use super::redacted::Redacted;
use super::words::{AcquireEnd, ExtensionEnd, Quorum, ReleaseEnd};
use crate::report::NodeReport;
use crate::status::NodeStanding;
use quorumlock_core::coordinator::Watching;
use std::fmt;
use std::time::Duration;
use tracing::{Level, debug, debug_span, enabled, error, field, info, warn};

/// The targets, as `docs/observability.md` has them.
const ACQUIRE: &str = "quorumlock::acquire";
const HOLD: &str = "quorumlock::hold";
const NODE: &str = "quorumlock::node";

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
pub(super) fn acquire(resource: &str, fenced: bool) -> tracing::Span {
    debug_span!(
        target: ACQUIRE,
        "acquire",
        resource,
        fenced,
        attempts = field::Empty,
        outcome = field::Empty,
        waited_ms = field::Empty,
    )
}

pub(super) fn tell(happening: &Happening<'_>) {
    match happening {
        Happening::Attempted { span, resource, number, verdict, took, votes } => {
            span.attempted(*number);
            debug!(
                target: ACQUIRE, parent: span.id(),
                resource, attempt = number, verdict = verdict.as_str(), took_ms = ms(*took),
                votes = %Votes(votes), "attempt"
            );
        }
        Happening::Asked { span, resource, end, waited, error } => {
            let (outcome, waited_ms) = (end.as_str(), ms(*waited));
            span.end(outcome, waited_ms);
            let error = error.map(|error| field::display(Redacted(error)));
            match end {
                AcquireEnd::Acquired => debug!(
                    target: ACQUIRE, parent: span.id(), resource, outcome, waited_ms, "acquired"
                ),
                AcquireEnd::NoQuorum | AcquireEnd::Disagreement => warn!(
                    target: ACQUIRE, parent: span.id(),
                    resource, outcome, waited_ms, error, "not acquired"
                ),
                _ => debug!(
                    target: ACQUIRE, parent: span.id(),
                    resource, outcome, waited_ms, error, "not acquired"
                ),
            }
        }
        Happening::Extended { resource, by_keeper, end, took, votes } => {
            let (outcome, took_ms) = (end.as_str(), ms(*took));
            match end {
                ExtensionEnd::Extended => debug!(
                    target: HOLD, parent: None, resource, by_keeper, outcome, took_ms, "extended"
                ),
                _ => warn!(
                    target: HOLD, parent: None, resource, by_keeper, outcome, took_ms,
                    votes = %Votes(votes), "not extended"
                ),
            }
        }
        Happening::ToppedUp { resource, node } => {
            debug!(target: HOLD, parent: None, resource, node, "topped up");
        }
        Happening::Lost { resource, reason, held, votes } => warn!(
            target: HOLD, parent: None, resource, reason = reason.as_str(), held_ms = ms(*held),
            votes = %Votes(votes), "lost"
        ),
        Happening::Released { resource, end, held } => {
            let (outcome, held_ms) = (end.as_str(), held.map(ms));
            match end {
                ReleaseEnd::Unconfirmed => {
                    info!(target: HOLD, parent: None, resource, outcome, held_ms, "released");
                }
                _ => debug!(target: HOLD, parent: None, resource, outcome, held_ms, "released"),
            }
        }
        Happening::Stands { node, standing, .. } => stands(node, standing),
        Happening::Margin { before, margin } => quorum(*before, *margin),
        Happening::Owes { node, before: 0, owed, .. } => {
            info!(target: NODE, parent: None, node, owed, "owes deletions");
        }
        Happening::Owes { node, owed: 0, before, .. } => {
            info!(target: NODE, parent: None, node, settled = before, "owes nothing");
        }
        Happening::Owes { .. }
        | Happening::GivenUp { .. }
        | Happening::Forgotten { .. }
        | Happening::MarginForgotten { .. } => {}
    }
}

fn stands(node: &str, standing: &NodeStanding) {
    let word = standing.in_a_word().as_str();
    match standing {
        NodeStanding::Voting => info!(target: NODE, parent: None, node, "up"),
        NodeStanding::WarmingUp { remaining } => {
            info!(target: NODE, parent: None, node, left_ms = ms(*remaining), "warming up");
        }
        NodeStanding::Unconfirmed => info!(target: NODE, parent: None, node, "unconfirmed"),
        NodeStanding::Barred { by } => {
            let cause = format_args!("another client of {by} could win");
            let cause = field::display(cause);
            error!(target: NODE, parent: None, node, standing = word, cause, "unfit");
        }
        NodeStanding::Down(cause) => {
            warn!(target: NODE, parent: None, node, cause = %Redacted(cause), "down");
        }
        // An operator has to fix it.
        _ => {
            let cause = field::display(Redacted(standing.problem().unwrap_or_default()));
            error!(target: NODE, parent: None, node, standing = word, cause, "unfit");
        }
    }
}

fn quorum(before: Option<Quorum>, margin: Quorum) {
    match (before, margin) {
        (_, Quorum::None) => warn!(target: NODE, parent: None, "no quorum"),
        (Some(Quorum::None), _) => info!(target: NODE, parent: None, "quorum"),
        _ => {}
    }
}

/// Converts to milliseconds, to the microsecond.
fn ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

/// The answers of all nodes, in one line.
struct Votes<'a>(&'a [NodeReport]);

impl fmt::Display for Votes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(place, report)| {
            let between = if place == 0 { "" } else { "; " };
            write!(f, "{between}{}", Redacted(report))
        })
    }
}
