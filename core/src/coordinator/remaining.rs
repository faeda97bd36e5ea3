//! The remaining life of the key that refused an attempt: it bounds the pause before the next
//! attempt.

use super::contention::Phase;
use super::timers::Timer;
use super::wire::Reply;
use super::{AttemptId, Coordinator, RequestId};
use crate::quorum::Instant;
use std::time::Duration;

/// The reply of PTTL where there is no key.
const NO_KEY: Reply = Reply::Int(-2);

impl Coordinator {
    /// Notes a node's report of the remaining life of the key that refused us.
    pub(super) fn learn_remaining(
        &mut self,
        node: usize,
        request: RequestId,
        attempt: AttemptId,
        reply: &Reply,
    ) {
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let left = match reply {
            reply if *reply == NO_KEY => Duration::ZERO,
            Reply::Int(millis @ 0..) => Duration::from_millis(millis.unsigned_abs()),
            // -1: a key that never expires.
            _ => return,
        };
        match &mut contention.phase {
            Phase::Trying { round, attempt: current } if *current == attempt => {
                // Where there was no key, one that refuses has come since, and its life has not
                // been reported.
                if let Some(round) = self.rounds.get_mut(*round).filter(|_| *reply != NO_KEY) {
                    round.note_remaining(node, left);
                }
            }
            // From a node that was not waited for.
            Phase::Waiting { failed, .. } if *failed == attempt => {
                contention.learn(node, left);
                if let Some(sooner) = contention.shorten(&self.settings) {
                    self.try_sooner(request, sooner);
                }
            }
            _ => {}
        }
    }
    /// Moves the next attempt of an acquire from its old time to its new one.
    pub(super) fn try_sooner(&mut self, request: RequestId, (old, new): (Instant, Instant)) {
        self.timers.cancel(old, Timer::Attempt(request));
        self.timers.set(new, Timer::Attempt(request));
    }
}
