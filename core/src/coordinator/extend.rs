//! The extension: one round for a held lock, its effect on the deadline, and the top-up after it.

use super::attempt::Attempt;
use super::note::Prolonged;
use super::round::{self, Asker, Round};
use super::session::{Purpose, Session};
use super::timers::Timer;
use super::wire::Reply;
use super::{AttemptId, Coordinator, Event, Loss, NotExtended, RoundId, barrier};
use crate::quorum::{Extension, Instant, Progress, Report};
use crate::report::{Answer, Cause};
use std::sync::Arc;
use std::time::Duration;

impl Coordinator {
    pub(super) fn begin_extend(&mut self, now: Instant, asker: Asker, id: AttemptId) {
        self.lapse_if_due(now, id);
        let Some(attempt) = self.attempts.get(id).filter(|attempt| attempt.held().is_some()) else {
            let (asked, none) = (Some(asker), Duration::ZERO);
            self.notes.extension(id, asked, Prolonged::Lost, none, Vec::new);
            return self.answer_lost(asker, id);
        };
        let life = attempt.claim.life.span();
        if !self.is_held_up(now, life, barrier::Round::Extend(asker, id)) {
            self.begin_extension(now, asker, id);
        }
    }

    /// Begins an extension, without anything to wait for first.
    pub(super) fn begin_extension(&mut self, now: Instant, asker: Asker, id: AttemptId) {
        self.lapse_if_due(now, id);
        let Some(attempt) = self.attempts.get(id).filter(|attempt| attempt.held().is_some()) else {
            let (asked, none) = (Some(asker), Duration::ZERO);
            self.notes.extension(id, asked, Prolonged::Lost, none, Vec::new);
            return self.answer_lost(asker, id);
        };
        let barred = self.barred(now, attempt.claim.life.span());
        let ttl = attempt.ttl.span();
        let timeout = self.settings.round_timeout(ttl);
        let warming = |(node, session): (usize, &Session)| session.warming_up(now).map(|_| node);
        let warming = self.sessions.iter().enumerate().filter_map(warming).collect();
        let extension = Extension::new(self.settings.membership, now, ttl, warming);
        let purpose =
            round::Purpose::Extend { asker: Some(asker), attempt: id, extension, won: false };
        let mut round = self.new_round(purpose, now, timeout);
        let Some(attempt) = self.attempts.get(id) else { return };
        let command = attempt.claim.extend(&mut self.packer);
        let round_id: RoundId = self.rounds.reserve();
        for (node, session) in self.sessions.iter_mut().enumerate() {
            match session.takes(command.len(), now, barred.as_ref()) {
                Ok(()) => session.push(Purpose::Vote(round_id), command),
                // The node may hold the key nevertheless: `report` counts it as unknown.
                Err(reason) => round.report(node, Answer::Refused(reason), now),
            }
        }
        self.timers.set(round.timeout_at, Timer::Round(round_id));
        self.rounds.insert(round_id, round);
        self.judge_extension(now, round_id);
    }

    pub(super) fn vote_extension(
        &mut self,
        now: Instant,
        id: RoundId,
        node: usize,
        answer: Answer,
    ) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let vacant = answer == Answer::Vacant;
        round.report(node, answer, now);
        let was_won = matches!(round.purpose, round::Purpose::Extend { won: true, .. });
        let attempt = round.attempt();
        self.judge_extension(now, id);
        // A straggler of a round that was already won.
        if let (true, true, Some(attempt)) = (was_won, vacant, attempt) {
            self.top_up(now, attempt, node);
        }
    }

    /// Judges the round by the answers so far.
    pub(super) fn judge_extension(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let complete = round.is_complete();
        let started = round.started;
        let round::Purpose::Extend { asker, attempt, extension, won } = &mut round.purpose else {
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
        let deadline = hold.deadline;
        match extension.progress(deadline, now, self.settings.drift) {
            Progress::Pending => {}
            // A quorum is no longer possible. But an outstanding answer may show that the hold is
            // lost, and the reader of the report needs to know which nodes held the key.
            Progress::Unconfirmed if !complete => {}
            Progress::Extended(_) if *won => {}
            Progress::Extended(extended) => {
                *won = true;
                let asker = asker.take();
                // The keeper's end applies, whether the caller or the keeper asked.
                let extended = hold.keeper.map_or(extended, |keeper| keeper.cap(extended));
                let extended = extended.max(deadline);
                let vacant = extension.vacant();
                let votes = || round.reports(self.sessions.iter().map(|session| &session.name));
                let took = now.since(started);
                self.notes.extension(attempt_id, asker, Prolonged::Extended, took, votes);
                self.move_deadline(attempt_id, deadline, extended);
                vacant.iter().for_each(|node| self.top_up(now, attempt_id, node));
                let (request, result) = (asker.and_then(Asker::request), Ok(extended));
                self.events.push_back(Event::Extended { request, attempt: attempt_id, result });
                self.keep_after(started, attempt_id);
            }
            Progress::Unconfirmed => {
                let asker = asker.take();
                let votes = || round.reports(self.sessions.iter().map(|session| &session.name));
                let took = now.since(started);
                self.notes.extension(attempt_id, asker, Prolonged::Unconfirmed, took, votes);
                match asker {
                    Some(Asker::Caller(request)) => {
                        let result = Err(NotExtended::Unconfirmed(votes()));
                        let request = Some(request);
                        let event = Event::Extended { request, attempt: attempt_id, result };
                        self.events.push_back(event);
                    }
                    Some(Asker::Keeper) => self.keep_again(now, attempt_id),
                    None => {}
                }
            }
            Progress::Lost => {
                let asker = asker.take();
                let votes = || round.reports(self.sessions.iter().map(|session| &session.name));
                let took = now.since(started);
                self.notes.extension(attempt_id, asker, Prolonged::Lost, took, votes);
                let loss = if now >= deadline {
                    Loss::Lapsed
                } else {
                    Loss::QuorumGone(Arc::new(votes()))
                };
                self.lose_hold(attempt_id, loss);
                asker.into_iter().for_each(|asker| self.answer_lost(asker, attempt_id));
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
        self.events.push_back(Event::Extended { request: Some(request), attempt, result });
    }

    fn move_deadline(&mut self, id: AttemptId, old: Instant, new: Instant) {
        if let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) {
            hold.deadline = new;
            self.timers.cancel(old, Timer::Deadline(id));
            self.timers.set(new, Timer::Deadline(id));
        }
    }

    /// Sends the ordinary acquire command with the same token to a node that said *vacant* in a
    /// round that was won. Its answer does not count, not even `Granted`: it may refer to a key
    /// that an earlier, late SET put there, and whose life it does not prolong. Counting it leads
    /// to two holders in 20 steps (`SAFETY.md`). The node counts when it says *held* later.
    fn top_up(&mut self, now: Instant, id: AttemptId, node: usize) {
        let Some(attempt) = self.attempts.get(id).filter(|one| one.held().is_some()) else {
            return;
        };
        let barred = self.barred(now, attempt.claim.life.span());
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        let set = attempt.claim.top_up(&mut self.packer);
        let session = &mut self.sessions[node];
        if session.takes(set.len(), now, barred.as_ref()).is_ok() {
            attempt.touched.insert(node);
            session.push(Purpose::Uncounted, set);
            self.notes.topped_up(id, &session.name);
        }
    }
}

impl Round {
    /// Notes an answer to an extension.
    pub(super) fn report(&mut self, node: usize, answer: Answer, now: Instant) {
        let report = match &answer {
            Answer::Held => Report::Held,
            Answer::Vacant => Report::Vacant,
            Answer::Taken => Report::Taken,
            _ => Report::Unknown,
        };
        // The node was warming up when it was asked. Its answer may lead to a top-up, but does not
        // count.
        let warming = match &self.purpose {
            round::Purpose::Extend { extension, .. } => extension.is_warming(node),
            _ => false,
        };
        let answer = match &answer {
            Answer::Held | Answer::Vacant | Answer::Taken if warming => {
                Answer::Unknown(Cause::WarmingUp)
            }
            _ => answer,
        };
        if self.note(node, answer, now)
            && let round::Purpose::Extend { extension, .. } = &mut self.purpose
        {
            extension.record(node, report);
        }
    }
}

/// Reads a master's reply to an extension.
pub(super) fn answer(reply: &Reply) -> Answer {
    match reply {
        Reply::Int(1) => Answer::Held,
        Reply::Int(0) => Answer::Vacant,
        Reply::Int(-1) => Answer::Taken,
        other => Answer::Unknown(Cause::Server(other.unexpected())),
    }
}
