//! The line of a lock that is kept warm: which client has the hold next, without the masters.

use super::{Step, Waiters, Won};
use crate::shared::{AcquireRequest, AttemptId, Cx, Keys, RequestId};
use crate::waiting::tuning::LOCKS_IN_A_ROW;

/// The next holder of a lock that its guard gives back.
pub(crate) enum NextHolder {
    /// No client is known to wait for it.
    NoClient,
    /// The first that waits in this process.
    InThisProcess(RequestId),
    /// A client in another process may have its turn.
    Elsewhere,
}

impl Waiters {
    /// Decides which acquire has the hold of these keys next.
    pub(crate) fn next_holder(&self, keys: &Keys) -> NextHolder {
        let Some(line) = self.local_queue.line(keys.first()) else { return NextHolder::NoClient };
        match self.local_queue.head(keys.first()) {
            Some(request) if line.may_pass_on_warm(LOCKS_IN_A_ROW) => {
                NextHolder::InThisProcess(request)
            }
            None if !line.wanted_elsewhere => NextHolder::NoClient,
            _ => NextHolder::Elsewhere,
        }
    }

    /// Has waiters in other processes notified when these keys are next released.
    pub(crate) fn notify_others(&mut self, keys: &Keys) {
        if let Some(line) = self.local_queue.line_mut(keys.first()) {
            line.notify_next(LOCKS_IN_A_ROW);
        }
    }

    /// Notes that the hold of these keys is idle.
    pub(crate) fn left_idle(&mut self, keys: &Keys, id: AttemptId) {
        self.local_queue.idle.insert(keys.first().clone(), id);
    }

    /// Notes that a guard has the hold of these keys that was thought to be idle.
    pub(crate) fn occupy_idle(&mut self, keys: &Keys) {
        self.local_queue.idle.remove(keys.first());
    }

    /// Handles that an acquire, for which a hold was thought to be idle, has to wait for its guard.
    pub(crate) fn found_in_use(&mut self, cx: &mut Cx, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        if acquisition.may_retry(cx.now) {
            cx.events.queued(request, &self.obstacle_here(&acquisition.request.keys));
        } else {
            self.give_up(cx, request);
        }
    }

    /// Returns the hold that is idle under `key`.
    pub(crate) fn idle(&self, key: &str) -> Option<AttemptId> {
        self.local_queue.idle.get(key).copied()
    }

    /// Returns what an acquire has asked for.
    pub(crate) fn request(&self, request: RequestId) -> Option<&AcquireRequest> {
        self.acquisitions.get(request).map(|acquisition| &acquisition.request)
    }

    /// Releases what is idle under these keys, for an acquire that asks the masters without a place.
    pub(crate) fn make_way(&mut self, keys: &Keys) {
        for key in keys.iter() {
            self.idle(key).into_iter().for_each(|id| self.steps.push(Step::MakeWay(id)));
        }
    }

    /// Ends an acquire that waited in this process and has got the hold of these keys.
    pub(crate) fn won_without_masters(
        &mut self,
        cx: &mut Cx,
        request: RequestId,
        keys: &Keys,
    ) -> Won {
        self.end_pause(cx, request);
        self.local_queue.passed_on(keys.first());
        self.won(cx, request)
    }
}
