//! The acquire: an attempt at every node, its verdict, and its rollback. What follows from a verdict is
//! decided by how the acquire waits.
//!
//! Source: "Distributed Locks with Redis", section "The Redlock Algorithm", steps 1 to 5.

use super::release::Told;
use super::{Attempt, Hold, Locks, RoundKind, Stage};
use crate::master::fencing::refusal;
use crate::quorum::{Instant, Verdict, Vote, validity};
use crate::report::{Answer, Refusal, UnknownCause};
use crate::shared::{AttemptId, Cx, Event, RoundId, Timer};
use crate::waiting::{Refused, Waiters};
use crate::wire::{Leaves, Reply};

impl Locks {
    /// Judges the round by the answers so far.
    pub(crate) fn judge_acquire(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Acquire { attempt, tally, .. } = &round.kind else { return };
        if round.held_back.is_some() {
            return self.judge_first(cx, waiters, id);
        }
        let (attempt, is_complete) = (*attempt, round.is_complete());
        let asked = self.attempts.get(attempt).filter(|one| matches!(one.stage, Stage::Asked));
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
            self.close_round(cx, id);
        }
    }

    fn win(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: RoundId, deadline: Instant) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Acquire { request, attempt: attempt_id, .. } = round.kind else { return };
        let started = round.started;
        let won = waiters.won(cx, request);
        let votes = || round.reports(cx.masters.names());
        cx.events.attempt(request, won.attempts, Ok(()), cx.now.since(started), votes);
        let mut ballot = None;
        if let Some(attempt) = self.attempts.get_mut(attempt_id) {
            ballot = attempt.ballot();
            let keeper = won.keep_alive.map(|keep_alive| keep_alive.keeper(started));
            attempt.stage = Stage::Held(Hold { deadline, keeper, extend_at: None, untold: false });
        }
        cx.timers.set(deadline, Timer::Deadline(attempt_id));
        cx.events.push(Event::Acquired { request, attempt: attempt_id, deadline, ballot });
        self.keep_after(cx, started, attempt_id);
    }

    /// Rolls back, and leaves it to the acquire what it does then. `too_late`: a quorum has granted.
    pub(crate) fn lose(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: RoundId, too_late: bool) {
        let Some(round) = self.take_round(cx, id) else { return };
        let RoundKind::Acquire { request, attempt, .. } = round.kind else { return };
        let ballot = self.attempts.get(attempt).and_then(Attempt::ballot);
        self.roll_back(cx, attempt);
        waiters.refused(cx, Refused { request, attempt, round, ballot, too_late });
    }

    /// Rolls back at every node to which the SET has left, whatever the node answered. Each node
    /// has a debt of its own.
    fn roll_back(&mut self, cx: &mut Cx, attempt: AttemptId) {
        if let Some(attempt) = self.attempts.remove(attempt) {
            self.owe(cx, attempt, None, true, &Told::By(None), Leaves::Nothing);
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
