//! The extension: one round for a hold, and what its outcome means for each purpose.

use super::detach::detachable;
use super::{Asker, Attempt, Locks, NotAdopted, Purpose, Round, RoundKind};
#[cfg(any(test, feature = "testing"))]
use crate::master::Rule;
use crate::master::{Session, barrier};
use crate::quorum::{Extension, Instant, NodeSet, Progress, Report};
#[cfg(any(test, feature = "testing"))]
use crate::report::Refusal;
use crate::report::{Answer, LossReason, UnknownCause};
use crate::shared::{AttemptId, Cx, Event, Extended, NotExtended, RoundId, Timer};
use crate::waiting::Waiters;
use crate::wire::Reply;
use std::time::Duration;

impl Locks {
    pub(crate) fn begin_extend(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        id: AttemptId,
        purpose: Purpose,
    ) {
        let Some(life) = self.life_to_extend(cx, waiters, id, purpose) else { return };
        if !cx.masters.is_held_up(cx.now, life, barrier::Round::Extend(id, purpose)) {
            self.send_extension(cx, waiters, id, purpose);
        }
    }

    /// Returns how long the keys of a hold live that may be extended for this purpose. If it may not, the
    /// caller is answered.
    fn life_to_extend(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        id: AttemptId,
        purpose: Purpose,
    ) -> Option<Duration> {
        let may_extend = |attempt: &&Attempt| match (purpose, attempt.held()) {
            (Purpose::Adopt, _) => attempt.awaits(Some(purpose)),
            (Purpose::Downgrade(_), _) if !attempt.may_downgrade() => false,
            (_, hold) => hold.is_some_and(|hold| cx.now < hold.deadline),
        };
        if let Some(attempt) = self.attempts.get(id).filter(may_extend) {
            return Some(attempt.claim.life.span());
        }
        if let Purpose::Renew(asker) = purpose {
            // Before the loss, after which the driver no longer knows the lock.
            cx.events.extension(id, asker, Progress::Lost, Duration::ZERO, Vec::new);
        }
        self.lapse_if_due(cx, waiters, id);
        self.answer_not_extended(cx, id, purpose, NotExtended::Lost);
        None
    }

    /// Sends an extension, without anything to wait for first.
    pub(crate) fn send_extension(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        id: AttemptId,
        purpose: Purpose,
    ) {
        if self.life_to_extend(cx, waiters, id, purpose).is_none() {
            return;
        }
        match purpose {
            Purpose::Renew(_) | Purpose::Adopt => {}
            Purpose::Detach(_) => self.prepare_detach(cx, id),
            Purpose::Downgrade(_) => self.prepare_downgrade(cx, id),
        }
        if let Some(round) = self.extend_everywhere(cx, id, purpose) {
            self.judge_extension(cx, waiters, round);
        }
    }

    /// Asks every node that takes it to extend the keys of an attempt.
    fn extend_everywhere(
        &mut self,
        cx: &mut Cx,
        id: AttemptId,
        purpose: Purpose,
    ) -> Option<RoundId> {
        let attempt = self.attempts.get(id)?;
        let (ttl, life) = (attempt.ttl.span(), attempt.claim.life.span());
        let barred = cx.masters.barred(cx.now, life);
        let warms_up = |session: &Session| session.warming_up(cx.now).is_some();
        let warming = NodeSet::places(&cx.masters.sessions, warms_up);
        let extension = Extension::new(cx.masters.settings.membership, cx.now, ttl, warming);
        let kind = RoundKind::Extend { attempt: id, extension, purpose: Some(purpose) };
        let mut round = self.new_round(cx, kind, cx.masters.settings.round_timeout(ttl));
        let attempt = self.attempts.get(id)?;
        let claim = &attempt.claim;
        let command = claim.extend(&mut cx.masters.packer, attempt.renewed_life());
        let round_id: RoundId = self.rounds.reserve();
        for (node, session) in cx.masters.sessions.iter_mut().enumerate() {
            #[cfg(any(test, feature = "testing"))]
            if !cx.masters.settings.agreement.keeps(Rule::HoldsFirst)
                && !cx.masters.window.has_room()
            {
                round.record(node, Answer::Refused(Refusal::QueueFull), cx.now);
                continue;
            }
            match session.takes_for_hold(life, cx.now, barred.as_ref()) {
                Ok(()) => {
                    session.prepare(claim);
                    session.push(session.vote(cx.now, round_id), command);
                }
                // The node may hold the key nevertheless: this counts as unknown.
                Err(reason) => round.record(node, Answer::Refused(reason), cx.now),
            }
        }
        self.open_round(cx, round_id, round);
        Some(round_id)
    }

    /// Judges the round by the answers so far.
    pub(crate) fn judge_extension(&mut self, cx: &mut Cx, waiters: &mut Waiters, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let is_complete = round.is_complete();
        let RoundKind::Extend { attempt: attempt_id, purpose, .. } = round.kind else { return };
        let attempt = self.attempts.get(attempt_id).filter(|attempt| attempt.awaits(purpose));
        let Some(attempt) = attempt else {
            // Released, lost or cancelled in the meantime: no answer counts any more.
            self.close_round(cx, id);
            if let Some(purpose) = purpose {
                self.answer_not_extended(cx, attempt_id, purpose, NotExtended::Lost);
            }
            return;
        };
        let outcome = self.outcome(cx, round, attempt);
        if let Some(progress) = outcome {
            if let Some(Purpose::Renew(asker)) = purpose {
                let votes = || round.reports(cx.masters.names());
                let took = cx.now.since(round.started);
                cx.events.extension(attempt_id, asker, progress, took, votes);
            }
            match progress {
                Progress::Extended(deadline) => self.extension_won(cx, waiters, id, deadline),
                Progress::Lost => self.extension_lost(cx, waiters, id),
                Progress::Unconfirmed | Progress::Pending => {
                    self.extension_unconfirmed(cx, waiters, id)
                }
            }
        }
        // What was won goes on: the masters that have not answered may lack the key. A renewal ends with its
        // answers, as those before it did.
        let goes_on = match purpose {
            None | Some(Purpose::Renew(_)) => true,
            Some(_) => outcome.is_none_or(|progress| matches!(progress, Progress::Extended(_))),
        };
        if is_complete || !goes_on {
            self.close_round(cx, id);
        }
    }

    /// Returns how the round has ended, once it has. It has not while no quorum is possible but answers are
    /// outstanding. One of them may show that the hold is lost, and the reader of the report needs to know
    /// which nodes held the key.
    fn outcome(&self, cx: &mut Cx, round: &Round, attempt: &Attempt) -> Option<Progress> {
        let RoundKind::Extend { extension, purpose, .. } = &round.kind else { return None };
        let (drift, is_complete) = (cx.masters.settings.drift, round.is_complete());
        let progress = match attempt.hold() {
            Some(hold) => extension.progress(hold.deadline, cx.now, drift),
            None => extension.adopted(attempt.claim.unsettled, cx.now, drift),
        };
        match (progress, purpose) {
            // The value is better the more masters have answered.
            (
                Progress::Extended(_) | Progress::Unconfirmed | Progress::Pending,
                Some(Purpose::Detach(_)),
            ) if !is_complete => None,
            (_, Some(Purpose::Detach(_))) => detachable(cx, round, attempt),
            (Progress::Lost, _) | (Progress::Extended(_), Some(_)) => Some(progress),
            (Progress::Extended(_), None) => None,
            (Progress::Unconfirmed | Progress::Pending, _) => {
                is_complete.then_some(Progress::Unconfirmed)
            }
        }
    }

    /// Handles an extension that was won: the hold has until `deadline`.
    fn extension_won(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        round: RoundId,
        deadline: Instant,
    ) {
        let Some(won) = self.rounds.get_mut(round) else { return };
        let started = won.started;
        let RoundKind::Extend { attempt: id, purpose, extension } = &mut won.kind else { return };
        let (id, lacking) = (*id, extension.lacking());
        if let Some(attempt) = self.attempts.get(id) {
            // A deadline that this round does not move rests on a later one, which was won before it.
            if attempt.hold().is_none_or(|hold| hold.deadline < deadline) {
                cx.check_deadline(deadline, started, attempt.ttl.span());
            }
        }
        match purpose.take() {
            None => {}
            Some(Purpose::Renew(asker)) => self.renewed(cx, id, asker, deadline),
            Some(Purpose::Detach(request)) => return self.detach(cx, waiters, request, round, id),
            Some(Purpose::Adopt) if !self.adopt(cx, waiters, id, started, deadline) => {
                return self.close_round(cx, round);
            }
            Some(Purpose::Adopt) => {}
            Some(Purpose::Downgrade(request)) => {
                self.become_reader(cx, waiters, request, id, deadline)
            }
        }
        self.keep_after(cx, started, id);
        self.notify_if_due(cx, waiters, id);
        lacking.iter().for_each(|node| self.top_up(cx, id, node));
    }

    /// Handles an extension that has found the hold lost.
    fn extension_lost(&mut self, cx: &mut Cx, waiters: &mut Waiters, round: RoundId) {
        let Some(lost) = self.rounds.get_mut(round) else { return };
        let RoundKind::Extend { attempt: id, purpose, .. } = &mut lost.kind else { return };
        let (id, purpose) = (*id, purpose.take());
        let reports = lost.reports(cx.masters.names());
        let Some(hold) = self.attempts.get(id).and_then(Attempt::hold) else {
            return self.refuse(cx, waiters, id, NotAdopted::Lost(LossReason::QuorumGone(reports)));
        };
        let reason = match cx.now >= hold.deadline {
            true => LossReason::Lapsed,
            false => LossReason::QuorumGone(reports),
        };
        self.settle_change(cx, waiters, id);
        self.lose_hold(cx, waiters, id, reason);
        if let Some(purpose) = purpose {
            self.answer_not_extended(cx, id, purpose, NotExtended::Lost);
        }
    }

    /// Handles an extension that too few masters have confirmed: the hold is what it was.
    fn extension_unconfirmed(&mut self, cx: &mut Cx, waiters: &mut Waiters, round: RoundId) {
        let Some(open) = self.rounds.get(round) else { return };
        let RoundKind::Extend { attempt: id, purpose, .. } = open.kind else { return };
        let may_have_extended = open.may_have_extended();
        let reports = || open.reports(cx.masters.names());
        let Some(purpose) = purpose else { return };
        let reports = match purpose {
            Purpose::Renew(Asker::Keeper) => return self.keep_again(cx, id),
            Purpose::Renew(Asker::Caller(_)) => reports(),
            Purpose::Adopt => {
                let why = NotAdopted::Unconfirmed(reports());
                return self.refuse(cx, waiters, id, why);
            }
            // It is a reader's with its old deadline. The masters that have not heard of it make it a reader's
            // when it is extended, and readers are notified then.
            Purpose::Downgrade(request) if may_have_extended => {
                let hold = self.attempts.get(id).and_then(Attempt::hold).copied();
                let Some(old) = hold else { return };
                self.become_reader(cx, waiters, request, id, old.deadline);
                return self.keep_again(cx, id);
            }
            Purpose::Detach(_) | Purpose::Downgrade(_) => {
                let reports = reports();
                self.undo_change(id);
                self.keep_again(cx, id);
                reports
            }
        };
        self.answer_not_extended(cx, id, purpose, NotExtended::Unconfirmed(reports));
    }

    /// Moves the deadline of a hold, and answers its caller.
    fn renewed(&mut self, cx: &mut Cx, id: AttemptId, asker: Asker, deadline: Instant) {
        let Some(old) = self.attempts.get(id).and_then(Attempt::held).copied() else { return };
        let extended = self.prolong(cx, id, deadline);
        if extended.is_last && old.deadline < extended.deadline {
            cx.events.last_extension(id, extended.deadline.since(cx.now));
        }
        let request = match asker {
            Asker::Caller(request) => Some(request),
            Asker::Keeper => None,
        };
        cx.events.push(Event::Extended { request, attempt: id, result: Ok(extended) });
    }

    /// Moves the deadline of a hold to `deadline`, but never back, and not past the end of its keep-alive,
    /// whether the caller or the keeper asked.
    pub(crate) fn prolong(&mut self, cx: &mut Cx, id: AttemptId, deadline: Instant) -> Extended {
        let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) else {
            return Extended { deadline, is_last: false };
        };
        let capped = hold.keeper.map_or(deadline, |keeper| keeper.cap(deadline));
        let deadline = capped.max(hold.deadline);
        cx.timers.cancel(hold.deadline, Timer::Deadline(id));
        cx.timers.set(deadline, Timer::Deadline(id));
        hold.deadline = deadline;
        Extended { deadline, is_last: hold.keeper.is_some_and(|keeper| keeper.is_last(deadline)) }
    }

    /// Reports to the caller of an extension why the hold is not what it asked for. The keeper needs no
    /// report, and an adoption has answers of its own.
    pub(crate) fn answer_not_extended(
        &mut self,
        cx: &mut Cx,
        attempt: AttemptId,
        purpose: Purpose,
        why: NotExtended,
    ) {
        cx.events.push(match purpose {
            Purpose::Renew(Asker::Keeper) | Purpose::Adopt => return,
            Purpose::Renew(Asker::Caller(request)) => {
                Event::Extended { request: Some(request), attempt, result: Err(why) }
            }
            Purpose::Detach(request) => Event::Detached { request, attempt, result: Err(why) },
            Purpose::Downgrade(request) => Event::Downgraded { request, attempt, result: Err(why) },
        });
    }
}

/// Reads a master's reply to an extension.
pub(crate) fn answer(reply: &Reply) -> Answer {
    match reply {
        Reply::Int(1) => Answer::Held,
        Reply::Int(0) => Answer::Vacant,
        Reply::Int(-1) => Answer::Taken,
        other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    }
}

/// Returns how an answer to an extension counts.
pub(crate) const fn report(answer: &Answer) -> Report {
    match answer {
        Answer::Held => Report::Held,
        Answer::Vacant => Report::Vacant,
        Answer::Taken => Report::Taken,
        _ => Report::Unknown,
    }
}
