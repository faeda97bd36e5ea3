//! The pause before the next attempt: what shortens it, and what observers see of it.

use super::{Acquisition, Phase, Waiters};
use crate::questions::remaining::Reported;
use crate::quorum::Instant;
use crate::shared::{AttemptId, Cx, Event, FailureKind, Observation, RequestId, Timer, Watching};

/// Moves the timer of a waiter: of an acquire, or of one that seeks a permit.
pub(super) fn set_timer(
    cx: &mut Cx,
    request: RequestId,
    before: Option<Instant>,
    after: Option<Instant>,
) {
    before.into_iter().for_each(|at| cx.timers.cancel(at, Timer::Attempt(request)));
    after.into_iter().for_each(|at| cx.timers.set(at, Timer::Attempt(request)));
}

impl Acquisition {
    /// Returns when it goes on by itself, if it pauses.
    pub(super) fn due_at(&self) -> Option<Instant> {
        match self.phase() {
            None => Some(self.until()),
            Some(Phase::Waiting { again_at: at, .. } | Phase::InLine { until: at, .. }) => {
                Some(*at)
            }
            Some(Phase::Confirming | Phase::Trying { .. }) => None,
        }
    }
}

impl Waiters {
    /// Learns the remaining life of the key that has refused the latest attempt, from a node that was not
    /// waited for.
    pub(crate) fn learn_remaining(
        &mut self,
        cx: &mut Cx,
        node: usize,
        request: RequestId,
        attempt: AttemptId,
        reported: &Reported<'_>,
    ) {
        let Some(life) = reported.life else { return };
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        if let Phase::Waiting { failed, since, .. } = contention.phase
            && failed == attempt
        {
            contention.remaining.push((node, life));
            // The pause of a waiter in a list is by its place.
            if contention.place.entry.is_none()
                && let Some(at) = contention.pause_from(since, &cx.masters.settings)
            {
                self.pause_at_most(cx, request, at);
            }
        }
    }

    /// Begins the pause of an acquire, as its phase says.
    pub(super) fn begin_pause(&self, cx: &mut Cx, request: RequestId) {
        set_timer(cx, request, None, self.acquisitions.get(request).and_then(Acquisition::due_at));
    }

    /// Ends the pause of an acquire that goes on.
    pub(super) fn end_pause(&self, cx: &mut Cx, request: RequestId) {
        set_timer(cx, request, self.acquisitions.get(request).and_then(Acquisition::due_at), None);
    }

    /// Ends the pause of an acquire then, whenever it was to end before.
    pub(super) fn pause_until(&mut self, cx: &mut Cx, request: RequestId, at: Instant) {
        if let Some(contention) = self.acquisitions.contention_mut(request)
            && let Phase::Waiting { again_at, .. } = &mut contention.phase
        {
            set_timer(cx, request, Some(std::mem::replace(again_at, at)), Some(at));
        }
    }

    /// Ends the pause of an acquire then, unless it ends earlier.
    pub(super) fn pause_at_most(&mut self, cx: &mut Cx, request: RequestId, at: Instant) {
        let phase = self.acquisitions.contention(request).map(|contention| &contention.phase);
        if matches!(phase, Some(Phase::Waiting { again_at, .. }) if at < *again_at) {
            self.pause_until(cx, request, at);
        }
    }

    /// Shows observers what an acquire waits for after an attempt that it has lost.
    pub(crate) fn observe_wait(&mut self, cx: &mut Cx, request: RequestId) {
        if !cx.events.shows(Watching::Votes) {
            return;
        }
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let Phase::Waiting { failure, .. } = &contention.phase else { return };
        let ahead = failure.ahead;
        let (waits_for, left) = match &failure.kind {
            FailureKind::Contended(obstacle) => {
                (obstacle.as_str(), contention.may_be_free_in(&cx.masters.settings))
            }
            FailureKind::NoQuorum | FailureKind::TooLate => ("quorum", None),
            FailureKind::Overloaded => ("room", None),
            FailureKind::Disagreement(_) => ("agreement", None),
        };
        cx.events.push(Event::Observed(Observation::Waits { request, waits_for, left, ahead }));
    }
}
