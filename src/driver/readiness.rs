//! The callers that wait until a quorum may vote.

use super::request::Reply;
use crate::failure::NotReady;
use quorumlock_core::coordinator::Coordinator;
use quorumlock_core::quorum::Instant;

/// A caller that waits until a quorum may vote.
pub(super) struct Unready {
    pub(super) since: Instant,
    pub(super) until: Instant,
    pub(super) reply: Reply<Result<(), NotReady>>,
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
