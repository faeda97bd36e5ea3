//! The driver's view of attempts, of held locks, and of guards that were given up.

#[cfg(feature = "tracing")]
use super::redacted::Votes;
use super::table::Metric;
use super::{ACQUIRE, HOLD, Outlet, ms};
use crate::driver::{Acquirer, Callers};
use crate::failure::LossReason;
use quorumlock_core::coordinator::{AttemptId, FailureKind, NotAdopted, Observation};
use quorumlock_core::quorum::{Instant, Progress};
use std::sync::Arc;
use std::time::Duration;

/// A held lock, and for how long it was held.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    pub(crate) resource: &'a Arc<str>,
    pub(crate) held: Duration,
}

impl Callers {
    /// Reports an observation of the machine. A lock is not found by its attempt if its guard was given up in the
    /// meantime.
    #[inline]
    pub(crate) fn observed(&self, now: Instant, observation: &Observation) {
        let (outlet, acquirers) = (&self.telemetry.outlet, &self.waiting.acquirers);
        let hold = |attempt: &AttemptId| {
            let hold = self.holds.get(*attempt)?;
            Some((&*hold.resource, hold.deadline().since(now)))
        };
        match observation {
            Observation::Attempt { request, number, result, took, votes } => {
                let Some(Acquirer { span, resource, .. }) = acquirers.get(request) else { return };
                let resource = &**resource;
                if result.is_ok() {
                    outlet.time(Metric::AcquireDuration, "", *took);
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
                let Some(Acquirer { span, resource, .. }) = acquirers.get(request) else { return };
                let resource = &**resource;
                #[cfg(feature = "tracing")]
                if span.waits(waits_for, left.is_some(), *ahead) {
                    event!(
                        DEBUG in span: resource, waits_for, left_ms = left.map(ms), ahead, "waiting"
                    );
                }
            }
            Observation::Reused { request } => {
                acquirers.get(request).inspect(|acquirer| acquirer.span.reused());
            }
            Observation::LastExtension { attempt, left } => {
                let (resource, _) = hold(attempt).unzip();
                event!(
                    WARN HOLD: resource, reason = "max_hold", left_ms = ms(*left),
                    "cannot be extended"
                );
            }
            Observation::Extension { attempt, by_keeper, progress, took, votes } => {
                let (resource, left) = hold(attempt).unzip();
                let (outcome, took_ms, left_ms) = (progress.as_str(), ms(*took), left.map(ms));
                outlet.count(Metric::Extensions, outcome);
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
                let (resource, _) = hold(attempt).unzip();
                event!(DEBUG HOLD: resource, node = &**node, "topped up");
            }
            Observation::PausesWarm => outlet.count(Metric::WarmPauses, ""),
            Observation::IdleReleased { key, reason } => {
                let resource = &*self.resource(key);
                event!(DEBUG HOLD: resource, reason = reason.as_str(), "idle released");
            }
        }
    }
}

impl Outlet {
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
