//! The driver's view of attempts, of held locks, and of guards that were given up.

use super::table::Metric;
use super::{ACQUIRE, HOLD, Outlet, Span, ms};
#[cfg(feature = "tracing")]
use super::{redacted::Votes, span::Waiting};
use crate::failure::LossReason;
use quorumlock_core::coordinator::{AttemptId, FailureKind, NotAdopted, Observation, RequestId};
use quorumlock_core::quorum::Progress;
use std::sync::Arc;
use std::time::Duration;

/// A held lock, and for how long it was held.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    pub(crate) resource: &'a Arc<str>,
    pub(crate) held: Duration,
}

impl Outlet {
    /// Reports an observation of the machine. An acquire is found by its request. A lock, and the time until
    /// its deadline, is found by its attempt, unless its guard was given up in the meantime. A lock without a guard
    /// is found by its key.
    #[inline]
    pub(crate) fn observed<'a>(
        &self,
        observation: &Observation,
        acquire: impl Fn(RequestId) -> Option<(&'a Span, &'a str)>,
        hold: impl Fn(AttemptId) -> Option<(&'a str, Duration)>,
        resource_of: impl FnOnce(&Arc<str>) -> Arc<str>,
    ) {
        match observation {
            Observation::Attempt { request, number, result, took, votes } => {
                let Some((span, resource)) = acquire(*request) else { return };
                if result.is_ok() {
                    self.time(Metric::AcquireDuration, "", *took);
                }
                #[cfg(feature = "tracing")]
                span.attempted(*number);
                let verdict = result.as_ref().map_or_else(FailureKind::as_str, |()| "won");
                event!(
                    DEBUG in span: resource, attempt = number, verdict,
                    took_ms = ms(*took), votes = %Votes(votes), "attempt"
                );
            }
            Observation::Waits { request, waits_for, left, ahead } => {
                let Some((span, resource)) = acquire(*request) else { return };
                #[cfg(feature = "tracing")]
                if span.waits(Waiting { waits_for, is_dated: left.is_some(), ahead: *ahead }) {
                    event!(
                        DEBUG in span: resource, waits_for, left_ms = left.map(ms), ahead, "waiting"
                    );
                }
            }
            Observation::Reused { request } => {
                acquire(*request).inspect(|(span, _)| span.reused());
            }
            Observation::LastExtension { attempt, left } => {
                let (resource, _) = hold(*attempt).unzip();
                event!(
                    WARN HOLD: resource, reason = "max_hold", left_ms = ms(*left),
                    "cannot be extended"
                );
            }
            Observation::Extension { attempt, by_keeper, progress, took, votes } => {
                let (resource, left) = hold(*attempt).unzip();
                let (outcome, took_ms, left_ms) = (progress.as_str(), ms(*took), left.map(ms));
                self.count(Metric::Extensions, outcome);
                if let Progress::Extended(_) = progress {
                    event!(DEBUG HOLD: resource, by_keeper, outcome, took_ms, "extended");
                } else {
                    event!(
                        WARN HOLD: resource, by_keeper, outcome, left_ms, took_ms,
                        votes = %Votes(votes), "not extended"
                    );
                }
            }
            Observation::ToppedUp { attempt, node } => {
                let (resource, _) = hold(*attempt).unzip();
                event!(DEBUG HOLD: resource, node = &**node, "topped up");
            }
            Observation::PausesWarm => self.count(Metric::WarmPauses, ""),
            Observation::IdleReleased { key, reason } => {
                let resource = &*resource_of(key);
                event!(DEBUG HOLD: resource, reason = reason.as_str(), "idle released");
            }
        }
    }

    /// Reports that a hold is over before its guard was given up.
    #[inline]
    pub(crate) fn lost(&self, hold: Held<'_>, reason: &LossReason) {
        // Nothing is lost with a guard that was given up.
        if *reason != LossReason::Released {
            let nodes = match reason {
                LossReason::QuorumGone(nodes) => &**nodes,
                _ => &[],
            };
            let (resource, reason, held_ms) = (&**hold.resource, reason.as_str(), ms(hold.held));
            self.count(Metric::LostLocks, reason);
            self.time(Metric::HoldDuration, "", hold.held);
            event!(WARN HOLD: resource, reason, held_ms, votes = %Votes(nodes), "lost");
        }
    }

    /// Reports that another client has asked for a lock that a guard has.
    #[inline]
    pub(crate) fn wanted(resource: &str) {
        event!(DEBUG HOLD: resource, "wanted");
    }

    /// Reports that a guard was given up, and that its key stays: its lock is `forgotten`, kept warm (`idle`), or
    /// `detached` for another process.
    #[inline]
    pub(crate) fn kept(&self, hold: Option<Held<'_>>, outcome: &'static str) {
        self.given_up(hold, true);
        self.released(hold, outcome);
    }

    /// Reports that a guard was given up. `hold` is `None` if its loss has been reported before.
    #[inline]
    pub(crate) fn given_up(&self, hold: Option<Held<'_>>, in_time: bool) {
        match hold {
            Some(hold) if in_time => self.time(Metric::HoldDuration, "", hold.held),
            Some(hold) => self.lost(hold, &LossReason::Lapsed),
            None => {}
        }
    }

    /// Reports what has become of a guard that was given up.
    #[inline]
    pub(crate) fn released(&self, hold: Option<Held<'_>>, outcome: &str) {
        self.count(Metric::Releases, outcome);
        let (resource, held_ms) = hold.map(|hold| (&**hold.resource, ms(hold.held))).unzip();
        if outcome == "unconfirmed" {
            event!(INFO HOLD: resource, outcome, held_ms, "released");
        } else {
            event!(DEBUG HOLD: resource, outcome, held_ms, "released");
        }
    }

    /// Reports an adoption: the first extension of a lock that another process has detached.
    #[inline]
    pub(crate) fn adopted(&self, resource: &str, took: Duration, error: Option<&NotAdopted>) {
        let (outcome, took_ms) = (error.map_or("adopted", NotAdopted::as_str), ms(took));
        self.count(Metric::Adoptions, outcome);
        if let Some(why) = error {
            event!(
                WARN HOLD: resource, outcome, took_ms, votes = %Votes(why.nodes()), "not adopted"
            );
        } else {
            event!(DEBUG HOLD: resource, outcome, took_ms, "adopted");
        }
    }
}
