//! The end of the driver, and its effect on callers that have a lock.

use super::Callers;
use crate::failure::{LossReason, Why};
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;

impl Callers {
    /// Returns why the driver ends.
    pub(in crate::driver) fn why(&self) -> Why {
        self.broken.map_or(Why::Ended, |broken| Why::Broken(broken.as_str()))
    }

    /// Releases guards on their way to callers that have not looked yet, as `Closed` promises.
    pub(super) fn take_back(&mut self, machine: &mut Coordinator, now: Instant) {
        for hold in self.holds.drain() {
            if hold.take_back() {
                hold.end(now, LossReason::Closed);
                machine.handle_release(now, None, hold.attempt, true);
            } else {
                self.holds.insert(hold);
            }
        }
    }

    /// Ends all holds. The driver ends, and nothing looks after them any more.
    pub(in crate::driver) fn end_holds(&mut self, now: Instant) {
        self.waiting.close();
        self.idle_locks.clear();
        self.learn_in_use();
        let reason =
            self.broken.map_or(LossReason::Closed, |broken| LossReason::Broken(broken.as_str()));
        for hold in self.holds.drain() {
            self.telemetry.outlet.lost(hold.held(now), &reason);
            hold.end(now, reason.clone());
        }
    }
}
