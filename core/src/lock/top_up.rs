//! The top-up: a master that lacks the key of a hold is asked to set it.

use super::{Attempt, Locks};
use crate::master::{PendingReply, fencing};
use crate::shared::{AttemptId, Cx, Observation, Watching};
use crate::wire::Reply;

impl Locks {
    /// Handles the first answer of `node` to a top-up. If the fence there is not below the number of the
    /// hold, others have asked for the lock where its key was missing, and have been refused by the
    /// rest; or the key has expired there. The next number is above that fence. The token of the hold
    /// stays what it is.
    pub(crate) fn topped_up(&mut self, cx: &mut Cx, id: AttemptId, node: usize, reply: &Reply) {
        if let Some(number) = fencing::number_above(reply, &cx.masters.settings)
            && let Some(attempt) =
                self.attempts.get_mut(id).filter(|attempt| attempt.held().is_some())
            && let Some(ballot) = &mut attempt.claim.ballot
        {
            ballot.greatest = ballot.greatest.max(number);
            cx.masters.ballots.learn_fence(ballot.greatest);
            attempt.send_top_up(cx, node, false);
        }
    }
}

impl Attempt {
    /// Sends the ordinary acquire command with the same token to a node that lacks the key in a
    /// round that was won, or that was warming up when the lock was won. Its answer does not count,
    /// not even `Granted`: it may refer to a key that an earlier, late SET put there, and whose life
    /// it does not prolong. Counting it leads to two holders of several resources (`SAFETY.md`). The node
    /// counts when it says *held* later.
    pub(crate) fn top_up(&mut self, cx: &mut Cx, node: usize) {
        if self.held().is_some() {
            self.send_top_up(cx, node, true);
        }
    }

    fn send_top_up(&mut self, cx: &mut Cx, node: usize, may_repeat: bool) {
        let life = self.claim.life.span();
        let barred = cx.masters.barred(cx.now, life);
        let set = self.claim.top_up(&mut cx.masters.packer, self.life_at(cx.now));
        let session = &mut cx.masters.sessions[node];
        if session.takes_for_hold(life, cx.now, barred.as_ref()).is_ok() {
            session.prepare(&self.claim);
            self.touched.insert(node);
            session.push(PendingReply::TopUp { attempt: self.id, may_repeat }, set);
            let (attempt, node) = (self.id, &session.name);
            let topped_up = || Observation::ToppedUp { attempt, node: node.clone() };
            cx.events.show(Watching::Outcomes, topped_up);
        }
    }
}
