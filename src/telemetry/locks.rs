//! What the driver sees of attempts, of held locks, and of guards that were given up.

#[cfg(feature = "tracing")]
use super::acquires::Waiting;
#[cfg(feature = "tracing")]
use super::traced::{ACQUIRE, HOLD, Votes, ms};
use super::{Span, Telemetry};
use crate::driver::LeaseState;
use crate::error::LossReason;
use quorumlock_core::coordinator::{
    AttemptId, FailureKind, NotAdopted, Observation, RequestId, WATCHED,
};
use quorumlock_core::quorum::{Instant, Progress};
use std::sync::Arc;
use std::time::Duration;
#[cfg(feature = "tracing")]
use tracing::{debug, info, warn};

impl Telemetry {
    /// Reports an observation of the machine. An acquire is found by its request, and a lock by its
    /// attempt, unless its guard was given up in the meantime.
    #[inline]
    pub(crate) fn observed<'a>(
        &self,
        now: Instant,
        observation: &Observation,
        acquire: impl FnOnce(RequestId) -> Option<(&'a Span, &'a str)>,
        hold: impl FnOnce(AttemptId) -> Option<&'a LeaseState>,
    ) {
        if !WATCHED {
            return;
        }
        #[cfg(feature = "tracing")]
        let named = |attempt: AttemptId| hold(attempt).map(|hold| (hold, &*hold.resource)).unzip();
        match observation {
            Observation::Attempt { request, number, result, took, votes } => {
                let Some((span, resource)) = acquire(*request) else { return };
                #[cfg(feature = "metrics")]
                if result.is_ok() {
                    self.outlet.meters.winning.record(*took);
                }
                #[cfg(feature = "tracing")]
                {
                    span.attempted(*number);
                    let verdict = result.as_ref().map_or_else(FailureKind::as_str, |()| "won");
                    debug!(
                        target: ACQUIRE, parent: span.id(),
                        resource, attempt = number, verdict, took_ms = ms(*took),
                        votes = %Votes(votes), "attempt"
                    );
                }
            }
            Observation::Waits { request, waits_for, left, ahead } => {
                #[cfg(feature = "tracing")]
                if let Some((span, resource)) = acquire(*request)
                    && span.waits(Waiting { waits_for, is_dated: left.is_some(), ahead: *ahead })
                {
                    debug!(
                        target: ACQUIRE, parent: span.id(),
                        resource, waits_for, left_ms = left.map(ms), ahead, "waiting"
                    );
                }
            }
            Observation::LastExtension { attempt, left } => {
                #[cfg(feature = "tracing")]
                {
                    let (_, resource): (_, Option<&str>) = named(*attempt);
                    warn!(
                        target: HOLD, parent: None,
                        resource, reason = "max_hold", left_ms = ms(*left), "cannot be extended"
                    );
                }
            }
            Observation::Extension { attempt, by_keeper, progress, took, votes } => {
                let outcome = progress.as_str();
                #[cfg(feature = "metrics")]
                self.outlet.meters.extensions.count(outcome);
                #[cfg(feature = "tracing")]
                {
                    let took_ms = ms(*took);
                    let (hold, resource): (Option<&LeaseState>, _) = named(*attempt);
                    if let Progress::Extended(_) = progress {
                        debug!(
                            target: HOLD, parent: None,
                            resource, by_keeper, outcome, took_ms, "extended"
                        );
                    } else {
                        let left_ms = hold.map(|hold| ms(hold.deadline().since(now)));
                        warn!(
                            target: HOLD, parent: None, resource, by_keeper, outcome, left_ms,
                            took_ms, votes = %Votes(votes), "not extended"
                        );
                    }
                }
            }
            Observation::ToppedUp { attempt, node } => {
                #[cfg(feature = "tracing")]
                {
                    let (_, resource): (_, Option<&str>) = named(*attempt);
                    let node = &**node;
                    debug!(target: HOLD, parent: None, resource, node, "topped up");
                }
            }
        }
    }

    /// Reports that a hold is over before its guard was given up.
    #[inline]
    pub(crate) fn lost(&self, now: Instant, hold: &LeaseState, reason: &LossReason) {
        // Nothing is lost with a guard that was given up.
        if !WATCHED || *reason == LossReason::Released {
            return;
        }
        let (held, word) = (hold.held_for(now), reason.as_str());
        #[cfg(feature = "metrics")]
        {
            self.outlet.meters.losses.count(word);
            self.outlet.meters.held.record(held);
        }
        #[cfg(feature = "tracing")]
        {
            let votes = match reason {
                LossReason::QuorumGone(nodes) => Votes(nodes),
                _ => Votes(&[]),
            };
            let resource = &*hold.resource;
            warn!(
                target: HOLD, parent: None, resource, reason = word, held_ms = ms(held), %votes, "lost"
            );
        }
    }

    /// Reports that a guard was given up. `hold` is `None` if its loss has been reported before.
    /// `request` is set if a caller waits for the outcome of its release.
    #[inline]
    pub(crate) fn given_up(
        &mut self,
        now: Instant,
        hold: Option<&LeaseState>,
        request: Option<RequestId>,
        in_time: bool,
    ) {
        if !WATCHED {
            return;
        }
        if let Some(hold) = hold.filter(|_| !in_time) {
            self.lost(now, hold, &LossReason::Lapsed);
        }
        let lock = self.end(now, hold, in_time);
        match request {
            Some(request) => drop(self.releasing.insert(request, lock)),
            None => self.report_release(lock, "dropped"),
        }
    }

    /// Reports that a guard was given up, and that its key stays.
    #[inline]
    pub(crate) fn forgotten(&self, now: Instant, hold: Option<&LeaseState>) {
        if WATCHED {
            self.report_release(self.end(now, hold, true), "forgotten");
        }
    }

    /// Reports that a guard was given up, and that its lock goes to another process.
    #[inline]
    pub(crate) fn detached(&self, now: Instant, hold: Option<&LeaseState>) {
        if WATCHED {
            self.report_release(self.end(now, hold, true), "detached");
        }
    }

    /// Reports an adoption: the first extension of a lock that another process has detached.
    #[inline]
    pub(crate) fn adopted(&self, resource: &str, took: Duration, error: Option<&NotAdopted>) {
        if !WATCHED {
            return;
        }
        let outcome = error.map_or("adopted", NotAdopted::as_str);
        #[cfg(feature = "metrics")]
        self.outlet.meters.adoptions.count(outcome);
        #[cfg(feature = "tracing")]
        {
            let took_ms = ms(took);
            match error {
                None => debug!(target: HOLD, parent: None, resource, outcome, took_ms, "adopted"),
                Some(why) => {
                    let votes = Votes(why.nodes());
                    warn!(
                        target: HOLD, parent: None, resource, outcome, took_ms, %votes, "not adopted"
                    );
                }
            }
        }
    }

    /// Reports the outcome of a release.
    #[inline]
    pub(crate) fn released(&mut self, request: RequestId, outcome: &'static str) {
        if WATCHED {
            let lock = self.releasing.remove(&request).flatten();
            self.report_release(lock, outcome);
        }
    }

    /// Returns what was locked, and for how long.
    fn end(
        &self,
        now: Instant,
        hold: Option<&LeaseState>,
        in_time: bool,
    ) -> Option<(Arc<str>, Duration)> {
        let hold = hold?;
        let held = hold.held_for(now);
        #[cfg(feature = "metrics")]
        if in_time {
            self.outlet.meters.held.record(held);
        }
        Some((hold.resource.clone(), held))
    }

    fn report_release(&self, lock: Option<(Arc<str>, Duration)>, outcome: &'static str) {
        #[cfg(feature = "metrics")]
        self.outlet.meters.releases.count(outcome);
        #[cfg(feature = "tracing")]
        {
            let resource = lock.as_ref().map(|(resource, _)| &**resource);
            let held_ms = lock.as_ref().map(|(_, held)| ms(*held));
            if outcome == "unconfirmed" {
                info!(target: HOLD, parent: None, resource, outcome, held_ms, "released");
            } else {
                debug!(target: HOLD, parent: None, resource, outcome, held_ms, "released");
            }
        }
    }
}
