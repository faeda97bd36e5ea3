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

/// Reason why a lock that was won does not belong to its caller.
pub(crate) enum Missed {
    /// It had lapsed, or was lost, before the caller looked.
    TooLate,
    /// It was taken back: the client was shut down, or the driver is gone.
    Closed(Closed),
}

impl ReleaseOnDrop {
    pub(crate) const fn new(driver: Handle, hold: Arc<LeaseState>) -> Self {
        Self { driver, hold }
    }

    /// Hands the lock to the caller, unless it is already over. If it is, nothing stays behind.
    pub(crate) fn pick_up(self) -> Result<(Handle, Arc<LeaseState>), Missed> {
        let Self { driver, hold } = &self;
        match hold.check(driver.now()) {
            Err(Lost { reason: LossReason::Closed | LossReason::Broken(_), .. }) => {
                Err(Missed::Closed(driver.closed()))
            }
            Err(_) => Err(Missed::TooLate),
            Ok(_) if hold.pick_up() => Ok((driver.clone(), hold.clone())),
            Ok(_) => Err(Missed::Closed(driver.closed())),
        }
    }
}

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        if !self.hold.is_picked_up() {
            self.driver.release(&self.hold, None);
        }
    }
}

impl Handle {
    /// Sends the release of a lock, unless its guard is gone: the keys are deleted at once, regardless of the
    /// options of its acquire. The release is on its way when this returns, whether or not a caller waits for the
    /// outcome.
    pub(crate) fn release(&self, hold: &LeaseState, reply: Option<oneshot::Sender<ReleaseResult>>) {
        if hold.part() {
            let in_time = hold.give_up(self.now());
            self.send_release(hold, in_time, false, reply);
        }
    }

    /// Does the same after work that has ended well, as the acquire has asked: the keys stay for
    /// [`min_hold`](crate::Acquire::min_hold), or the lock for [`keep_warm`](crate::Acquire::keep_warm) in this
    /// process. `None` if it stays, and the driver need not know.
    pub(crate) fn finish(&self, hold: &LeaseState) -> Option<oneshot::Receiver<ReleaseResult>> {
        let is_ours = hold.part();
        let now = self.now();
        // From here on, no lease of this guard may report that it is valid.
        let in_time = is_ours && hold.give_up(now);
        if in_time && self.is_here() && hold.put_back(now) {
            self.outlet().kept(Some(hold.held(now)), "idle");
            return None;
        }
        let (reply, answer) = oneshot::channel();
        if is_ours {
            self.send_release(hold, in_time, true, Some(reply));
        }
        Some(answer)
    }

    fn send_release(
        &self,
        hold: &LeaseState,
        in_time: bool,
        ends_well: bool,
        reply: Option<oneshot::Sender<ReleaseResult>>,
    ) {
        // No caller has relied on a lock that none has picked up, so no delay need be kept.
        let in_time = hold.take_back() || in_time;
        let (request, attempt) = (self.next_request(), hold.attempt);
        self.claim(hold);
        self.send(Request::Release { request, attempt, in_time, ends_well, reply });
    }

    /// Gives a lock up and keeps its key, which stays until it expires.
    pub(crate) fn forget(&self, hold: &LeaseState) {
        if hold.part() {
            hold.give_up(self.now());
            self.claim(hold);
            self.send(Request::Forget(hold.attempt));
        }
    }
}
