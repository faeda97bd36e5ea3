//! What the driver sees of attempts, of held locks, and of guards that were given up.

use super::observer::Subject;
use super::{Held, Outlet, Span, Telemetry};
use crate::failure::LossReason;
use quorumlock_core::coordinator::{AttemptId, NotAdopted, Observation, RequestId, WATCHED};
use std::sync::Arc;
use std::time::Duration;

impl Telemetry {
    /// Reports an observation of the machine. An acquire is found by its request. A lock, and the time until
    /// its deadline, is found by its attempt, unless its guard was given up in the meantime. What no guard has is
    /// found by its key.
    #[inline]
    pub(crate) fn observed<'a>(
        &self,
        observation: &Observation,
        acquire: impl FnOnce(RequestId) -> Option<(&'a Span, &'a str)>,
        hold: impl FnOnce(AttemptId) -> Option<(&'a str, Duration)>,
        resource_of: impl FnOnce(&Arc<str>) -> Arc<str>,
    ) {
        if !WATCHED {
            return;
        }
        let named;
        let subject = match observation {
            Observation::Attempt { request, .. }
            | Observation::Waits { request, .. }
            | Observation::Reused { request } => {
                let Some((span, resource)) = acquire(*request) else { return };
                Subject { span: Some(span), resource: Some(resource), left: None }
            }
            Observation::LastExtension { attempt, .. }
            | Observation::Extension { attempt, .. }
            | Observation::ToppedUp { attempt, .. } => {
                let (resource, left) = hold(*attempt).unzip();
                Subject { span: None, resource, left }
            }
            Observation::PausesWarm => Subject { span: None, resource: None, left: None },
            Observation::IdleReleased { key, .. } => {
                named = resource_of(key);
                Subject { span: None, resource: Some(&named), left: None }
            }
        };
        self.outlet.each(|observer| observer.observed(observation, &subject));
    }

    /// Reports that a hold is over before its guard was given up.
    #[inline]
    pub(crate) fn lost(&self, hold: Held<'_>, reason: &LossReason) {
        // Nothing is lost with a guard that was given up.
        if WATCHED && *reason != LossReason::Released {
            self.outlet.each(|observer| observer.lost(&hold, reason));
        }
    }

    /// Reports that a client elsewhere has asked for a lock that a guard has.
    #[inline]
    pub(crate) fn wanted(&self, resource: &str) {
        if WATCHED {
            self.outlet.each(|observer| observer.wanted(resource));
        }
    }

    /// Reports that a guard was given up. `hold` is `None` if its loss has been reported before.
    /// `request` is set if a caller waits for the outcome of its release.
    #[inline]
    pub(crate) fn given_up(
        &mut self,
        hold: Option<Held<'_>>,
        request: Option<RequestId>,
        in_time: bool,
    ) {
        if !WATCHED {
            return;
        }
        match hold {
            Some(hold) if in_time => self.outlet.each(|observer| observer.given_up_in_time(&hold)),
            Some(hold) => self.lost(hold, &LossReason::Lapsed),
            None => {}
        }
        let lock = hold.map(|hold| (hold.resource.clone(), hold.held));
        match request {
            Some(request) => drop(self.releasing.insert(request, lock)),
            None => self.outlet.report_release(lock, "dropped"),
        }
    }

    /// Reports that a guard was given up, and that its key stays.
    #[inline]
    pub(crate) fn forgotten(&self, hold: Option<Held<'_>>) {
        self.outlet.kept(hold, "forgotten");
    }

    /// Reports that a guard was given up, and that its lock is kept warm.
    #[inline]
    pub(crate) fn given_back(&self, hold: Option<Held<'_>>) {
        self.outlet.given_back(hold);
    }

    /// Reports that a guard was given up, and that its lock goes to another process.
    #[inline]
    pub(crate) fn detached(&self, hold: Option<Held<'_>>) {
        self.outlet.kept(hold, "detached");
    }

    /// Reports an adoption: the first extension of a lock that another process has detached.
    #[inline]
    pub(crate) fn adopted(&self, resource: &str, took: Duration, error: Option<&NotAdopted>) {
        if WATCHED {
            let outcome = error.map_or("adopted", NotAdopted::as_str);
            self.outlet.each(|observer| observer.adopted(resource, took, outcome, error));
        }
    }

    /// Reports the outcome of a release.
    #[inline]
    pub(crate) fn released(&mut self, request: RequestId, outcome: &'static str) {
        if WATCHED {
            let lock = self.releasing.remove(&request).flatten();
            self.outlet.report_release(lock, outcome);
        }
    }
}

impl Outlet {
    /// Reports the same where its caller gives the lock back by itself.
    #[inline]
    pub(crate) fn given_back(&self, hold: Option<Held<'_>>) {
        self.kept(hold, "idle");
    }

    fn kept(&self, hold: Option<Held<'_>>, outcome: &'static str) {
        if WATCHED {
            if let Some(hold) = hold {
                self.each(|observer| observer.given_up_in_time(&hold));
            }
            self.report_release(hold.map(|hold| (hold.resource.clone(), hold.held)), outcome);
        }
    }

    fn report_release(&self, lock: Option<(Arc<str>, Duration)>, outcome: &'static str) {
        let lock = lock.as_ref().map(|(resource, held)| (&**resource, *held));
        self.each(|observer| observer.released(lock, outcome));
    }
}
