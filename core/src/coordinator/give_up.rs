//! The end of an acquire that has not won.

use super::acquisition::Acquisition;
use super::contention::Phase;
use super::timers::Timer;
use super::{Coordinator, RequestId};
use crate::quorum::Instant;

impl Coordinator {
    /// Ends an acquire that has not won: frees its places, or takes it out of the queue.
    pub(super) fn end_acquisition(
        &mut self,
        now: Instant,
        request: RequestId,
    ) -> Option<Acquisition> {
        let mut acquisition = self.acquisitions.remove(request)?;
        let keys = &acquisition.request.keys;
        match acquisition.contention {
            _ if keys.as_reader().is_some() => self.readers.forget(keys.first(), request),
            None => self.local_queue.forget(keys, request),
            Some(_) => self.local_queue.free(keys),
        }
        self.withdraw_hint(now, request, &acquisition.request.keys, false);
        if let Some(turn) = acquisition.contention.as_mut().and_then(|one| one.turn.take()) {
            self.leave_turn(now, acquisition.request.keys.clone(), *turn);
        }
        Some(acquisition)
    }

    /// Ends a wait that was over before its last attempt could begin. The answer is the outcome of
    /// the attempt before that.
    pub(super) fn give_up_waiting(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.end_acquisition(now, request) else { return };
        let in_front = self.failure_in_front(&acquisition.request.keys);
        self.events.push(acquisition.not_served(request, now, in_front));
    }

    /// Cancels an acquire whose caller is gone: what it began is rolled back.
    pub(super) fn cancel_acquire(&mut self, now: Instant, request: RequestId) {
        if let Some(contention) = self.acquisitions.contention_mut(request)
            && matches!(contention.phase, Phase::Trying { .. })
        {
            // Its place goes with the try.
            contention.turn = None;
        }
        let Some(acquisition) = self.end_acquisition(now, request) else {
            return self.cancel_seeking(now, request);
        };
        match acquisition.phase() {
            None => self.timers.cancel(acquisition.until(), Timer::Attempt(request)),
            Some(Phase::Confirming) => {}
            Some(Phase::Trying { round, attempt }) => {
                self.close_round(*round);
                // The keys it set may have refused other clients, which now wait for a message. No
                // later attempt of this acquire will send one.
                if let Some(attempt) = self.attempts.remove(*attempt) {
                    self.give_back(now, attempt, None);
                }
            }
            Some(Phase::Waiting { again_at, .. }) => {
                self.timers.cancel(*again_at, Timer::Attempt(request));
            }
        }
    }
}
