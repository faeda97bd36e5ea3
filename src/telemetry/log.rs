//! Spans and events of the facade `tracing`.
//!
//! Levels: what an operator may have to act on is a warning or an error, changes are INFO, and what
//! happens all the time in healthy operation is DEBUG.

use super::observer::{Held, Observer, Subject};
use super::redacted::Redacted;
use super::span::Waiting;
use super::{Ending, Span};
use crate::failure::{AcquireError, LossReason};
use crate::report::NodeReport;
use quorumlock_core::coordinator::{FailureKind, NotAdopted, Observation, Watching};
use quorumlock_core::quorum::Progress;
use quorumlock_core::status::{Margin, NodeStanding};
use std::fmt;
use std::time::Duration;
use tracing::{Level, debug, debug_span, enabled, error, field, info, warn};

/// The targets, as `docs/observability.md` has them.
const ACQUIRE: &str = "quorumlock::acquire";
const HOLD: &str = "quorumlock::hold";
const NODE: &str = "quorumlock::node";

/// Returns the span of an acquire.
pub(super) fn acquire(resource: &str, fenced: bool, shared: bool) -> tracing::Span {
    debug_span!(
        target: ACQUIRE,
        "acquire",
        resource,
        fenced,
        shared,
        attempts = field::Empty,
        reused = field::Empty,
        outcome = field::Empty,
        waited_ms = field::Empty,
    )
}

pub(super) struct Log;

impl Observer for Log {
    /// Without any subscriber, this is all that it costs.
    fn watching(&self) -> Watching {
        if enabled!(target: ACQUIRE, Level::DEBUG) {
            Watching::Votes
        } else if enabled!(target: HOLD, Level::WARN) || enabled!(target: NODE, Level::ERROR) {
            Watching::Outcomes
        } else {
            Watching::Nothing
        }
    }

    fn acquire_ended(&self, ending: &Ending<'_>, outcome: &str, error: Option<&AcquireError>) {
        let Ending { span, resource, waited } = *ending;
        let waited_ms = ms(waited);
        span.end(outcome, waited_ms);
        let error = error.map(|error| field::display(Redacted(error)));
        match outcome {
            "acquired" => {
                debug!(target: ACQUIRE, parent: span.id(), resource, outcome, waited_ms, "acquired");
            }
            "no_quorum" | "disagreement" | "overloaded" | "no_randomness" => warn!(
                target: ACQUIRE, parent: span.id(),
                resource, outcome, waited_ms, error, "not acquired"
            ),
            _ => debug!(
                target: ACQUIRE, parent: span.id(),
                resource, outcome, waited_ms, error, "not acquired"
            ),
        }
    }

    fn observed(&self, observation: &Observation, subject: &Subject<'_>) {
        let Subject { resource, left: still_held, .. } = *subject;
        let none = Span::none();
        let span = subject.span.unwrap_or(&none);
        match observation {
            Observation::Attempt { number, result, took, votes, .. } => {
                span.attempted(*number);
                let verdict = result.as_ref().map_or_else(FailureKind::as_str, |()| "won");
                debug!(
                    target: ACQUIRE, parent: span.id(), resource, attempt = number, verdict,
                    took_ms = ms(*took), votes = %Votes(votes), "attempt"
                );
            }
            Observation::Waits { waits_for, left, ahead, .. } => {
                if span.waits(Waiting { waits_for, is_dated: left.is_some(), ahead: *ahead }) {
                    debug!(
                        target: ACQUIRE, parent: span.id(),
                        resource, waits_for, left_ms = left.map(ms), ahead, "waiting"
                    );
                }
            }
            Observation::LastExtension { left, .. } => warn!(
                target: HOLD, parent: None,
                resource, reason = "max_hold", left_ms = ms(*left), "cannot be extended"
            ),
            Observation::Extension { by_keeper, progress, took, votes, .. } => {
                let (outcome, took_ms) = (progress.as_str(), ms(*took));
                if let Progress::Extended(_) = progress {
                    debug!(
                        target: HOLD, parent: None, resource, by_keeper, outcome, took_ms, "extended"
                    );
                } else {
                    let left_ms = still_held.map(ms);
                    warn!(
                        target: HOLD, parent: None, resource, by_keeper, outcome, left_ms,
                        took_ms, votes = %Votes(votes), "not extended"
                    );
                }
            }
            Observation::ToppedUp { node, .. } => {
                debug!(target: HOLD, parent: None, resource, node = &**node, "topped up");
            }
            Observation::Reused { .. } => span.reused(),
            Observation::PausesWarm => {}
            Observation::IdleReleased { reason, .. } => {
                debug!(target: HOLD, parent: None, resource, reason = reason.as_str(), "idle released");
            }
        }
    }

    fn lost(&self, hold: &Held<'_>, reason: &LossReason) {
        let votes = match reason {
            LossReason::QuorumGone(nodes) => Votes(nodes),
            _ => Votes(&[]),
        };
        let (resource, reason, held_ms) = (&**hold.resource, reason.as_str(), ms(hold.held));
        warn!(target: HOLD, parent: None, resource, reason, held_ms, %votes, "lost");
    }

    fn wanted(&self, resource: &str) {
        debug!(target: HOLD, parent: None, resource, "wanted");
    }

    fn released(&self, lock: Option<(&str, Duration)>, outcome: &str) {
        let (resource, held_ms) = lock.map(|(resource, held)| (resource, ms(held))).unzip();
        if outcome == "unconfirmed" {
            info!(target: HOLD, parent: None, resource, outcome, held_ms, "released");
        } else {
            debug!(target: HOLD, parent: None, resource, outcome, held_ms, "released");
        }
    }

    fn adopted(&self, resource: &str, took: Duration, outcome: &str, error: Option<&NotAdopted>) {
        let took_ms = ms(took);
        match error {
            None => debug!(target: HOLD, parent: None, resource, outcome, took_ms, "adopted"),
            Some(why) => {
                let votes = Votes(why.nodes());
                warn!(target: HOLD, parent: None, resource, outcome, took_ms, %votes, "not adopted");
            }
        }
    }

    fn stands(&self, _: usize, node: &str, _: Option<&str>, standing: &NodeStanding) {
        let word = standing.as_str();
        match standing {
            NodeStanding::Voting => info!(target: NODE, parent: None, node, "up"),
            NodeStanding::WarmingUp { remaining } => {
                info!(target: NODE, parent: None, node, left_ms = ms(*remaining), "warming up");
            }
            NodeStanding::Unconfirmed => info!(target: NODE, parent: None, node, "unconfirmed"),
            NodeStanding::Barred { by } => {
                let cause = format!("another client of {by} could win");
                let cause = field::display(Redacted(cause));
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

    fn renews(&self, _: usize, node: &str, _: bool, problem: Option<&str>) {
        match problem {
            Some(cause) => warn!(
                target: NODE, parent: None, node, cause = %Redacted(cause), "credentials not renewed"
            ),
            None => info!(target: NODE, parent: None, node, "credentials renewed"),
        }
    }

    fn owes(&self, _: usize, node: &str, before: usize, owed: usize) {
        match (before, owed) {
            (0, _) => info!(target: NODE, parent: None, node, owed, "owes deletions"),
            (_, 0) => info!(target: NODE, parent: None, node, settled = before, "owes nothing"),
            _ => {}
        }
    }

    fn quorum(&self, before: Option<Margin>, margin: Margin) {
        match (before, margin) {
            (_, Margin::None) => warn!(target: NODE, parent: None, "no quorum"),
            (Some(Margin::None), _) => info!(target: NODE, parent: None, "quorum"),
            _ => {}
        }
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
