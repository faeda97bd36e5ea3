//! What releases a lock when it goes: the core of every guard, and what travels to a caller.

use crate::coordinator::AttemptId;
use crate::driver::Message;
use crate::error::{Lost, LostReason};
use crate::guard::Released;
use crate::hold::Hold;
use crate::redlock::Redlock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// A held lock of whichever kind. Nobody needs to have picked it up: dropped, it is released.
pub(crate) struct Held {
    pub(crate) redlock: Redlock,
    pub(crate) attempt: AttemptId,
    pub(crate) hold: Arc<Hold>,
    given_up: bool,
}

impl Held {
    pub(crate) const fn new(redlock: Redlock, attempt: AttemptId, hold: Arc<Hold>) -> Self {
        Self { redlock, attempt, hold, given_up: false }
    }

    pub(crate) fn check(&self) -> Result<Duration, Lost> {
        self.hold.check(self.redlock.now())
    }

    /// Lost before the caller could look. Dropped then, it leaves nothing behind.
    pub(crate) fn came_too_late(&self) -> bool {
        self.check().is_err_and(|lost| lost.reason() != &LostReason::Closed)
    }

    /// The caller has it. `false` if it was taken back: shut down, or the driver has gone.
    pub(crate) fn pick_up(&self) -> bool {
        let closed = |lost: &Lost| lost.reason() == &LostReason::Closed;
        self.hold.pick_up() && !self.check().is_err_and(|lost| closed(&lost))
    }

    /// On its way when this returns, whether or not somebody waits for the outcome.
    pub(crate) fn release(mut self) -> oneshot::Receiver<Released> {
        let (reply, answer) = oneshot::channel();
        self.send_release(Some(reply));
        answer
    }

    /// The key stays until it expires.
    pub(crate) fn leave(mut self) {
        self.given_up = true;
        self.hold.give_up(self.redlock.now());
        self.redlock.send(Message::Leave(self.attempt));
    }

    fn send_release(&mut self, reply: Option<oneshot::Sender<Released>>) {
        if !self.given_up {
            self.given_up = true;
            // From here on no lease of this guard may say that it is valid.
            let in_time = self.hold.give_up(self.redlock.now());
            // What nobody has picked up, nobody has relied on: no delay need be kept.
            let in_time = self.hold.pick_up() || in_time;
            let (request, attempt) = (self.redlock.next_request(), self.attempt);
            self.redlock.send(Message::Release { request, attempt, in_time, reply });
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.send_release(None);
    }
}
