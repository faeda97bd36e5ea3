//! The downgrade: a writer becomes a reader, without a moment in between.
//!
//! It is an extension round in which each master that finds the token alone makes it a reader.
//! Once one master may have done that, the holder is a reader: others may be let in from then on.
//! It is a writer again only if no master can have done it.

use crate::coordinator::attempt::{Attempt, Hold, Stage};
use crate::coordinator::barrier;
use crate::coordinator::round::{Asker, RoundKind};
use crate::coordinator::timers::Timer;
use crate::coordinator::wire::Ballot;
use crate::coordinator::{
    AttemptId, Coordinator, Event, Extended, Keys, NotExtended, RequestId, RoundId,
};
use crate::quorum::{Instant, Progress};
use crate::report::LossReason;
use std::time::Duration;

/// A hold that is a writer's or a reader's, depending on the masters' answers.
pub(in crate::coordinator) struct Downgrade {
    pub(in crate::coordinator) hold: Hold,
    /// What the attempt has claimed as a writer.
    keys: Keys,
    ballot: Option<Box<Ballot>>,
}

impl Coordinator {
    /// Makes a writer a reader. It is held until the answer to `request`, and afterwards unless the
    /// answer is that it is lost: by a reader, or still by a writer if too few masters have
    /// confirmed and none can have done it.
    pub fn handle_downgrade(&mut self, now: Instant, request: RequestId, attempt: AttemptId) {
        self.begin_downgrade(now, request, attempt);
        self.serve_waiting(now);
    }

    fn begin_downgrade(&mut self, now: Instant, request: RequestId, id: AttemptId) {
        let Some(life) = self.life_as_writer(now, request, id) else { return };
        if !self.is_held_up(now, life, barrier::Round::Downgrade(request, id)) {
            self.send_downgrade(now, request, id);
        }
    }

    /// Returns how long the key of a writer lives. If none holds it, `request` is answered.
    fn life_as_writer(
        &mut self,
        now: Instant,
        request: RequestId,
        id: AttemptId,
    ) -> Option<Duration> {
        self.lapse_if_due(now, id);
        let held = self.attempts.get(id).filter(|attempt| attempt.held().is_some());
        let writer = held.filter(|attempt| attempt.claim.keys.as_writer().is_some());
        let life = writer.map(|attempt| attempt.claim.life.span());
        if life.is_none() {
            self.answer_downgrade(request, id, Err(NotExtended::Lost));
        }
        life
    }

    /// Begins the round, without anything to wait for first.
    pub(in crate::coordinator) fn send_downgrade(
        &mut self,
        now: Instant,
        request: RequestId,
        id: AttemptId,
    ) {
        if self.life_as_writer(now, request, id).is_none() {
            return;
        }
        self.close_extensions(id);
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        let (Some(reader), Stage::Held(hold)) = (attempt.claim.keys.downgraded(), &attempt.stage)
        else {
            return;
        };
        if let Some(at) = hold.extend_at {
            self.timers.cancel(at, Timer::Keep(id));
        }
        let hold = *hold;
        let keys = std::mem::replace(&mut attempt.claim.keys, reader);
        let ballot = attempt.claim.ballot.take();
        attempt.stage = Stage::Downgrading(Box::new(Downgrade { hold, keys, ballot }));
        let kind = |extension| RoundKind::Downgrade { request, attempt: id, extension };
        if let Some(round) = self.extend_everywhere(now, id, kind) {
            self.judge_downgrade(now, round);
        }
    }

    /// Closes the rounds that extend a hold: they ask for a writer.
    fn close_extensions(&mut self, id: AttemptId) {
        for round in self.rounds.ids(|round| round.kind.extends(id)) {
            let Some(round) = self.take_round(round) else { continue };
            let RoundKind::Extend { asker: Some(Asker::Caller(request)), .. } = round.kind else {
                continue;
            };
            let reports = round.reports(self.sessions.iter().map(|session| &session.name));
            let (request, result) = (Some(request), Err(NotExtended::Unconfirmed(reports)));
            self.events.push(Event::Extended { request, attempt: id, result });
        }
    }

    /// Judges the round by the answers so far.
    pub(in crate::coordinator) fn judge_downgrade(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Downgrade { request, attempt: attempt_id, extension } = &round.kind else {
            return;
        };
        let (request, attempt_id) = (*request, *attempt_id);
        let Some(hold) = self.attempts.get(attempt_id).and_then(Attempt::downgrading) else {
            // Released or lapsed in the meantime.
            self.close_round(id);
            return self.answer_downgrade(request, attempt_id, Err(NotExtended::Lost));
        };
        let (deadline, keeper) = (hold.deadline, hold.keeper);
        let reports = || round.reports(self.sessions.iter().map(|session| &session.name));
        let result = match extension.progress(deadline, now, self.settings.drift) {
            Progress::Extended(extended) => {
                let extended = keeper.map_or(extended, |keeper| keeper.cap(extended));
                let extended = extended.max(deadline);
                return self.become_reader(now, id, extended, true);
            }
            Progress::Lost => {
                let reason = match now >= deadline {
                    true => LossReason::Lapsed,
                    false => LossReason::QuorumGone(reports()),
                };
                self.return_hold(attempt_id);
                self.lose_hold(attempt_id, reason);
                NotExtended::Lost
            }
            Progress::Pending | Progress::Unconfirmed if !round.is_complete() => return,
            Progress::Pending | Progress::Unconfirmed if round.may_have_extended() => {
                return self.become_reader(now, id, deadline, false);
            }
            Progress::Pending | Progress::Unconfirmed => {
                let reports = reports();
                self.return_to_writer(attempt_id);
                self.keep_again(now, attempt_id);
                NotExtended::Unconfirmed(reports)
            }
        };
        self.close_round(id);
        self.answer_downgrade(request, attempt_id, Err(result));
    }

    /// Makes the hold a reader's until `deadline`. Unless the round `is_won`, the masters that have
    /// not heard of it make it a reader when it is extended, and readers are notified then.
    fn become_reader(&mut self, now: Instant, round: RoundId, deadline: Instant, is_won: bool) {
        let Some(won) = self.rounds.get_mut(round) else { return };
        let RoundKind::Downgrade { request, attempt: id, .. } = won.kind else { return };
        let (started, is_complete) = (won.started, won.is_complete());
        // What comes in from now on is a straggler of an extension that was won.
        let lacking = won.become_extension().filter(|_| is_won);
        self.return_hold(id);
        let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) else { return };
        hold.untold = true;
        let (old, keeper) = (hold.deadline, hold.keeper);
        self.move_deadline(id, old, deadline);
        let is_last = keeper.is_some_and(|keeper| keeper.is_last(deadline));
        self.answer_downgrade(request, id, Ok(Extended { deadline, is_last }));
        if is_won {
            self.keep_after(started, id);
            self.notify_if_untold(now, id);
        } else {
            self.keep_again(now, id);
        }
        lacking.into_iter().flat_map(|nodes| nodes.iter()).for_each(|node| {
            self.top_up(now, id, node);
        });
        if is_complete {
            self.close_round(round);
        }
    }

    /// Notifies readers that they may be let in beside this one, once a quorum says so.
    pub(in crate::coordinator) fn notify_if_untold(&mut self, now: Instant, id: AttemptId) {
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        let is_untold = attempt.held_mut().is_some_and(|hold| std::mem::take(&mut hold.untold));
        if is_untold {
            let keys = attempt.claim.keys.clone();
            self.notify_readers(now, &keys);
        }
    }

    /// Makes a hold that was about to become a reader's what it was before.
    fn return_to_writer(&mut self, id: AttemptId) {
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        let stage = std::mem::replace(&mut attempt.stage, Stage::Asked);
        attempt.stage = match stage {
            Stage::Downgrading(downgrade) => {
                let Downgrade { hold, keys, ballot } = *downgrade;
                (attempt.claim.keys, attempt.claim.ballot) = (keys, ballot);
                Stage::Held(hold)
            }
            other => other,
        };
    }

    fn answer_downgrade(
        &mut self,
        request: RequestId,
        attempt: AttemptId,
        result: Result<Extended, NotExtended>,
    ) {
        self.events.push(Event::Downgraded { request, attempt, result });
    }
}

impl Attempt {
    /// Returns the hold while a downgrade of it is under way.
    pub(in crate::coordinator) const fn downgrading(&self) -> Option<&Hold> {
        match &self.stage {
            Stage::Downgrading(downgrade) => Some(&downgrade.hold),
            _ => None,
        }
    }

    /// Returns whether it has its places in the local queue, if it is held: a reader has none.
    pub(in crate::coordinator) fn has_places(&self) -> bool {
        self.claim.keys.as_reader().is_none() || self.downgrading().is_some()
    }
}
