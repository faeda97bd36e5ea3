//! Acquire: an attempt to every node, its verdict, the rollback, and the next attempt.
//!
//! Source: "Distributed Locks with Redis", section "The Redlock Algorithm", steps 1 to 5, and
//! "Retry on Failure".

use super::acquisition::Acquisition;
use super::attempt::{Asking, Hold, Stage, Subject};
use super::barrier;
use super::contention::Phase;
use super::fencing::refusal;
use super::note::Decided;
use super::release::Told;
use super::round::{self, Round};
use super::timers::Timer;
use super::wire::Reply;
use super::{
    Acquire, AttemptId, Coordinator, Event, Failure, FailureKind, Keys, RequestId, RoundId,
};
use crate::quorum::{Instant, Verdict, Vote, validity};
use crate::report::{Answer, Cause, Reason};
use std::time::Duration;

impl Coordinator {
    pub(super) fn begin_acquire(&mut self, now: Instant, request: RequestId, acquire: Acquire) {
        let until = acquire.wait.map_or(Instant::NEVER, |wait| now.after(wait));
        let Acquire { keys, fences, ttl, lock_delay, keep_alive, .. } = acquire;
        let life = ttl.saturating_add(lock_delay);
        let subject = Subject { keys, fences, ttl: ttl.into(), life: life.into() };
        let acquisition = Acquisition { subject, keep_alive, began: now, until, contention: None };
        if self.local_queue.take(&acquisition.subject.keys, request) {
            self.acquisitions.insert(request, acquisition);
            self.acquisitions.contend(request);
            self.try_again(now, request);
        } else {
            self.queue(now, request, acquisition);
        }
    }

    /// Waits behind those in this process that want the same; one that does not wait has lost.
    fn queue(&mut self, now: Instant, request: RequestId, acquisition: Acquisition) {
        if !acquisition.may_retry(now) {
            let in_front = self.failure_in_front(&acquisition.subject.keys);
            return self.events.push_back(acquisition.not_served(request, now, in_front));
        }
        self.local_queue.wait(&acquisition.subject.keys, request);
        self.timers.set(acquisition.until, Timer::Attempt(request));
        self.acquisitions.insert(request, acquisition);
    }

    /// Why the one that contends for one of these in this process has not won by now, if that is not
    /// another holder: an outage is not told as contention to those behind it.
    fn failure_in_front(&self, keys: &Keys) -> Option<Failure> {
        let contenders = keys.iter().filter_map(|key| self.local_queue.contender(key));
        let mut failures =
            contenders.filter_map(|one| match self.acquisitions.get(one)?.phase()? {
                Phase::Waiting { failure, .. } => Some(failure),
                Phase::Confirming | Phase::Trying { .. } => None,
            });
        failures.find(|one| one.kind != FailureKind::Contended).cloned()
    }

    /// Places have become free: whoever is first at all of his goes at once, in the same write as
    /// the release before it, so that nobody gets in between.
    pub(super) fn serve_waiting(&mut self, now: Instant) {
        self.let_through(now, false);
        while let Some(request) = self.local_queue.next_head() {
            let Some(acquisition) = self.acquisitions.get(request) else { continue };
            let keys = &acquisition.subject.keys;
            if self.local_queue.advance(keys, request) {
                self.timers.cancel(acquisition.until, Timer::Attempt(request));
                let steps_back = self.local_queue.steps_back(keys);
                self.acquisitions.contend(request);
                if steps_back {
                    self.step_back(now, request);
                } else {
                    self.try_again(now, request);
                }
            }
        }
    }

    /// The time of the next attempt has come.
    pub(super) fn retry_acquire(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let again_at = match acquisition.phase() {
            None => return self.give_up_waiting(now, request),
            Some(Phase::Waiting { again_at, .. }) => *again_at,
            Some(Phase::Confirming | Phase::Trying { .. }) => return,
        };
        self.timers.cancel(again_at, Timer::Attempt(request));
        // A timer is late by a little as a rule, and by a lot after a stop.
        let round_timeout = self.settings.round_timeout(acquisition.subject.ttl.span());
        if now > acquisition.until.after(round_timeout) {
            return self.give_up_waiting(now, request);
        }
        self.try_again(now, request);
    }

    fn try_again(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let life = acquisition.subject.life.span();
        if self.is_held_up(now, life, barrier::Round::Acquire(request)) {
            if let Some(contention) = self.acquisitions.contention_mut(request) {
                contention.phase = Phase::Confirming;
            }
            return;
        }
        self.begin_attempt(now, request);
    }

    /// Nothing is to be waited for first.
    pub(super) fn begin_attempt(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let Some(contention) = &acquisition.contention else { return };
        let subject = acquisition.subject.clone();
        let probes = contention.probes(now, &self.settings);
        let asking = Asking {
            remaining: contention.asks_remaining(now),
            first: probes.then(|| self.asked_first(now, &subject)).flatten(),
        };
        match self.attempt(now, request, &subject, &asking) {
            Some((round, attempt)) => {
                if let Some(contention) = self.acquisitions.contention_mut(request) {
                    if asking.first.is_none() {
                        contention.asked_all = now;
                    }
                    contention.try_again(round, attempt);
                }
                self.judge_acquire(now, round);
            }
            None => {
                self.end_acquisition(request);
                self.events.push_back(Event::NoRandomness { request });
            }
        }
    }

    /// It contends no more, and has not won: its places are free.
    fn end_acquisition(&mut self, request: RequestId) -> Option<Acquisition> {
        let acquisition = self.acquisitions.remove(request)?;
        match acquisition.contention {
            None => self.local_queue.forget(&acquisition.subject.keys, request),
            Some(_) => self.local_queue.free(&acquisition.subject.keys),
        }
        Some(acquisition)
    }

    /// Lets others go first.
    fn step_back(&mut self, now: Instant, request: RequestId) {
        let random = self.random.jitter();
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let at = contention.step_back(now, self.settings.backoff.base, random);
        self.timers.set(at, Timer::Attempt(request));
    }

    /// The wait was over before the attempt at its end could begin: what the one before it came to
    /// is the answer.
    fn give_up_waiting(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.end_acquisition(request) else { return };
        let in_front = self.failure_in_front(&acquisition.subject.keys);
        self.events.push_back(acquisition.not_served(request, now, in_front));
    }

    /// The caller has gone: what it began is rolled back.
    pub(super) fn cancel_acquire(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.end_acquisition(request) else { return };
        match acquisition.phase() {
            None => self.timers.cancel(acquisition.until, Timer::Attempt(request)),
            Some(Phase::Confirming) => {}
            Some(Phase::Trying { round, attempt }) => {
                self.close_round(*round);
                // It may have refused others, who wait to be told: nobody here goes on to tell them.
                if let Some(attempt) = self.attempts.remove(*attempt) {
                    self.give_back(now, attempt, None);
                }
            }
            Some(Phase::Waiting { again_at, .. }) => {
                self.timers.cancel(*again_at, Timer::Attempt(request));
            }
        }
    }

    pub(super) fn vote_acquire(&mut self, now: Instant, id: RoundId, node: usize, answer: Answer) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        round.vote(node, answer, now);
        self.judge_acquire(now, id);
    }

    /// What has come of the round so far.
    pub(super) fn judge_acquire(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let round::Purpose::Acquire { request, attempt, tally } = &round.purpose else { return };
        let (request, attempt_id, verdict, started) =
            (*request, *attempt, tally.verdict(), round.started);
        if round.held_back.is_some() {
            return self.judge_first(now, id);
        }
        let complete = round.is_complete();
        if verdict == Verdict::Pending && !complete {
            return;
        }
        // Clocks that are too far apart are told only once all have told theirs.
        if verdict == Verdict::Lost && !complete && round.speaks_of_clocks() {
            return;
        }
        let ttl = match verdict {
            Verdict::Pending => None,
            _ => self
                .attempts
                .get(attempt_id)
                .filter(|one| matches!(one.stage, Stage::Asked))
                .map(|one| one.ttl.span()),
        };
        if let Some(ttl) = ttl {
            match validity::deadline(started, now, ttl, self.settings.drift) {
                Some(deadline) if verdict == Verdict::Won => {
                    self.note_won(now, id);
                    self.win(request, attempt_id, started, deadline);
                }
                _ => self.lose(now, id, request, attempt_id, verdict == Verdict::Won),
            }
        }
        if complete {
            self.close_round(id);
        }
    }

    fn win(
        &mut self,
        request: RequestId,
        attempt_id: AttemptId,
        started: Instant,
        deadline: Instant,
    ) {
        let (mut keep_alive, mut ballot) = (None, 0);
        if let Some(acquisition) = self.acquisitions.remove(request) {
            self.local_queue.won(&acquisition.subject.keys);
            self.acquisitions.keep_room(acquisition.contention);
            keep_alive = acquisition.keep_alive;
        }
        if let Some(attempt) = self.attempts.get_mut(attempt_id) {
            ballot = attempt.ballot();
            let keeper = keep_alive.map(|keep_alive| keep_alive.keeper(started));
            attempt.stage = Stage::Held(Hold { deadline, keeper, extend_at: None });
        }
        self.timers.set(deadline, Timer::Deadline(attempt_id));
        self.events.push_back(Event::Acquired { request, attempt: attempt_id, deadline, ballot });
        self.keep_after(started, attempt_id);
    }

    /// Rolls back, then waits for the next attempt or gives the caller its answer. `won`: but too
    /// late.
    pub(super) fn lose(
        &mut self,
        now: Instant,
        id: RoundId,
        request: RequestId,
        attempt_id: AttemptId,
        won: bool,
    ) {
        let Some(round) = self.take_round(id) else { return };
        let ballot = self.attempts.get(attempt_id).map_or(0, |attempt| attempt.ballot());
        self.roll_back(attempt_id);
        let apart = self.learn_clocks(now, request, &round, ballot);
        let reports = round.reports(self.sessions.iter().map(|session| &session.name));
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let is_barred = self.barred(now, acquisition.subject.life.span()).is_some();
        let quorum_can_vote = !is_barred && self.quorum_can_vote(now);
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let may_hurry = contention.may_hurry(&reports);
        for (node, report) in reports.iter().enumerate() {
            let free_in = match report.answer {
                Answer::Granted => Some(Duration::ZERO),
                Answer::Refused(Reason::Held { remaining }) => remaining,
                Answer::Refused(Reason::Stale | Reason::Clock { .. }) => {
                    may_hurry.then_some(Duration::ZERO)
                }
                // It may have told how long, and not yet that it refuses.
                Answer::Outstanding => round.life(node),
                _ => None,
            };
            free_in.into_iter().for_each(|left| contention.learn(node, left));
        }
        // A quorum that granted too late was refused by nobody.
        let kind = match apart {
            _ if won => FailureKind::NoQuorum,
            Some(cause) => FailureKind::Disagreement(cause),
            None => FailureKind::of(self.settings.membership, &reports),
        };
        let (decided, took) = (Decided::lost(won, &kind), now.since(round.started));
        self.notes.lost(request, contention.attempts, decided, took, &reports);
        // What was wrong was our own, and is mended: whoever asks for one attempt does not mean
        // that one.
        if contention.is_mended(self.settings.membership, &kind, &reports) {
            contention.probes = false;
            return self.try_again(now, request);
        }
        let failure = Failure { kind, reports, attempts: contention.attempts };
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        if acquisition.may_retry(now) {
            // Where too few are open, only time or another session changes anything.
            let random = quorum_can_vote.then(|| self.random.jitter());
            let is_told = failure.kind == FailureKind::Contended && self.settings.wakes_up;
            let keys = acquisition.subject.keys.clone();
            let listening = is_told && self.listen(now, &keys);
            let Some(contention) = self.acquisitions.contention_mut(request) else { return };
            (contention.probes, contention.listening) = (is_told, listening);
            let at = contention.wait(now, &self.settings, attempt_id, failure, took, random);
            self.timers.set(at, Timer::Attempt(request));
        } else {
            let waited = now.since(acquisition.began);
            self.end_acquisition(request);
            self.events.push_back(Event::NotAcquired { request, failure, waited });
        }
    }

    /// Every node to which the SET has left, whatever it said, with a debt of its own.
    fn roll_back(&mut self, attempt: AttemptId) {
        if let Some(attempt) = self.attempts.remove(attempt) {
            self.owe(attempt, None, true, &Told::By(None));
        }
    }

    /// A node has opened, has warmed up, or has confirmed what we go by: whoever waits because too few
    /// could vote tries again at once, if there are enough now.
    pub(super) fn wake_starved(&mut self, now: Instant) {
        if !self.quorum_can_vote(now) {
            return;
        }
        let starved = self.acquisitions.iter().filter_map(|(request, one)| match one.phase()? {
            // Without a pause to wait for, or refused by masters that were no quorum.
            Phase::Waiting { random: None, .. } => Some(request),
            Phase::Waiting { failure, .. } if failure.kind != FailureKind::Contended => {
                Some(request)
            }
            _ => None,
        });
        for request in starved.collect::<Vec<_>>() {
            self.retry_acquire(now, request);
        }
    }
}

impl Round {
    /// Notes an answer to an acquire, and counts it.
    pub(super) fn vote(&mut self, node: usize, answer: Answer, now: Instant) {
        let vote = match &answer {
            Answer::Granted => Vote::Granted,
            Answer::Unknown(_) => Vote::Unknown,
            _ => Vote::Refused,
        };
        if self.note(node, answer, now)
            && let round::Purpose::Acquire { tally, .. } = &mut self.purpose
        {
            tally.record(node, vote);
        }
    }
}

/// What a master's reply to `SET NX` or to the acquire's script says.
pub(super) fn answer(reply: &Reply) -> Answer {
    match reply {
        Reply::Okay => Answer::Granted,
        Reply::Nil => Answer::Refused(Reason::Held { remaining: None }),
        Reply::Array(parts) => refusal(parts),
        Reply::Error(_) => Answer::Refused(Reason::Server(reply.unexpected())),
        other => Answer::Unknown(Cause::Server(other.unexpected())),
    }
}
