//! A probe: the node that is asked first, and then the others unless that node refuses, too.
//!
//! It can only show that a key is held on the first node. If it shows anything else, or nothing within a
//! moment, the others are asked, and have a timeout of their own to answer. A node that is slow, down or
//! far away decides nothing alone, and delays nothing by more than that moment.

use super::round::Course;
use super::{Around, Locks, Round, RoundKind};
use crate::master::PendingReply;
use crate::quorum::Instant;
use crate::report::{Answer, Refusal};
use crate::shared::{RoundId, Timer};
use crate::wire;

/// The node that is asked first. The other nodes are asked unless it refuses.
pub(crate) struct HeldBack {
    pub(crate) first: usize,
    /// From then on, its refusal is no verdict: the wait is over, and all nodes are asked.
    pub(crate) ends_at: Instant,
}

impl Round {
    /// Judges the answer of the node that was asked first.
    pub(super) fn judge_first(&self, now: Instant) -> Course {
        match self.first_answer() {
            None | Some((Answer::Outstanding, _)) => Course::GoesOn,
            // At the end of a wait, that is not a verdict: all nodes are asked.
            Some((Answer::Refused(Refusal::Held { .. } | Refusal::Wanted { .. }), ends_at))
                if now < ends_at =>
            {
                Course::IsLost { too_late: false }
            }
            Some(_) => Course::AsksOthers,
        }
    }
}

impl Locks {
    /// Asks the other nodes, after the first has not refused or has not answered in time. They have
    /// a timeout of their own.
    pub(crate) fn ask_the_others(&mut self, at: &mut Around, id: RoundId) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let RoundKind::Acquire { request, attempt: attempt_id, .. } = round.kind else { return };
        let Some(attempt) = self.attempts.get_mut(attempt_id) else { return };
        let Some(held_back) = round.held_back.take() else { return };
        let barred = at.cx.masters.barred(at.cx.now, attempt.claim.life.span());
        let looks = attempt.claim.looks() && at.waiters.asks_remaining(&at.cx, request);
        let look = looks.then(|| wire::look(attempt.claim.keys.first()));
        at.cx.timers.cancel(round.timeout_at, Timer::Round(id));
        round.timeout_at =
            at.cx.now.after(at.cx.masters.settings.round_timeout(attempt.ttl.span()));
        at.cx.timers.set(round.timeout_at, Timer::Round(id));
        let set = attempt.claim.acquire(&mut at.cx.masters.packer);
        for node in round.outstanding().iter().filter(|node| *node != held_back.first) {
            let session = &mut at.cx.masters.sessions[node];
            match session.takes(set.len(), at.cx.now, barred.as_ref()) {
                Ok(()) => {
                    session.prepare(&attempt.claim);
                    if let Some(look) = &look {
                        session.push(PendingReply::Remaining(request, id, attempt_id), look);
                    }
                    session.push(session.vote(at.cx.now, id), set);
                    attempt.touched.insert(node);
                }
                Err(reason) => round.record(node, Answer::Refused(reason), at.cx.now),
            }
        }
        self.judge(at, id);
    }
}
