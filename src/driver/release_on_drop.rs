//! What releases a lock when it goes: the core of every guard, and what travels to a caller.

use super::{Handle, LeaseState, Message};
use crate::error::{Lost, LostReason};
use crate::released::Released;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// A held lock of whichever kind. Nobody needs to have picked it up: dropped, it is released.
pub(crate) struct ReleaseOnDrop {
    pub(crate) driver: Handle,
    pub(crate) hold: Arc<LeaseState>,
}

/// Why a lock that was won is not its caller's.
pub(crate) enum Missed {
    /// It had lapsed, or was lost, before the caller looked.
    TooLate,
    /// It was taken back: shut down, or the driver has gone.
    Closed,
}

impl ReleaseOnDrop {
    pub(crate) const fn new(driver: Handle, hold: Arc<LeaseState>) -> Self {
        Self { driver, hold }
    }

    pub(crate) fn check(&self) -> Result<Duration, Lost> {
        self.hold.check(self.driver.now())
    }

    /// The caller has it now, unless it is over by then: dropped, it leaves nothing behind.
    pub(crate) fn pick_up(&self) -> Result<(), Missed> {
        match self.check() {
            Err(lost) if lost.reason() == &LostReason::Closed => Err(Missed::Closed),
            Err(_) => Err(Missed::TooLate),
            Ok(_) if self.hold.pick_up() => Ok(()),
            Ok(_) => Err(Missed::Closed),
        }
    }

    /// On its way when this returns, whether or not somebody waits for the outcome.
    pub(crate) fn release(self) -> oneshot::Receiver<Released> {
        let (reply, answer) = oneshot::channel();
        self.send_release(Some(reply));
        answer
    }

    /// The key stays until it expires.
    pub(crate) fn leave(self) {
        if self.hold.part() {
            self.hold.give_up(self.driver.now());
            self.driver.send(Message::Leave(self.hold.attempt));
        }
    }

    fn send_release(&self, reply: Option<oneshot::Sender<Released>>) {
        if self.hold.part() {
            // From here on no lease of this guard may say that it is valid.
            let in_time = self.hold.give_up(self.driver.now());
            // What nobody has picked up, nobody has relied on: no delay need be kept.
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
