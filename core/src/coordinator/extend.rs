//! The extension: one round for a hold, and what its outcome means for each purpose.

use super::attempt::Attempt;
use super::purpose::{Asker, Purpose};
use super::round::{Round, RoundKind};
use super::session::Session;
use super::timers::Timer;
use super::wire::Reply;
use super::{AttemptId, Coordinator, Event, Extended, NotAdopted, NotExtended, RoundId, barrier};
use crate::quorum::{Extension, Instant, Progress, Report};
use crate::report::{Answer, LossReason, UnknownCause};
use std::time::Duration;

impl Coordinator {
    pub(super) fn begin_extend(&mut self, now: Instant, id: AttemptId, purpose: Purpose) {
        let Some(life) = self.life_to_extend(now, id, purpose) else { return };
        if !self.is_held_up(now, life, barrier::Round::Extend(id, purpose)) {
            self.send_extension(now, id, purpose);
        }
    }

    /// Returns how long the keys of a hold live that may be extended for this purpose. If it may not, the
    /// caller is answered.
    fn life_to_extend(
        &mut self,
        now: Instant,
        id: AttemptId,
        purpose: Purpose,
    ) -> Option<Duration> {
        let may_extend = |attempt: &&Attempt| match (purpose, attempt.held()) {
            (Purpose::Adopt, _) => attempt.awaits(Some(purpose)),
            (Purpose::Downgrade(_), _) if attempt.claim.keys.as_writer().is_none() => false,
            (_, hold) => hold.is_some_and(|hold| now < hold.deadline),
        };
        if let Some(attempt) = self.attempts.get(id).filter(may_extend) {
            return Some(attempt.claim.life.span());
        }
        if let Purpose::Renew(asker) = purpose {
            // Before the loss, after which the driver no longer knows the lock.
            self.events.extension(id, asker, Progress::Lost, Duration::ZERO, Vec::new);
        }
        self.lapse_if_due(now, id);
        self.answer_not_extended(id, purpose, NotExtended::Lost);
        None
    }

    /// Sends an extension, without anything to wait for first.
    pub(super) fn send_extension(&mut self, now: Instant, id: AttemptId, purpose: Purpose) {
        if self.life_to_extend(now, id, purpose).is_none() {
            return;
        }
        match purpose {
            Purpose::Renew(_) | Purpose::Adopt => {}
            Purpose::Detach(_) => self.prepare_detach(id),
            Purpose::Downgrade(_) => self.prepare_downgrade(id),
        }
        if let Some(round) = self.extend_everywhere(now, id, purpose) {
            self.judge_extension(now, round);
        }
    }

    /// Asks every node that takes it to extend the keys of an attempt.
    fn extend_everywhere(
        &mut self,
        now: Instant,
        id: AttemptId,
        purpose: Purpose,
    ) -> Option<RoundId> {
        let attempt = self.attempts.get(id)?;
        let (ttl, life) = (attempt.ttl.span(), attempt.claim.life.span());
        let barred = self.barred(now, life);
        let warming = |(node, session): (usize, &Session)| session.warming_up(now).map(|_| node);
        let warming = self.sessions.iter().enumerate().filter_map(warming).collect();
        let extension = Extension::new(self.settings.membership, now, ttl, warming);
        let kind = RoundKind::Extend { attempt: id, extension, purpose: Some(purpose) };
        let mut round = self.new_round(kind, now, self.settings.round_timeout(ttl));
        let attempt = self.attempts.get(id)?;
        let claim = &attempt.claim;
        let command = claim.extend(&mut self.packer, attempt.renewed_life());
        let round_id: RoundId = self.rounds.reserve();
        for (node, session) in self.sessions.iter_mut().enumerate() {
            match session.takes(command.len(), now, barred.as_ref()) {
                Ok(()) => {
                    session.prepare(claim);
                    session.push(session.vote(now, round_id), command);
                }
                // The node may hold the key nevertheless: this counts as unknown.
                Err(reason) => round.record(node, Answer::Refused(reason), now),
            }
        }
        self.timers.set(round.timeout_at, Timer::Round(round_id));
        self.rounds.insert(round_id, round);
        Some(round_id)
    }

    /// Judges the round by the answers so far.
    pub(super) fn judge_extension(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let is_complete = round.is_complete();
        let RoundKind::Extend { attempt: attempt_id, purpose, .. } = round.kind else { return };
        let Some(attempt) = self.attempts.get(attempt_id).filter(|one| one.awaits(purpose)) else {
            // Released, lost or cancelled in the meantime: no answer counts any more.
            self.close_round(id);
            if let Some(purpose) = purpose {
                self.answer_not_extended(attempt_id, purpose, NotExtended::Lost);
            }
            return;
        };
        let outcome = self.outcome(now, round, attempt);
        if let Some(progress) = outcome {
            if let Some(Purpose::Renew(asker)) = purpose {
                let votes = || round.reports(self.sessions.iter().map(|session| &session.name));
                let took = now.since(round.started);
                self.events.extension(attempt_id, asker, progress, took, votes);
            }
            match progress {
                Progress::Extended(deadline) => self.extension_won(now, id, deadline),
                Progress::Lost => self.extension_lost(now, id),
                Progress::Unconfirmed | Progress::Pending => self.extension_unconfirmed(now, id),
            }
        }
        // What was won goes on: the masters that have not answered may lack the key. A renewal ends with its
        // answers, as those before it did.
        let goes_on = match purpose {
            None | Some(Purpose::Renew(_)) => true,
            Some(_) => outcome.is_none_or(|progress| matches!(progress, Progress::Extended(_))),
        };
        if is_complete || !goes_on {
            self.close_round(id);
        }
    }

    /// Returns how the round has ended, once it has. It has not while no quorum is possible but answers are
    /// outstanding. One of them may show that the hold is lost, and the reader of the report needs to know
    /// which nodes held the key.
    fn outcome(&self, now: Instant, round: &Round, attempt: &Attempt) -> Option<Progress> {
        let RoundKind::Extend { extension, purpose, .. } = &round.kind else { return None };
        let (drift, is_complete) = (self.settings.drift, round.is_complete());
        let progress = match attempt.hold() {
            Some(hold) => extension.progress(hold.deadline, now, drift),
            None => extension.adopted(attempt.claim.unsettled, now, drift),
        };
        match (progress, purpose) {
            // The value is better the more masters have answered.
            (
                Progress::Extended(_) | Progress::Unconfirmed | Progress::Pending,
                Some(Purpose::Detach(_)),
            ) if !is_complete => None,
            (_, Some(Purpose::Detach(_))) => self.detachable(now, round, attempt),
            (Progress::Lost, _) | (Progress::Extended(_), Some(_)) => Some(progress),
            (Progress::Extended(_), None) => None,
            (Progress::Unconfirmed | Progress::Pending, _) => {
                is_complete.then_some(Progress::Unconfirmed)
            }
        }
    }

    /// Handles an extension that was won: the hold has until `deadline`.
    fn extension_won(&mut self, now: Instant, round: RoundId, deadline: Instant) {
        let Some(won) = self.rounds.get_mut(round) else { return };
        let started = won.started;
        let RoundKind::Extend { attempt: id, purpose, extension } = &mut won.kind else { return };
        let (id, lacking) = (*id, extension.lacking());
        match purpose.take() {
            None => {}
            Some(Purpose::Renew(asker)) => self.renewed(now, id, asker, deadline),
            Some(Purpose::Detach(request)) => return self.detach(now, request, round, id),
            Some(Purpose::Adopt) if !self.adopt(now, id, started, deadline) => {
                return self.close_round(round);
            }
            Some(Purpose::Adopt) => {}
            Some(Purpose::Downgrade(request)) => self.become_reader(request, id, deadline),
        }
        self.keep_after(started, id);
        self.notify_if_untold(now, id);
        lacking.iter().for_each(|node| self.top_up(now, id, node));
    }

    /// Handles an extension that has found the hold lost.
    fn extension_lost(&mut self, now: Instant, round: RoundId) {
        let Some(lost) = self.rounds.get_mut(round) else { return };
        let RoundKind::Extend { attempt: id, purpose, .. } = &mut lost.kind else { return };
        let (id, purpose) = (*id, purpose.take());
        let reports = lost.reports(self.sessions.iter().map(|session| &session.name));
        let Some(hold) = self.attempts.get(id).and_then(Attempt::hold) else {
            return self.refuse(now, id, NotAdopted::Lost(LossReason::QuorumGone(reports)));
        };
        let reason = match now >= hold.deadline {
            true => LossReason::Lapsed,
            false => LossReason::QuorumGone(reports),
        };
        self.settle_change(id);
        self.lose_hold(id, reason);
        if let Some(purpose) = purpose {
            self.answer_not_extended(id, purpose, NotExtended::Lost);
        }
    }

    /// Handles an extension that too few masters have confirmed: the hold is what it was.
    fn extension_unconfirmed(&mut self, now: Instant, round: RoundId) {
        let Some(open) = self.rounds.get(round) else { return };
        let RoundKind::Extend { attempt: id, purpose, .. } = open.kind else { return };
        let may_have_extended = open.may_have_extended();
        let reports = || open.reports(self.sessions.iter().map(|session| &session.name));
        let Some(purpose) = purpose else { return };
        let reports = match purpose {
            Purpose::Renew(Asker::Keeper) => return self.keep_again(now, id),
            Purpose::Renew(Asker::Caller(_)) => reports(),
            Purpose::Adopt => {
                let why = NotAdopted::Unconfirmed(reports());
                return self.refuse(now, id, why);
            }
            Purpose::Downgrade(request) if may_have_extended => {
                return self.become_reader_unconfirmed(now, request, id);
            }
            Purpose::Detach(_) | Purpose::Downgrade(_) => {
                let reports = reports();
                self.undo_change(id);
                self.keep_again(now, id);
                reports
            }
        };
        self.answer_not_extended(id, purpose, NotExtended::Unconfirmed(reports));
    }

    /// Moves the deadline of a hold, and answers its caller.
    fn renewed(&mut self, now: Instant, id: AttemptId, asker: Asker, deadline: Instant) {
        let Some(old) = self.attempts.get(id).and_then(Attempt::held).copied() else { return };
        let extended = self.prolong(id, deadline);
        if extended.is_last && old.deadline < extended.deadline {
            self.events.last_extension(id, extended.deadline.since(now));
        }
        let request = match asker {
            Asker::Caller(request) => Some(request),
            Asker::Keeper => None,
        };
        self.events.push(Event::Extended { request, attempt: id, result: Ok(extended) });
    }

    /// Moves the deadline of a hold to `deadline`, but never back, and not past the end of its keep-alive,
    /// whether the caller or the keeper asked.
    pub(super) fn prolong(&mut self, id: AttemptId, deadline: Instant) -> Extended {
        let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) else {
            return Extended { deadline, is_last: false };
        };
        let capped = hold.keeper.map_or(deadline, |keeper| keeper.cap(deadline));
        let deadline = capped.max(hold.deadline);
        self.timers.cancel(hold.deadline, Timer::Deadline(id));
        self.timers.set(deadline, Timer::Deadline(id));
        hold.deadline = deadline;
        Extended { deadline, is_last: hold.keeper.is_some_and(|keeper| keeper.is_last(deadline)) }
    }

    /// Reports to the caller of an extension why the hold is not what it asked for. The keeper needs no
    /// report, and an adoption has answers of its own.
    pub(super) fn answer_not_extended(
        &mut self,
        attempt: AttemptId,
        purpose: Purpose,
        why: NotExtended,
    ) {
        self.events.push(match purpose {
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
pub(super) fn answer(reply: &Reply) -> Answer {
    match reply {
        Reply::Int(1) => Answer::Held,
        Reply::Int(0) => Answer::Vacant,
        Reply::Int(-1) => Answer::Taken,
        other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    }
}

/// Returns how an answer to an extension counts.
pub(super) const fn report(answer: &Answer) -> Report {
    match answer {
        Answer::Held => Report::Held,
        Answer::Vacant => Report::Vacant,
        Answer::Taken => Report::Taken,
        _ => Report::Unknown,
    }
}
