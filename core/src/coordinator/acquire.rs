//! The acquire: an attempt at every node, its verdict, the rollback, and the next attempt.
//!
//! Source: "Distributed Locks with Redis", section "The Redlock Algorithm", steps 1 to 5, and
//! "Retry on Failure".

use super::acquisition::Acquisition;
use super::attempt::{Asking, Attempt, Hold, Stage};
use super::barrier;
use super::contention::Phase;
use super::fencing::refusal;
use super::release::Told;
use super::round::RoundKind;
use super::timers::Timer;
use super::wire::{Leaves, Reply};
use super::{
    AcquireRequest, AttemptId, Coordinator, Event, Failure, FailureKind, Keys, RequestId, RoundId,
};
use crate::obstacle::Obstacle;
use crate::quorum::{Instant, Verdict, Vote, validity};
use crate::report::{Answer, Refusal, UnknownCause};
use std::time::Duration;

impl Coordinator {
    pub(super) fn begin_acquire(
        &mut self,
        now: Instant,
        request: RequestId,
        acquire: AcquireRequest,
    ) {
        if let Some(slots) = acquire.keys.slots().cloned() {
            return self.seek(now, request, acquire, slots);
        }
        if acquire.keys.as_reader().is_some() {
            return self.begin_read(now, request, acquire);
        }
        let acquisition = Acquisition { request: acquire, began: now, contention: None };
        if self.local_queue.take(&acquisition.request.keys, request) {
            self.acquisitions.insert(request, acquisition);
            self.acquisitions.contend(request);
            self.try_again(now, request);
        } else {
            self.queue(now, request, acquisition);
        }
    }

    /// Queues the acquire behind others in this process that want or have one of its keys. An
    /// acquire that does not wait has lost.
    fn queue(&mut self, now: Instant, request: RequestId, acquisition: Acquisition) {
        if !acquisition.may_retry(now) {
            let in_front = self.failure_in_front(&acquisition.request.keys);
            return self.events.push(acquisition.not_served(request, now, in_front));
        }
        self.events.queued(request, &self.obstacle_here(&acquisition.request.keys));
        self.local_queue.wait(&acquisition.request.keys, request);
        self.timers.set(acquisition.until(), Timer::Attempt(request));
        let key = acquisition.request.keys.first().clone();
        self.acquisitions.insert(request, acquisition);
        self.want_behind(now, &key);
    }

    /// Returns what keeps an acquire of `keys` from asking the masters.
    fn obstacle_here(&self, keys: &Keys) -> Obstacle {
        if self.local_queue.is_held(keys) { Obstacle::OwnGuard } else { Obstacle::LocalQueue }
    }

    /// Returns why an acquire that waits for one of `keys` in this process has not been served. If
    /// the acquire that contends for it has met an outage, that is the reason: it must not be
    /// reported as contention to the acquires behind it.
    pub(super) fn failure_in_front(&self, keys: &Keys) -> Failure {
        let contenders = keys.iter().filter_map(|key| self.local_queue.contender(key));
        let mut failures =
            contenders.filter_map(|one| match self.acquisitions.get(one)?.phase()? {
                Phase::Waiting { failure, .. } => Some(failure),
                Phase::Confirming | Phase::Trying { .. } => None,
            });
        let outage = failures.find(|one| !one.kind.is_contended()).cloned();
        outage.unwrap_or_else(|| Failure::contended(self.obstacle_here(keys), 0))
    }

    /// Serves the queue after places have become free. An acquire that is first in all its queues
    /// begins at once, in the same write as the release before it. So no other client gets in
    /// between.
    pub(super) fn serve_waiting(&mut self, now: Instant) {
        self.let_through(now, false);
        while let Some(request) = self.local_queue.next_head() {
            let Some(acquisition) = self.acquisitions.get(request) else { continue };
            let keys = &acquisition.request.keys;
            if self.local_queue.advance(keys, request) {
                self.timers.cancel(acquisition.until(), Timer::Attempt(request));
                let steps_back = self.local_queue.steps_back(keys);
                self.acquisitions.contend(request);
                if steps_back {
                    self.step_back(now, request);
                } else {
                    self.try_again(now, request);
                }
            }
        }
        self.serve_seekers(now);
        self.serve_readers(now);
    }

    /// Retries an acquire whose next attempt is due.
    pub(super) fn retry_acquire(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else {
            return self.seek_again(now, request);
        };
        let again_at = match acquisition.phase() {
            None => return self.give_up_waiting(now, request),
            Some(Phase::Waiting { again_at, .. }) => *again_at,
            Some(Phase::Confirming | Phase::Trying { .. }) => return,
        };
        self.timers.cancel(again_at, Timer::Attempt(request));
        // A timer is usually a little late, and very late after the process was stopped.
        let round_timeout = self.settings.round_timeout(acquisition.request.ttl.span());
        if now > acquisition.until().after(round_timeout) {
            return self.give_up_waiting(now, request);
        }
        if acquisition.has_turn() {
            return match acquisition.may_retry(now) {
                true => self.take_turn(now, request),
                false => self.give_up_waiting(now, request),
            };
        }
        self.try_again(now, request);
    }

    pub(super) fn try_again(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let life = acquisition.request.life().span();
        if self.is_held_up(now, life, barrier::Round::Acquire(request)) {
            if let Some(contention) = self.acquisitions.contention_mut(request) {
                contention.phase = Phase::Confirming;
            }
            return;
        }
        self.begin_attempt(now, request);
    }

    /// Begins an attempt, without anything to wait for first.
    pub(super) fn begin_attempt(&mut self, now: Instant, request: RequestId) {
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let Some(contention) = &acquisition.contention else { return };
        let acquire = acquisition.request.clone();
        let probes = contention.probes(now, &self.settings);
        let asking = Asking {
            remaining: acquisition.asks_remaining(now, &self.settings),
            first: (probes || acquire.probes)
                .then(|| self.asked_first(now, &acquire, contention.standing.speaker()))
                .flatten(),
        };
        match self.attempt(now, request, acquire, &asking) {
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
                self.end_acquisition(now, request);
                self.events.push(Event::NoRandomness { request });
            }
        }
    }

    /// Lets others go first.
    fn step_back(&mut self, now: Instant, request: RequestId) {
        let random = self.random.jitter();
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        let at = contention.step_back(now, self.settings.backoff.base, random);
        self.timers.set(at, Timer::Attempt(request));
    }

    /// Judges the round by the answers so far.
    pub(super) fn judge_acquire(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Acquire { request, attempt, tally } = &round.kind else { return };
        let (request, attempt_id, verdict, started) =
            (*request, *attempt, tally.verdict(), round.started);
        if round.held_back.is_some() {
            return self.judge_first(now, id);
        }
        let complete = round.is_complete();
        // Clocks that are too far apart are reported only once every node has reported its own.
        if verdict == Verdict::Lost && !complete && round.speaks_of_clocks() {
            return;
        }
        let asked = match verdict {
            Verdict::Pending => None,
            _ => self
                .attempts
                .get(attempt_id)
                .filter(|one| matches!(one.stage, Stage::Asked))
                .map(|one| (one.ttl.span(), round.warming())),
        };
        if let Some((ttl, warming)) = asked {
            match validity::deadline(started, now, ttl, self.settings.drift) {
                Some(deadline) if verdict == Verdict::Won => {
                    self.observe_win(now, id);
                    self.win(now, request, attempt_id, started, deadline);
                    warming.iter().for_each(|node| self.top_up(now, attempt_id, node));
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
        now: Instant,
        request: RequestId,
        attempt_id: AttemptId,
        started: Instant,
        deadline: Instant,
    ) {
        let (mut keep_alive, mut ballot) = (None, None);
        if let Some(acquisition) = self.acquisitions.remove(request) {
            self.withdraw_hint(now, request, &acquisition.request.keys, true);
            let keys = &acquisition.request.keys;
            match keys.as_reader() {
                Some(_) => {
                    self.readers.forget(keys.first(), request);
                    self.readers.stir(keys.first());
                }
                None => self.local_queue.won(keys),
            }
            keep_alive = acquisition.request.keep_alive;
            let mut contention = acquisition.contention;
            if let Some(turn) = contention.as_mut().and_then(|one| one.turn.take()) {
                self.leave_turn_won(now, acquisition.request.keys, *turn);
            }
            self.acquisitions.keep_room(contention);
        }
        if let Some(attempt) = self.attempts.get_mut(attempt_id) {
            ballot = attempt.ballot();
            let keeper = keep_alive.map(|keep_alive| keep_alive.keeper(started));
            attempt.stage = Stage::Held(Hold { deadline, keeper, extend_at: None, untold: false });
        }
        self.timers.set(deadline, Timer::Deadline(attempt_id));
        self.events.push(Event::Acquired { request, attempt: attempt_id, deadline, ballot });
        self.keep_after(started, attempt_id);
    }

    /// Rolls back, then waits for the next attempt or gives the caller its answer. `won`: a quorum
    /// has granted, but too late.
    pub(super) fn lose(
        &mut self,
        now: Instant,
        id: RoundId,
        request: RequestId,
        attempt_id: AttemptId,
        won: bool,
    ) {
        let Some(round) = self.take_round(id) else { return };
        let ballot = self.attempts.get(attempt_id).and_then(Attempt::ballot);
        self.roll_back(now, attempt_id);
        let apart = self.learn_clocks(now, request, &round, ballot);
        let reports = round.reports(self.sessions.iter().map(|session| &session.name));
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        let is_barred = self.barred(now, acquisition.request.life().span()).is_some();
        let quorum_can_vote = !is_barred && self.quorum_can_vote(now);
        let has_asked_all = round.held_back.is_none();
        let channel = acquisition.request.keys.messages().next().filter(|_| has_asked_all);
        let standing = channel.map(|(channel, _)| self.refused_by(now, channel, &reports));
        let Some(contention) = self.acquisitions.contention_mut(request) else { return };
        if let Some(standing) = standing {
            contention.find(standing);
        }
        let may_hurry = contention.may_hurry(&reports);
        for (node, report) in reports.iter().enumerate() {
            let free_in = match report.answer {
                Answer::Granted => Some(Duration::ZERO),
                Answer::Refused(Refusal::Held { remaining }) => remaining,
                Answer::Refused(Refusal::Wanted { remaining }) => Some(remaining),
                Answer::Refused(Refusal::Stale | Refusal::Clock { .. }) => {
                    may_hurry.then_some(Duration::ZERO)
                }
                // It may have reported the remaining life, but not its refusal yet.
                Answer::Outstanding => round.life(node),
                _ => None,
            };
            free_in.into_iter().for_each(|left| contention.learn(node, left));
        }
        // An attempt that a quorum granted too late was not refused.
        let kind = match apart {
            _ if won => FailureKind::TooLate,
            Some(cause) => FailureKind::Disagreement(cause),
            None => FailureKind::of(self.settings.membership, &reports, round.named()),
        };
        let (number, took) = (contention.attempts, now.since(round.started));
        self.events.attempt(request, number, Err(&kind), took, || reports.clone());
        // The fault was our own, and is fixed. A caller that asks for one attempt does not mean
        // that one.
        if contention.is_mended(self.settings.membership, &kind, &reports) {
            contention.probes = false;
            return self.try_again(now, request);
        }
        let failure = Failure { kind, reports, attempts: contention.attempts, ahead: None };
        let Some(acquisition) = self.acquisitions.get(request) else { return };
        if acquisition.may_retry(now) {
            let keys = acquisition.request.keys.clone();
            if failure.kind.is_contended() {
                self.want(now, request, &keys);
            }
            let Some(failure) = self.wait_in_turn(now, request, attempt_id, failure) else {
                return;
            };
            // While too few masters can vote, only time or another session changes anything.
            let random = quorum_can_vote.then(|| self.random.jitter());
            let is_told = failure.kind.is_contended() && self.settings.wake_ups;
            let listening = is_told && self.listen(now, &keys);
            // The first of the readers that wait tries for all of them.
            let polls = keys.as_reader().is_none() || self.readers.wait(keys.first(), request);
            let Some(contention) = self.acquisitions.contention_mut(request) else { return };
            (contention.probes, contention.listening) = (is_told, listening);
            let random = random.filter(|_| polls);
            let at = contention.wait(now, &self.settings, attempt_id, failure, took, random);
            self.timers.set(at, Timer::Attempt(request));
            self.observe_wait(request);
        } else {
            let waited = now.since(acquisition.began);
            self.end_acquisition(now, request);
            self.events.push(Event::NotAcquired { request, failure, waited });
        }
    }

    /// Rolls back at every node to which the SET has left, whatever the node answered. Each node
    /// has a debt of its own.
    fn roll_back(&mut self, now: Instant, attempt: AttemptId) {
        if let Some(attempt) = self.attempts.remove(attempt) {
            self.owe(now, attempt, None, true, &Told::By(None), Leaves::Nothing);
        }
    }

    /// Retries at once every acquire that waits because too few masters could vote, if enough can
    /// vote now. Called when a node has opened, has warmed up, or has confirmed our settings.
    pub(super) fn wake_starved(&mut self, now: Instant) {
        if !self.quorum_can_vote(now) {
            return;
        }
        let looks = |one: &Acquisition| one.has_turn() && one.is_starved();
        let waiters = self.acquisitions.iter().filter(|(_, one)| looks(one)).map(|(it, _)| it);
        for request in waiters.collect::<Vec<_>>() {
            self.look_again(now, request);
        }
        let starved = self.acquisitions.iter().filter_map(|(request, one)| match one.phase()? {
            _ if self.readers.sleeps(one.request.keys.first(), request) => None,
            // It looks.
            _ if one.has_turn() => None,
            // Either there is no pause to wait for, or the masters that refused were not a quorum.
            Phase::Waiting { random: None, .. } => Some(request),
            Phase::Waiting { failure, .. } if !failure.kind.is_contended() => Some(request),
            _ => None,
        });
        for request in starved.collect::<Vec<_>>() {
            self.retry_acquire(now, request);
        }
    }
}

/// Reads a master's reply to `SET NX` or to the acquire's script.
pub(super) fn answer(reply: &Reply) -> Answer {
    match reply {
        Reply::Okay => Answer::Granted,
        Reply::Nil => Answer::Refused(Refusal::Held { remaining: None }),
        Reply::Array(parts) => refusal(parts),
        Reply::Error(_) => Answer::Refused(Refusal::Server(reply.unexpected())),
        other => Answer::Unknown(UnknownCause::Server(other.unexpected())),
    }
}

/// Returns how an answer to an acquire counts.
pub(super) const fn vote(answer: &Answer) -> Vote {
    match answer {
        Answer::Granted => Vote::Granted,
        Answer::Unknown(_) => Vote::Unknown,
        _ => Vote::Refused,
    }
}
