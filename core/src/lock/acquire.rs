//! The acquire: an attempt at every node, its verdict, and its rollback. What follows from a verdict is
//! decided by how the acquire waits.
//!
//! Source: "Distributed Locks with Redis", section "The Redlock Algorithm", steps 1 to 5.

use super::release::Announce;
use super::round::Course;
use super::{Around, Attempt, Hold, Locks, Round, RoundKind, Stage};
use crate::master::fencing::refusal;
use crate::quorum::{Instant, Keeper, NodeSet, Verdict, Vote, validity};
use crate::report::{Answer, Refusal, UnknownCause};
use crate::shared::{AttemptId, Cx, Event, Invariant, RequestId, RoundId, Timer};
use crate::waiting::Refused;
use crate::wire::Reply;

impl Locks {
    /// Rolls back, and leaves it to the acquire what it does then. `too_late`: a quorum has granted.
    pub(super) fn lose(&mut self, at: &mut Around, id: RoundId, too_late: bool) {
        self.rounds.get(id.0).inspect(|round| round.tell_window(&mut at.cx, false));
        if let Some(round) = self.rounds.take(&mut at.cx, id)
            && let RoundKind::Acquire { request, attempt: attempt_id, .. } = round.kind
        {
            let attempt = self.attempts.remove(attempt_id.0);
            let ballot = attempt.as_ref().and_then(Attempt::ballot);
            if let Some(attempt) = attempt {
                attempt.roll_back(&mut at.cx, round.refused());
            }
            let refused = Refused { request, attempt: attempt_id, round, ballot, too_late };
            at.waiters.refused(&mut at.cx, refused);
        }
    }

    /// Ends an attempt whose caller is gone. The keys it set may have refused other clients, which now
    /// wait for a message. No later attempt of this acquire will send one.
    pub(crate) fn withdraw(&mut self, at: &mut Around, round: RoundId, attempt: AttemptId) {
        self.close_round(&mut at.cx, round);
        if let Some(attempt) = self.attempts.remove(attempt.0) {
            attempt.give_back(at, None);
        }
    }
}

impl Attempt {
    /// Judges a round by the answers so far, which have this `verdict`.
    pub(super) fn judge_acquire(
        &mut self,
        at: &mut Around,
        request: RequestId,
        round: &mut Round,
        verdict: Verdict,
    ) -> Course {
        let is_complete = round.is_complete();
        match verdict {
            _ if !matches!(self.stage, Stage::Asked) => {}
            Verdict::Pending => {}
            // Clocks that are too far apart are reported only once every node has reported its own.
            Verdict::Lost if !is_complete && round.speaks_of_clocks() => {}
            Verdict::Lost => return Course::IsLost { too_late: false },
            Verdict::Won => {
                let (ttl, drift) = (self.ttl.span(), at.cx.masters.settings.drift);
                let Some(deadline) = validity::deadline(round.started, at.cx.now, ttl, drift)
                else {
                    return Course::IsLost { too_late: true };
                };
                self.win(at, request, round, deadline);
                round.warming().iter().for_each(|node| self.top_up(&mut at.cx, node));
            }
        }
        if is_complete {
            self.refused = round.refused();
        }
        Course::GoesOn
    }

    fn win(&mut self, at: &mut Around, request: RequestId, round: &mut Round, deadline: Instant) {
        let started = round.started;
        round.tell_window(&mut at.cx, true);
        round.leave_window(&mut at.cx);
        let won = at.waiters.won(&mut at.cx, request);
        let votes = || round.reports(at.cx.masters.names());
        at.cx.events.attempt(request, won.attempts, Ok(()), at.cx.now.since(started), votes);
        at.cx.check(matches!(self.stage, Stage::Asked), Invariant::OneHolder);
        at.cx.check_deadline(deadline, started, self.ttl.span());
        self.refused = round.refused();
        let keeper = won.keep_alive.map(|most| Keeper::new(started.after(most.span())));
        self.begin_hold(&mut at.cx, request, Hold::until(deadline, keeper));
    }

    /// Reports a hold that a caller has from now on, and keeps it alive if that is wanted. The masters were asked when
    /// the attempt began.
    pub(crate) fn begin_hold(&mut self, cx: &mut Cx, request: RequestId, hold: Hold) {
        let (deadline, ballot) = (hold.deadline, self.ballot());
        self.stage = Stage::Held(hold);
        cx.timers.set(deadline, Timer::Deadline(self.id));
        cx.events.push(Event::Acquired { request, attempt: self.id, deadline, ballot });
        self.keep_after(cx, self.began);
    }

    /// Rolls back at every node to which the SET has left, whatever the node answered, but for those that
    /// have `refused` a plain SET. Each node has a debt of its own.
    ///
    /// A node that answers nil has set nothing, and will not: the answer came on the connection of the SET,
    /// which was the only command that could set this token there. That is so only until the attempt has won:
    /// a hold may be topped up, and is released wherever it was sent to.
    fn roll_back(mut self, cx: &mut Cx, refused: NodeSet) {
        if self.claim.acquires_by_set() {
            self.touched = self.touched.difference(refused);
        }
        self.owe(cx, None, &Announce::ROLLBACK);
    }
}

/// Reads a master's reply to `SET NX` or to the acquire's script.
pub(crate) fn answer(reply: &Reply) -> Answer {
    match reply {
        Reply::Okay => Answer::Granted,
        Reply::Nil => Answer::Refused(Refusal::Held { remaining: None }),
        Reply::Array(parts) => refusal(parts),
        Reply::Error(_) => Answer::Refused(Refusal::Server(reply.unexpected())),
        other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    }
}

/// Returns how an answer to an acquire counts.
pub(crate) const fn vote(answer: &Answer) -> Vote {
    match answer {
        Answer::Granted => Vote::Granted,
        Answer::Unknown(_) => Vote::Unknown,
        _ => Vote::Refused,
    }
}
