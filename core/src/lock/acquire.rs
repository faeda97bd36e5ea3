//! The acquire: an attempt at every node, its verdict, and its rollback. What follows from a verdict is
//! decided by how the acquire waits.
//!
//! Source: "Distributed Locks with Redis", section "The Redlock Algorithm", steps 1 to 5.

use super::release::Announce;
use super::{Attempt, Hold, Locks, RoundKind, Stage};
use crate::master::fencing::refusal;
use crate::quorum::{Instant, NodeSet, Verdict, Vote, validity};
use crate::report::{Answer, Refusal, UnknownCause};
use crate::shared::{AttemptId, Cx, Event, Invariant, RequestId, RoundId, Timer};
use crate::waiting::{Refused, Waiters};
use crate::wire::Reply;

impl Locks {
    /// Judges the round by the answers so far.
    pub(crate) fn judge_acquire(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Acquire { attempt, tally, .. } = &round.kind else { return };
        if round.held_back.is_some() {
            return self.judge_first(cx, waiters, id);
        }
        let (attempt, is_complete) = (*attempt, round.is_complete());
        let asked = self.attempts.get(attempt).filter(|asked| matches!(asked.stage, Stage::Asked));
        if let Some(asked) = asked {
            let (ttl, drift) = (asked.ttl.span(), cx.masters.settings.drift);
            let deadline = || validity::deadline(round.started, cx.now, ttl, drift);
            match tally.verdict() {
                Verdict::Pending => {}
                // Clocks that are too far apart are reported only once every node has reported its own.
                Verdict::Lost if !is_complete && round.speaks_of_clocks() => {}
                Verdict::Lost => self.lose(cx, waiters, id, false),
                Verdict::Won => match deadline() {
                    Some(deadline) => {
                        let warming = round.warming();
                        self.win(cx, waiters, id, deadline);
                        warming.iter().for_each(|node| self.top_up(cx, attempt, node));
                    }
                    None => self.lose(cx, waiters, id, true),
                },
            }
        }
        if is_complete {
            let refused = self.rounds.get(id).map(|round| round.refused);
            if let Some((attempt, refused)) = self.attempts.get_mut(attempt).zip(refused) {
                attempt.refused = refused;
            }
            self.close_round(cx, id);
        }
    }

    fn win(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: RoundId, deadline: Instant) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let RoundKind::Acquire { request, attempt: attempt_id, .. } = round.kind else { return };
        let (started, refused) = (round.started, round.refused);
        round.tell_window(cx, true);
        round.leave_window(cx);
        let won = waiters.won(cx, request);
        let votes = || round.reports(cx.masters.names());
        cx.events.attempt(request, won.attempts, Ok(()), cx.now.since(started), votes);
        if let Some(attempt) = self.attempts.get_mut(attempt_id) {
            cx.check(matches!(attempt.stage, Stage::Asked), Invariant::OneHolder);
            cx.check_deadline(deadline, started, attempt.ttl.span());
            let keeper = won.keep_alive.map(|keep_alive| keep_alive.keeper(started));
            attempt.stage = Stage::Held(Hold {
                deadline,
                keeper,
                extend_at: None,
                notify: false,
                waits_for_guard: false,
            });
            attempt.refused = refused;
        }
        self.begin_hold(cx, waiters, request, attempt_id, started);
    }

    /// Reports a hold that a caller has from now on, keeps it alive if that is wanted, and listens for clients
    /// that ask for it if it is kept warm. The masters were asked at `started`.
    pub(crate) fn begin_hold(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        request: RequestId,
        id: AttemptId,
        started: Instant,
    ) {
        let Some(attempt) = self.attempts.get(id) else { return };
        let Some(&Hold { deadline, .. }) = attempt.held() else { return };
        let (ballot, is_warm) = (attempt.ballot(), !attempt.warm.span().is_zero());
        cx.timers.set(deadline, Timer::Deadline(id));
        cx.events.push(Event::Acquired { request, attempt: id, deadline, ballot });
        self.keep_after(cx, started, id);
        if is_warm {
            self.hear_asks(cx, waiters, id);
        }
    }

    /// Rolls back, and leaves it to the acquire what it does then. `too_late`: a quorum has granted.
    pub(crate) fn lose(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: RoundId, too_late: bool) {
        if let Some(round) = self.rounds.get(id) {
            round.tell_window(cx, false);
        }
        let Some(round) = self.take_round(cx, id) else { return };
        let RoundKind::Acquire { request, attempt, .. } = round.kind else { return };
        let lost = self.attempts.get(attempt);
        let ballot = lost.and_then(Attempt::ballot);
        self.roll_back(cx, attempt, round.set_nothing());
        waiters.refused(cx, Refused { request, attempt, round, ballot, too_late });
    }

    /// Rolls back at every node to which the SET has left, whatever the node answered, but for those that
    /// have `set_nothing`. Each node has a debt of its own.
    ///
    /// A node that answers nil has set nothing, and will not: the answer came on the connection of the SET,
    /// which was the only command that could set this token there. That is so only until the attempt has won:
    /// a hold may be topped up, and is released wherever it was sent to.
    fn roll_back(&mut self, cx: &mut Cx, attempt: AttemptId, set_nothing: NodeSet) {
        if let Some(mut attempt) = self.attempts.remove(attempt) {
            if attempt.claim.acquires_by_set() {
                attempt.touched = attempt.touched.difference(set_nothing);
            }
            self.owe(cx, attempt, None, &Announce::ROLLBACK);
        }
    }

    /// Ends an attempt whose caller is gone. The keys it set may have refused other clients, which now
    /// wait for a message. No later attempt of this acquire will send one.
    pub(crate) fn withdraw(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        round: RoundId,
        attempt: AttemptId,
    ) {
        self.close_round(cx, round);
        if let Some(attempt) = self.attempts.remove(attempt) {
            self.give_back(cx, waiters, attempt, None);
        }
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
