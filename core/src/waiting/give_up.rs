//! The end of an acquire that has not won.

use super::pause::set_timer;
use super::{Acquisition, Phase, Step, Waiters};
use crate::shared::{Cx, RequestId};

impl Waiters {
    /// Ends an acquire that has not won: frees its places, or takes it out of the queue.
    pub(crate) fn end(&mut self, cx: &mut Cx, request: RequestId) -> Option<Acquisition> {
        let mut acquisition = self.acquisitions.remove(request)?;
        self.backlog.leave(request);
        self.leave(cx, request, &mut acquisition, false);
        Some(acquisition)
    }

    /// Ends a wait that was over before its last attempt could begin. The answer is the outcome of
    /// the attempt before that.
    pub(crate) fn give_up(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(acquisition) = self.end(cx, request) else { return };
        let in_front = self.failure_in_front(&acquisition.request.keys);
        cx.events.push(acquisition.not_served(request, cx.now, in_front));
    }

    /// Cancels an acquire whose caller is gone: what it began is rolled back.
    pub(crate) fn cancel(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(acquisition) = self.end(cx, request) else {
            return self.cancel_seeking(cx, request);
        };
        set_timer(cx, request, acquisition.due_at(), None);
        if let Some(&Phase::Trying { round, attempt, .. }) = acquisition.phase() {
            self.steps.push(Step::Withdraw { round, attempt });
        }
    }
}
