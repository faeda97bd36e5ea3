//! The top-up: a master that lacks the key of a hold is asked to set it.

use super::session::PendingReply;
use super::wire::Reply;
use super::{AttemptId, Coordinator, fencing};
use crate::quorum::Instant;

impl Coordinator {
    /// Sends the ordinary acquire command with the same token to a node that lacks the key in a
    /// round that was won, or that was warming up when the lock was won. Its answer does not count, not even `Granted`: it may refer to a key
    /// that an earlier, late SET put there, and whose life it does not prolong. Counting it leads
    /// to two holders in 20 steps (`SAFETY.md`). The node counts when it says *held* later.
    pub(super) fn top_up(&mut self, now: Instant, id: AttemptId, node: usize) {
        self.send_top_up(now, id, node, true);
    }

    /// Handles the first answer of `node` to a top-up. If the fence there is not below the number of the
    /// hold, others have asked for the lock where its key was missing, and have been refused by the
    /// rest; or the key has expired there. The next number is above that fence. The token of the hold
    /// stays what it is.
    pub(super) fn topped_up(&mut self, now: Instant, id: AttemptId, node: usize, reply: &Reply) {
        let Some(number) = fencing::number_above(reply, &self.settings) else { return };
        let attempt = self.attempts.get_mut(id).filter(|one| one.held().is_some());
        let Some(ballot) = attempt.and_then(|one| one.claim.ballot.as_mut()) else { return };
        ballot.greatest = ballot.greatest.max(number);
        self.ballots.learn_fence(ballot.greatest);
        self.send_top_up(now, id, node, false);
    }

    fn send_top_up(&mut self, now: Instant, id: AttemptId, node: usize, may_repeat: bool) {
        let Some(attempt) = self.attempts.get(id).filter(|one| one.held().is_some()) else {
            return;
        };
        let barred = self.barred(now, attempt.claim.life.span());
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        let set = attempt.claim.top_up(&mut self.packer, attempt.life_at(now));
        let session = &mut self.sessions[node];
        if session.takes(set.len(), now, barred.as_ref()).is_ok() {
            session.prepare(&attempt.claim);
            attempt.touched.insert(node);
            session.push(PendingReply::TopUp { attempt: id, may_repeat }, set);
            self.events.topped_up(id, &session.name);
        }
    }
}
