//! A held lock: extension, top-up, loss, release.

use super::attempt::Attempt;
use super::ledger::{Debt, Deletion};
use super::note::Prolonged;
use super::places::Places;
use super::round::{self, Asker, Round};
use super::session::{Purpose, Session};
use super::timers::{Timer, Timers};
use super::{AttemptId, Coordinator, Event, Loss, NotExtended, Release, RequestId, RoundId, wire};
use crate::quorum::{Extension, Instant, NodeSet, Progress, Report, Tally, Verdict, Vote};
use crate::report::{Answer, Cause};
use redis::Value;
use std::sync::Arc;
use std::time::Duration;

impl Coordinator {
    // Extend.

    pub(super) fn begin_extend(&mut self, now: Instant, asker: Asker, id: AttemptId) {
        self.lapse_if_due(now, id);
        let Some(attempt) = self.attempts.get(id).filter(|attempt| attempt.held().is_some()) else {
            let (asked, none) = (Some(asker), Duration::ZERO);
            self.notes.extension(id, asked, Prolonged::Lost, none, Vec::new);
            return self.answer_lost(asker, id);
        };
        let command = attempt.claim.extend(&mut self.packer);
        let timeout = self.settings.round_timeout(attempt.ttl);
        let warming = |(node, session): (usize, &Session)| session.warming_up(now).map(|_| node);
        let warming = self.sessions.iter().enumerate().filter_map(warming).collect();
        let extension = Extension::new(self.settings.membership, now, attempt.ttl, warming);
        let purpose =
            round::Purpose::Extend { asker: Some(asker), attempt: id, extension, won: false };
        let mut round = Round::new(purpose, now, timeout, self.sessions.len());
        let round_id: RoundId = self.rounds.reserve();
        for (node, session) in self.sessions.iter_mut().enumerate() {
            match session.admits(command.len()) {
                Ok(()) => session.push(Purpose::Vote(round_id), &command),
                // It may hold the key all the same: `report` counts it as unknown.
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
        // A straggler of a round that was won before.
        if let (true, true, Some(attempt)) = (was_won, vacant, attempt) {
            self.top_up(attempt, node);
        }
    }

    /// What has come of the round so far.
    pub(super) fn judge_extension(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let complete = round.is_complete();
        let started = round.started;
        let round::Purpose::Extend { asker, attempt, extension, won } = &mut round.purpose else {
            return;
        };
        let attempt_id = *attempt;
        let Some(hold) = self.attempts.get(attempt_id).and_then(Attempt::held) else {
            // Released or lost meanwhile: nothing that comes back counts.
            let asker = asker.take();
            self.close_round(id);
            asker.into_iter().for_each(|asker| self.answer_lost(asker, attempt_id));
            return;
        };
        let deadline = hold.deadline;
        match extension.progress(deadline, now, self.settings.drift) {
            Progress::Pending => {}
            // No quorum any more, but those that are still out may tell that it is lost, and whoever
            // reads the report wants to know who held.
            Progress::Unconfirmed if !complete => {}
            Progress::Extended(_) if *won => {}
            Progress::Extended(extended) => {
                *won = true;
                let asker = asker.take();
                let extended = match (asker, hold.keeper) {
                    (Some(Asker::Keeper), Some(keeper)) => keeper.cap(extended).max(deadline),
                    _ => extended,
                };
                let vacant = extension.vacant();
                let votes = || round.reports(self.sessions.iter().map(|session| &session.name));
                let took = now.since(started);
                self.notes.extension(attempt_id, asker, Prolonged::Extended, took, votes);
                self.move_deadline(attempt_id, deadline, extended);
                vacant.iter().for_each(|node| self.top_up(attempt_id, node));
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
                let loss =
                    if now >= deadline { Loss::Lapsed } else { Loss::QuorumGone(votes().into()) };
                self.lose_hold(attempt_id, loss);
                asker.into_iter().for_each(|asker| self.answer_lost(asker, attempt_id));
            }
        }
        if complete {
            self.close_round(id);
        }
    }

    /// Whoever extends a hold that is over is told why; the keeper needs no telling.
    fn answer_lost(&mut self, asker: Asker, attempt: AttemptId) {
        let Some(request) = asker.request() else { return };
        let result = Err(NotExtended::Lost);
        self.events.push_back(Event::Extended { request: Some(request), attempt, result });
    }

    fn move_deadline(&mut self, id: AttemptId, old: Instant, new: Instant) {
        if let Some(hold) = self.attempts.get_mut(id).and_then(|one| one.hold.as_mut()) {
            hold.deadline = new;
            self.timers.cancel(old, Timer::Deadline(id));
            self.timers.set(new, Timer::Deadline(id));
        }
    }

    /// The ordinary acquire command with the same token, to a node that said *vacant* in a round
    /// that was won. Its answer counts for nothing, `Granted` included: it may be the answer to a
    /// key that an earlier, late SET put there, whose life it does not prolong. Counting it gives
    /// two holders in 20 steps (`SAFETY.md`). The node counts when it says *held* later.
    fn top_up(&mut self, id: AttemptId, node: usize) {
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        if attempt.held().is_none() {
            return;
        }
        let set = attempt.claim.top_up(&mut self.packer);
        let session = &mut self.sessions[node];
        if session.admits(set.len()).is_ok() {
            attempt.touched.insert(node);
            session.push(Purpose::Uncounted, &set);
            self.notes.topped_up(id, &session.name);
        }
    }

    // Loss.

    pub(super) fn lapse_if_due(&mut self, now: Instant, id: AttemptId) {
        let hold = self.attempts.get(id).and_then(Attempt::held);
        if hold.is_some_and(|hold| now >= hold.deadline) {
            self.lose_hold(id, Loss::Lapsed);
        }
    }

    /// Lost for good. The keys stay until the guard is gone: whoever still works behind its back
    /// is not also exposed to the next holder any earlier than need be.
    pub(super) fn lose_hold(&mut self, id: AttemptId, loss: Loss) {
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        if attempt.held().is_none() {
            return;
        }
        disarm(&mut self.timers, &mut self.places, id, attempt);
        if let Some(hold) = attempt.hold.as_mut() {
            hold.lost = Some(loss.clone());
            self.events.push_back(Event::Lost { attempt: id, loss });
        }
    }

    // Release.

    /// Deletes the key wherever it may stand. `request` is answered when a quorum has deleted.
    pub(super) fn begin_release(
        &mut self,
        now: Instant,
        request: Option<RequestId>,
        id: AttemptId,
        in_time: bool,
    ) {
        if !in_time {
            self.lapse_if_due(now, id);
        }
        let Some(attempt) = self.attempts.remove(id) else {
            if let Some(request) = request {
                let release = Release::Lost(Loss::Released);
                self.events.push_back(Event::Released { request, release });
            }
            return;
        };
        disarm(&mut self.timers, &mut self.places, id, &attempt);
        let lost = attempt.hold.as_ref().and_then(|hold| {
            hold.lost.clone().filter(|loss| !(in_time && matches!(loss, Loss::Lapsed)))
        });
        match (request, lost) {
            // Whatever was still under way when it was lost has the delay to arrive in.
            (request, Some(loss)) if attempt.is_delayed() => {
                let release = Release::Lost(loss);
                let told = request.map(|request| Event::Released { request, release });
                self.events.extend(told);
            }
            (None, _) => self.give_back(now, &attempt, None),
            (Some(request), Some(loss)) => {
                self.give_back(now, &attempt, None);
                self.events.push_back(Event::Released { request, release: Release::Lost(loss) });
            }
            (Some(request), None) => self.confirm_release(now, request, &attempt),
        }
    }

    fn confirm_release(&mut self, now: Instant, request: RequestId, attempt: &Attempt) {
        let tally = Tally::new(self.settings.membership);
        let purpose = round::Purpose::Release { request, tally };
        let timeout = self.settings.round_timeout(attempt.ttl);
        let mut round = Round::new(purpose, now, timeout, self.sessions.len());
        for (node, session) in self.sessions.iter().enumerate() {
            if !attempt.touched.contains(node) {
                round.deletion(node, Answer::Vacant, now);
            } else if let Some(fault) = session.fault() {
                round.deletion(node, Answer::Unknown(Cause::Down(fault.cause.clone())), now);
            }
        }
        let id: RoundId = self.rounds.reserve();
        self.timers.set(round.timeout_at, Timer::Round(id));
        self.rounds.insert(id, round);
        self.give_back(now, attempt, Some(id));
        self.judge_release(id);
    }

    pub(super) fn vote_release(
        &mut self,
        now: Instant,
        id: RoundId,
        node: usize,
        said: Result<bool, Arc<str>>,
    ) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let answer = match said {
            Ok(true) => Answer::Deleted,
            Ok(false) => Answer::Vacant,
            Err(error) => Answer::Unknown(Cause::Server(error)),
        };
        round.deletion(node, answer, now);
        self.judge_release(id);
    }

    pub(super) fn judge_release(&mut self, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let round::Purpose::Release { request, tally } = &round.purpose else { return };
        let request = *request;
        let release = match tally.verdict() {
            Verdict::Pending => return,
            Verdict::Won => Release::Released,
            Verdict::Lost => {
                let names = self.sessions.iter().map(|session| &session.name);
                Release::Unconfirmed(round.reports(names))
            }
        };
        self.events.push_back(Event::Released { request, release });
        self.close_round(id);
    }

    /// The key stays until it expires; nobody extends or deletes it.
    pub(super) fn leave(&mut self, id: AttemptId) {
        if let Some(attempt) = self.attempts.remove(id) {
            disarm(&mut self.timers, &mut self.places, id, &attempt);
        }
    }

    /// A lock, or what was set of it, is given back: to the next in this process, or to whoever is
    /// told.
    pub(super) fn give_back(&mut self, now: Instant, attempt: &Attempt, round: Option<RoundId>) {
        let keys = &attempt.claim.keys;
        let tell = self.places.pass_on(keys) && self.settings.wakes_up;
        let told = keys.iter().filter(|_| tell).filter_map(|key| self.first_node(now, key));
        let told = told.collect();
        self.owe(attempt, round, told);
    }

    /// Every node where the key may stand owes its deletion; those of `told` tell who waits for it.
    pub(super) fn owe(&mut self, attempt: &Attempt, round: Option<RoundId>, told: NodeSet) {
        let Attempt { claim, touched, began, .. } = attempt;
        let mut settle = |nodes: NodeSet, channels: Option<&str>| {
            if nodes != NodeSet::EMPTY {
                let command = claim.release(&mut self.packer, channels);
                let tells = channels.map(|_| claim.keys.first().clone());
                let ttl = claim.life;
                let deletion = Arc::new(Deletion { command, ttl, round, tells, began: *began });
                for node in nodes.iter() {
                    self.sessions[node].settle(Debt::new(deletion.clone()));
                }
            }
        };
        settle(touched.difference(told), None);
        settle(touched.intersection(told), Some(&self.channels));
    }
}

/// Nothing more comes of a hold that is over; its places are free, unless they have been since it
/// was lost.
fn disarm(timers: &mut Timers, places: &mut Places, id: AttemptId, attempt: &Attempt) {
    let Some(hold) = attempt.held() else { return };
    timers.cancel(hold.deadline, Timer::Deadline(id));
    if let Some(at) = hold.extend_at {
        timers.cancel(at, Timer::Keep(id));
    }
    places.free(&attempt.claim.keys);
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
        // It was warming up when it was asked: what it says may top it up, and counts for nothing.
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

    /// Notes an answer to a release.
    pub(super) fn deletion(&mut self, node: usize, answer: Answer, now: Instant) {
        let vote = match &answer {
            Answer::Deleted => Vote::Granted,
            Answer::Vacant => Vote::Refused,
            _ => Vote::Unknown,
        };
        if self.note(node, answer, now)
            && let round::Purpose::Release { tally, .. } = &mut self.purpose
        {
            tally.record(node, vote);
        }
    }
}

/// What a master's reply to an extension says.
pub(super) fn answer(reply: &Value) -> Answer {
    match reply {
        Value::Int(1) => Answer::Held,
        Value::Int(0) => Answer::Vacant,
        Value::Int(-1) => Answer::Taken,
        other => Answer::Unknown(Cause::Server(wire::unexpected(other))),
    }
}
