//! How long the key that refused an attempt has yet to live: it bounds the pause before the next.

use super::contention::Phase;
use super::timers::Timer;
use super::wire::Reply;
use super::{AttemptId, Coordinator, RequestId};
use std::time::Duration;

/// What PTTL says where there is no key.
const NO_KEY: Reply = Reply::Int(-2);

impl Coordinator {
    /// A node has told how long the key that refused us has yet to live.
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
                // Where no key was, one that refuses has come since: its life nobody has told.
                if let Some(round) = self.rounds.get_mut(*round).filter(|_| *reply != NO_KEY) {
                    round.note_remaining(node, left);
                }
            }
            // Of a node that was not waited for.
            Phase::Waiting { failed, .. } if *failed == attempt => {
                contention.learn(node, left);
                if let Some((old, new)) = contention.shorten(&self.settings) {
                    self.timers.cancel(old, Timer::Attempt(request));
                    self.timers.set(new, Timer::Attempt(request));
                }
            }
            _ => {}
        }
    }
}
