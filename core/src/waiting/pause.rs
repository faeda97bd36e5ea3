//! The pause before the next attempt: what shortens it, and what observers see of it.

use super::{Phase, Waiters};
use crate::questions::remaining::Reported;
use crate::quorum::Instant;
use crate::shared::{AttemptId, Cx, Event, FailureKind, Observation, RequestId, Timer, Watching};

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
        if matches!(contention.phase, Phase::Waiting { failed, .. } if failed == attempt) {
            contention.learn(node, life);
            if let Some(sooner) = contention.shorten(&cx.masters.settings) {
                self.try_sooner(cx, request, sooner);
            }
        }
    }

    /// Moves the next attempt of an acquire from its old time to its new one.
    pub(crate) fn try_sooner(
        &self,
        cx: &mut Cx,
        request: RequestId,
        (old, new): (Instant, Instant),
    ) {
        cx.timers.cancel(old, Timer::Attempt(request));
        cx.timers.set(new, Timer::Attempt(request));
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
