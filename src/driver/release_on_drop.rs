//! A lock that is released when dropped: the core of every guard, and what travels to a caller.

use super::{Handle, LeaseState, Message};
use crate::error::{Lost, LostReason};
use crate::released::Released;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// A held lock of any kind. It is released when dropped, even if no caller has picked it up.
pub(crate) struct ReleaseOnDrop {
    pub(crate) driver: Handle,
    pub(crate) hold: Arc<LeaseState>,
}

/// Reason why a lock that was won does not belong to its caller.
pub(crate) enum Missed {
    /// It had lapsed, or was lost, before the caller looked.
    TooLate,
    /// It was taken back: the client was shut down, or the driver is gone.
    Closed,
}

impl ReleaseOnDrop {
    pub(crate) const fn new(driver: Handle, hold: Arc<LeaseState>) -> Self {
        Self { driver, hold }
    }

    pub(crate) fn check(&self) -> Result<Duration, Lost> {
        self.hold.check(self.driver.now())
    }

    /// Hands the lock to the caller, unless it is already over. If it is, nothing stays behind when
    /// it is dropped.
    pub(crate) fn pick_up(&self) -> Result<(), Missed> {
        match self.check() {
            Err(lost) if lost.reason() == &LostReason::Closed => Err(Missed::Closed),
            Err(_) => Err(Missed::TooLate),
            Ok(_) if self.hold.pick_up() => Ok(()),
            Ok(_) => Err(Missed::Closed),
        }
    }

    /// Sends the release, which is on its way when this returns, whether or not a caller waits for
    /// the outcome.
    pub(crate) fn release(self) -> oneshot::Receiver<Released> {
        let (reply, answer) = oneshot::channel();
        self.send_release(Some(reply));
        answer
    }

    /// Leaves the key, which stays until it expires.
    pub(crate) fn leave(self) {
        if self.hold.part() {
            self.hold.give_up(self.driver.now());
            self.driver.send(Message::Leave(self.hold.attempt));
        }
    }

    fn send_release(&self, reply: Option<oneshot::Sender<Released>>) {
        if self.hold.part() {
            // From here on, no lease of this guard may report that it is valid.
            let in_time = self.hold.give_up(self.driver.now());
            // No caller has relied on a lock that none has picked up, so no delay need be kept.
            let in_time = self.hold.pick_up() || in_time;
            let (request, attempt) = (self.driver.next_request(), self.hold.attempt);
            self.driver.send(Message::Release { request, attempt, in_time, reply });
        }
    }
}

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        self.send_release(None);
    }
}
