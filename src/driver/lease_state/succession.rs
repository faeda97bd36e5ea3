//! One hold, one guard after the other: a writer's, then a reader's.

use super::LeaseState;
use crate::failure::LossReason;
use crate::kind_name::KindName;
use quorumlock_core::quorum::Instant;

impl LeaseState {
    /// Returns the state for the reader's guard that follows this one. Its caller has it already.
    pub(crate) fn successor(&self) -> Self {
        let (resource, kind) = (self.resource.clone(), KindName::Reader);
        let next = Self::new(self.attempt, resource, kind, self.acquired_at, self.deadline());
        next.claim.take();
        next
    }

    /// Ends the hold for this guard, for the driver: it is that of `next` from now on, until the same
    /// deadline.
    pub(crate) fn hand_on(&self, now: Instant, next: &Self) {
        // An extension may have been won since `next` was made.
        next.extend(self.deadline(), self.is_deadline_final());
        self.end(now, LossReason::Downgraded);
    }

    /// Completes when this hold is over. Unless it was handed on, `next` is over with it then: a driver
    /// that has ended knows nothing of `next`.
    pub(crate) async fn lost_with(&self, next: &Self, now: impl Fn() -> Instant) {
        if self.lost().await.reason != LossReason::Downgraded {
            self.end_too(now(), next);
        }
    }

    /// Ends `next`, for the same reason for which this hold is over.
    pub(crate) fn end_too(&self, now: Instant, next: &Self) {
        next.end(now, self.loss(now).reason);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::at;
    use super::*;
    use quorumlock_core::coordinator::AttemptId;

    fn hold_until(millis: u64) -> LeaseState {
        LeaseState::new(AttemptId::NONE, "r".into(), KindName::Writer, at(0), at(millis))
    }

    #[test]
    fn what_is_handed_on_keeps_its_time_and_ends_for_those_before() {
        let hold = hold_until(100);
        let next = hold.successor();
        assert!(hold.extend(at(200), true), "won after the call, and before the driver saw it");
        hold.hand_on(at(40), &next);
        assert_eq!(hold.check(at(50)).unwrap_err().reason, LossReason::Downgraded);
        assert_eq!((next.deadline(), next.is_deadline_final()), (at(200), true));
        assert_eq!(next.held(at(50)).held, at(50).since(at(0)), "from the win on");
        assert!(!next.take_back(), "no shutdown takes it back as one that no caller has");
    }

    #[test]
    fn what_follows_a_hold_that_is_over_is_over_for_that_reason() {
        let hold = hold_until(100);
        let next = hold.successor();
        hold.end(at(40), LossReason::Closed);
        hold.end_too(at(50), &next);
        assert_eq!(next.check(at(50)).unwrap_err().reason, LossReason::Closed);
    }
}
