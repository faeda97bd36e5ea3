//! The extension: one round for a held lock, its effect on the deadline, and the top-up after it.

use super::attempt::Attempt;
use super::round::{Asker, RoundKind};
use super::session::{PendingReply, Session};
use super::timers::Timer;
use super::wire::Reply;
use super::{AttemptId, Coordinator, Event, Extended, NotExtended, RoundId, barrier, fencing};
use crate::quorum::{Extension, Instant, Progress, Report};
use crate::report::{Answer, LossReason, UnknownCause};
use std::time::Duration;

impl Coordinator {
    pub(super) fn begin_extend(&mut self, now: Instant, asker: Asker, id: AttemptId) {
        if !self.may_extend(now, asker, id) {
            return;
        }
        let Some(attempt) = self.attempts.get(id) else { return };
        let life = attempt.claim.life.span();
        if !self.is_held_up(now, life, barrier::Round::Extend(asker, id)) {
            self.begin_extension(now, asker, id);
        }
    }

    /// Checks whether the lock is still held. If it is not, `asker` is answered.
    fn may_extend(&mut self, now: Instant, asker: Asker, id: AttemptId) -> bool {
        let hold = self.attempts.get(id).and_then(Attempt::held);
        if hold.is_some_and(|hold| now < hold.deadline) {
            return true;
        }
        // Before the loss, after which the driver no longer knows the lock.
        self.events.extension(id, Some(asker), Progress::Lost, Duration::ZERO, Vec::new);
        self.lapse_if_due(now, id);
        self.answer_lost(asker, id);
        false
    }

    /// Begins an extension, without anything to wait for first.
    pub(super) fn begin_extension(&mut self, now: Instant, asker: Asker, id: AttemptId) {
        if !self.may_extend(now, asker, id) {
            return;
        }
        let kind = |extension| {
            let asker = Some(asker);
            RoundKind::Extend { asker, attempt: id, extension, won: false }
        };
        if let Some(round) = self.extend_everywhere(now, id, kind) {
            self.judge_extension(now, round);
        }
    }

    /// Asks every node that takes it to extend the keys of an attempt. `kind` says what the round is
    /// for.
    pub(super) fn extend_everywhere(
        &mut self,
        now: Instant,
        id: AttemptId,
        kind: impl FnOnce(Extension) -> RoundKind,
    ) -> Option<RoundId> {
        let attempt = self.attempts.get(id)?;
        let (ttl, life) = (attempt.ttl.span(), attempt.claim.life.span());
        let barred = self.barred(now, life);
        let warming = |(node, session): (usize, &Session)| session.warming_up(now).map(|_| node);
        let warming = self.sessions.iter().enumerate().filter_map(warming).collect();
        let extension = Extension::new(self.settings.membership, now, ttl, warming);
        let mut round = self.new_round(kind(extension), now, self.settings.round_timeout(ttl));
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
        let Some(round) = self.rounds.get_mut(id) else { return };
        let complete = round.is_complete();
        let started = round.started;
        let RoundKind::Extend { asker, attempt, extension, won } = &mut round.kind else {
            return;
        };
        let attempt_id = *attempt;
        let Some(hold) = self.attempts.get(attempt_id).and_then(Attempt::held) else {
            // Released or lost in the meantime: no answer counts any more.
            let asker = asker.take();
            self.close_round(id);
            asker.into_iter().for_each(|asker| self.answer_lost(asker, attempt_id));
            return;
        };
        let (deadline, keeper) = (hold.deadline, hold.keeper);
        let progress = extension.progress(deadline, now, self.settings.drift);
        let is_decided = match progress {
            Progress::Pending => false,
            Progress::Extended(_) => !*won,
            // A quorum is no longer possible. But an outstanding answer may show that the hold is
            // lost, and the reader of the report needs to know which nodes held the key.
            Progress::Unconfirmed => complete,
            Progress::Lost => true,
        };
        if is_decided {
            *won |= matches!(progress, Progress::Extended(_));
            let (asker, lacking) = (asker.take(), extension.lacking());
            let votes = || round.reports(self.sessions.iter().map(|session| &session.name));
            self.events.extension(attempt_id, asker, progress, now.since(started), votes);
            match progress {
                Progress::Pending => {}
                Progress::Extended(extended) => {
                    // The keeper's end applies, whether the caller or the keeper asked.
                    let extended = keeper.map_or(extended, |keeper| keeper.cap(extended));
                    let extended = extended.max(deadline);
                    self.move_deadline(attempt_id, deadline, extended);
                    self.notify_if_untold(now, attempt_id);
                    lacking.iter().for_each(|node| self.top_up(now, attempt_id, node));
                    let is_last = keeper.is_some_and(|keeper| keeper.is_last(extended));
                    if is_last && deadline < extended {
                        self.events.last_extension(attempt_id, extended.since(now));
                    }
                    let (request, result) = (
                        asker.and_then(Asker::request),
                        Ok(Extended { deadline: extended, is_last }),
                    );
                    self.events.push(Event::Extended { request, attempt: attempt_id, result });
                    self.keep_after(started, attempt_id);
                }
                Progress::Unconfirmed => match asker {
                    Some(Asker::Caller(request)) => {
                        let result = Err(NotExtended::Unconfirmed(votes()));
                        let request = Some(request);
                        self.events.push(Event::Extended { request, attempt: attempt_id, result });
                    }
                    Some(Asker::Keeper) => self.keep_again(now, attempt_id),
                    None => {}
                },
                Progress::Lost => {
                    let reason = match now >= deadline {
                        true => LossReason::Lapsed,
                        false => LossReason::QuorumGone(votes()),
                    };
                    self.lose_hold(attempt_id, reason);
                    asker.into_iter().for_each(|asker| self.answer_lost(asker, attempt_id));
                }
            }
        }
        if complete {
            self.close_round(id);
        }
    }

    /// Reports to a caller that the hold it extends is over. The keeper needs no report.
    fn answer_lost(&mut self, asker: Asker, attempt: AttemptId) {
        let Some(request) = asker.request() else { return };
        let result = Err(NotExtended::Lost);
        self.events.push(Event::Extended { request: Some(request), attempt, result });
    }

    pub(super) fn move_deadline(&mut self, id: AttemptId, old: Instant, new: Instant) {
        if let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) {
            hold.deadline = new;
            self.timers.cancel(old, Timer::Deadline(id));
            self.timers.set(new, Timer::Deadline(id));
        }
    }

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
