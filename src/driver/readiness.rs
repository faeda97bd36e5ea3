//! The callers that wait until a quorum may vote.

use super::Handle;
use super::request::Reply;
use crate::failure::NotReady;
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;
use std::time::Duration;
use tokio::sync::oneshot;

/// A caller that waits until a quorum may vote.
pub(super) struct Unready {
    since: Instant,
    pub(super) until: Instant,
    reply: Reply<Result<(), NotReady>>,
}

impl Handle {
    /// Waits until a quorum may vote, unless the client is closed.
    pub(crate) fn ready(&self, within: Duration) -> oneshot::Receiver<Result<(), NotReady>> {
        let (reply, answer) = oneshot::channel();
        self.run(move |callers, _, now| {
            if !callers.closing {
                callers.unready.push(Unready { since: now, until: now.after(within), reply });
            }
        });
        answer
    }
}

/// Answers the callers that need not wait any longer, and forgets callers that gave up.
pub(super) fn look(unready: &mut Vec<Unready>, machine: &Coordinator, now: Instant) {
    unready.retain(|waiter| !waiter.reply.is_closed());
    if machine.masters().can_vote(now) {
        for waiter in unready.drain(..) {
            let _ = waiter.reply.send(Ok(()));
        }
    } else {
        for waiter in unready.extract_if(.., |waiter| waiter.until <= now) {
            let (waited, status) = (now.since(waiter.since), machine.masters().status(now));
            let _ = waiter.reply.send(Err(NotReady { waited, status }));
        }
    }
}
