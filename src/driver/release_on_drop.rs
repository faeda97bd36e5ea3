//! The way of a lock to its caller, and the ways in which its guard gives it up.

use super::{Handle, LeaseState, ReleaseResult, Request};
use crate::failure::{Closed, LossReason, Lost};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A lock that was won, on its way to its caller. It is released when dropped, unless the caller has
/// picked it up.
pub(crate) struct ReleaseOnDrop {
    driver: Handle,
    hold: Arc<LeaseState>,
}

impl ReleaseOnDrop {
    pub(crate) const fn new(driver: Handle, hold: Arc<LeaseState>) -> Self {
        Self { driver, hold }
    }

    /// Hands the lock to the caller, unless it is already over. If it is, nothing stays behind: it had lapsed, or was
    /// lost, before the caller looked, or it was taken back, since the client was shut down or the driver is gone.
    pub(crate) fn pick_up(self) -> Result<(Handle, Arc<LeaseState>), Option<Closed>> {
        let Self { driver, hold } = &self;
        match hold.check(driver.now()) {
            Err(Lost { reason: LossReason::Closed | LossReason::Broken(_), .. }) => {
                Err(Some(driver.closed()))
            }
            Err(_) => Err(None),
            Ok(_) if hold.pick_up() => Ok((driver.clone(), hold.clone())),
            Ok(_) => Err(Some(driver.closed())),
        }
    }
}

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        if !self.hold.is_picked_up() {
            let _ = self.driver.release(&self.hold, false, false);
        }
    }
}

impl Handle {
    /// Sends the release of a lock, unless its guard is gone. It is on its way when this returns. The keys are deleted
    /// at once, regardless of the options of the acquire; after work that `ends_well`, as these say: the keys stay for
    /// [`min_hold`](crate::Acquire::min_hold), or the lock for [`keep_warm`](crate::Acquire::keep_warm) in this
    /// process. A caller that `waits` gets its outcome, or `None` if the lock stays, and the driver need not know.
    pub(crate) fn release(
        &self,
        hold: &LeaseState,
        ends_well: bool,
        waits: bool,
    ) -> Option<oneshot::Receiver<ReleaseResult>> {
        if !hold.part() {
            return waits.then(|| oneshot::channel().1);
        }
        let now = self.now();
        // From here on, no lease of this guard may report that it is valid.
        let in_time = hold.give_up(now);
        if in_time && ends_well && self.is_here() && hold.put_back(now) {
            self.outlet().kept(Some(hold.held(now)), "idle");
            return None;
        }
        let (reply, answer) = waits.then(oneshot::channel).unzip();
        // No caller has relied on a lock that none has picked up, so no delay need be kept.
        let in_time = hold.take_back() || in_time;
        let (request, attempt) = (self.next_request(), hold.attempt);
        self.claim(hold);
        self.send(Request::Release { request, attempt, in_time, ends_well, reply });
        answer
    }

    /// Gives a lock up and keeps its key, which stays until it expires.
    pub(crate) fn forget(&self, hold: &LeaseState) {
        if hold.part() {
            hold.give_up(self.now());
            self.claim(hold);
            let attempt = hold.attempt;
            self.run(move |callers, machine, now| {
                let hold = callers.holds.remove(attempt);
                let held = hold.as_ref().map(|hold| hold.held(now));
                callers.telemetry.outlet.kept(held, "forgotten");
                machine.handle_forget(now, attempt);
            });
        }
    }
}
