//! The end of the driver, and its effect on callers that have a lock.

use super::Callers;
use crate::driver::Handle;
use crate::failure::{LossReason, Why};
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;
use tokio::sync::oneshot;

impl Handle {
    /// Closes the client, and completes when the driver has ended.
    pub(crate) async fn close(&self) {
        let (reply, ended) = oneshot::channel::<()>();
        self.run(|callers, machine, now| {
            // Dropped, not answered: by the driver when it ends.
            callers.closers.push(reply);
            callers.close(machine, now);
        });
        let _ = ended.await;
    }
}

impl Callers {
    fn close(&mut self, machine: &mut Coordinator, now: Instant) {
        self.closing = true;
        self.unready.clear();
        self.waiting.close();
        self.take_back(machine, now);
        machine.handle_shutdown(now);
        // A caller may have taken an idle lock.
        self.learn_in_use();
        self.take_back(machine, now);
    }

    /// Returns why the driver ends.
    pub(in crate::driver) fn why(&self) -> Why {
        self.broken.map_or(Why::Ended, |broken| Why::Broken(broken.as_str()))
    }

    /// Releases guards on their way to callers that have not looked yet, as `Closed` promises.
    fn take_back(&mut self, machine: &mut Coordinator, now: Instant) {
        for hold in self.holds.drain() {
            if hold.take_back() {
                hold.end(now, LossReason::Closed);
                machine.handle_release(now, None, hold.attempt, true);
            } else {
                self.holds.keep(hold);
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
