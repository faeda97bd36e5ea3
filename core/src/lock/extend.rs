//! The extension: one round for a hold, and what its outcome means for each purpose. A master that lacks the key of a hold
//! is asked to set it: the top-up.

use super::hand_over::detachable;
use super::round::Course;
use super::{Around, Attempt, Hold, Locks, NotAdopted, Purpose, Round, RoundKind};
#[cfg(any(test, feature = "testing"))]
use crate::master::Rule;
use crate::master::{PendingReply, Session, barrier, fencing};
use crate::quorum::{Extension, Instant, NodeSet, Progress, Report};
#[cfg(any(test, feature = "testing"))]
use crate::report::Refusal;
use crate::report::{Answer, LossReason, UnknownCause};
use crate::shared::{
    AttemptId, Cx, Event, Extended, NotExtended, Observation, RequestId, RoundId, Table, Timer,
    Watching,
};
use crate::wire::Reply;
use std::time::Duration;

impl Locks {
    pub(crate) fn begin_extend(&mut self, at: &mut Around, id: AttemptId, purpose: Purpose) {
        if let Some(attempt) = extendable(&mut self.attempts, at, id, purpose) {
            let life = attempt.claim.life.span();
            if !at.cx.masters.is_held_up(at.cx.now, life, barrier::Round::Extend(id, purpose)) {
                self.send_extension(at, id, purpose);
            }
        }
    }

    /// Sends an extension to every node that takes it, without anything to wait for first.
    pub(crate) fn send_extension(&mut self, at: &mut Around, id: AttemptId, purpose: Purpose) {
        let attempt = extendable(&mut self.attempts, at, id, purpose);
        let Some(attempt) = attempt else { return };
        match purpose {
            Purpose::Renew(_) | Purpose::Adopt(..) => {}
            Purpose::Detach(_) => attempt.begin_change(&mut at.cx, purpose, None),
            Purpose::Downgrade(_) => {
                close_extensions(&mut self.rounds, &mut at.cx, id);
                attempt.prepare_downgrade(&mut at.cx, purpose);
            }
        }
        let (ttl, life) = (attempt.ttl.span(), attempt.claim.life.span());
        let barred = at.cx.masters.barred(at.cx.now, life);
        let warms_up = |session: &Session| session.warming_up(at.cx.now).is_some();
        let warming = NodeSet::places(&at.cx.masters.sessions, warms_up);
        let extension = Extension::new(at.cx.masters.settings.membership, at.cx.now, ttl, warming);
        let kind = RoundKind::Extend { attempt: id, extension, purpose: Some(purpose) };
        let timeout = at.cx.masters.settings.round_timeout(ttl);
        let mut round = Round::new(&at.cx, kind, timeout, &mut self.rooms);
        let claim = &attempt.claim;
        let command = claim.extend(&mut at.cx.masters.packer, attempt.renewed_life());
        let round_id = RoundId(self.rounds.reserve());
        for (node, session) in at.cx.masters.sessions.iter_mut().enumerate() {
            #[cfg(any(test, feature = "testing"))]
            if !at.cx.masters.settings.agreement.keeps(Rule::HoldsFirst)
                && !at.cx.masters.window.has_room()
            {
                round.record(node, Answer::Refused(Refusal::QueueFull), at.cx.now);
                continue;
            }
            match session.takes_for_hold(life, at.cx.now, barred.as_ref()) {
                Ok(()) => {
                    session.load_all(claim.scripts());
                    session.push(session.vote(at.cx.now, round_id), command);
                }
                // The node may hold the key nevertheless: this counts as unknown.
                Err(reason) => round.record(node, Answer::Refused(reason), at.cx.now),
            }
        }
        self.rounds.open(&mut at.cx, round_id, round);
        self.judge(at, round_id);
    }

    /// Handles the first answer of `node` to a top-up. If the fence there is not below the number of the
    /// hold, others have asked for the lock where its key was missing, and have been refused by the
    /// rest; or the key has expired there. The next number is above that fence. The token of the hold
    /// stays what it is.
    pub(crate) fn topped_up(&mut self, cx: &mut Cx, id: AttemptId, node: usize, reply: &Reply) {
        if let Some(number) = fencing::number_above(reply, &cx.masters.settings)
            && let Some(attempt) =
                self.attempts.get_mut(id.0).filter(|attempt| attempt.held().is_some())
            && let Some(ballot) = &mut attempt.claim.ballot
        {
            ballot.greatest = ballot.greatest.max(number);
            cx.masters.ballots.learn_fence(ballot.greatest);
            attempt.send_top_up(cx, node, false);
        }
    }
}

/// Returns an attempt whose keys may be extended for this purpose. If they may not, the caller is answered.
fn extendable<'a>(
    attempts: &'a mut Table<Attempt>,
    at: &mut Around,
    id: AttemptId,
    purpose: Purpose,
) -> Option<&'a mut Attempt> {
    let attempt = attempts.get_mut(id.0);
    if attempt.as_ref().is_some_and(|attempt| attempt.may_extend(at.cx.now, purpose)) {
        return attempt;
    }
    if let Purpose::Renew(request) = purpose {
        // Before the loss, after which the driver no longer knows the lock.
        at.cx.events.extension(id, request, Progress::Lost, Duration::ZERO, Vec::new);
    }
    if let Some(attempt) = attempt {
        attempt.lapse_if_due(at);
    }
    answer_not_extended(&mut at.cx, id, Some(purpose), NotExtended::Lost);
    None
}

/// Closes the rounds that extend a hold which is to be a reader's: they ask for a writer.
fn close_extensions(rounds: &mut Table<Round>, cx: &mut Cx, id: AttemptId) {
    let extends =
        |kind: &RoundKind| matches!(kind, RoundKind::Extend { attempt, .. } if *attempt == id);
    for place in rounds.places(|round| extends(&round.kind)) {
        if let Some(round) = rounds.take(cx, RoundId(place))
            && let RoundKind::Extend { purpose, .. } = round.kind
        {
            let reports = round.reports(cx.masters.names());
            answer_not_extended(cx, id, purpose, NotExtended::Unconfirmed(reports));
        }
    }
}

impl Round {
    /// Returns how an extension has ended, once it has. It has not while no quorum is possible but answers are
    /// outstanding. One of them may show that the hold is lost, and the reader of the report needs to know
    /// which nodes held the key.
    fn outcome(&self, cx: &Cx, attempt: &Attempt) -> Option<Progress> {
        let RoundKind::Extend { extension, purpose, .. } = &self.kind else { return None };
        let (drift, is_complete) = (cx.masters.settings.drift, self.is_complete());
        let progress = match attempt.hold() {
            Some(hold) => extension.progress(hold.deadline, cx.now, drift),
            None => extension.adopted(attempt.claim.unsettled, cx.now, drift),
        };
        match (progress, purpose) {
            // The value is better the more masters have answered.
            (_, Some(Purpose::Detach(_))) if !is_complete && progress != Progress::Lost => None,
            (_, Some(Purpose::Detach(_))) => detachable(cx, self, attempt),
            (Progress::Lost, _) | (Progress::Extended(_), Some(_)) => Some(progress),
            (Progress::Extended(_), None) => None,
            (Progress::Unconfirmed | Progress::Pending, _) => {
                is_complete.then_some(Progress::Unconfirmed)
            }
        }
    }
}

impl Attempt {
    /// Judges a round by the answers so far.
    pub(super) fn judge_extension(&mut self, at: &mut Around, round: &mut Round) -> Course {
        let Some(progress) = round.outcome(&at.cx, self) else { return Course::GoesOn };
        let RoundKind::Extend { purpose, .. } = &mut round.kind else { return Course::GoesOn };
        let purpose = purpose.take();
        if let Some(Purpose::Renew(request)) = purpose {
            let votes = || round.reports(at.cx.masters.names());
            let took = at.cx.now.since(round.started);
            at.cx.events.extension(self.id, request, progress, took, votes);
        }
        let remains = match (progress, purpose) {
            (Progress::Extended(deadline), Some(purpose)) => {
                self.extension_won(at, round, purpose, deadline)
            }
            (Progress::Lost, purpose) => self.extension_lost(at, round, purpose),
            (Progress::Unconfirmed | Progress::Pending, Some(purpose)) => {
                self.extension_unconfirmed(at, round, purpose)
            }
            (_, None) => true,
        };
        match (progress, purpose) {
            _ if !remains => Course::EndsAttempt(self.id),
            // What was won goes on: the masters that have not answered may lack the key. A renewal ends with its
            // answers, as those before it did.
            (Progress::Extended(_), _) | (_, None | Some(Purpose::Renew(_))) => Course::GoesOn,
            _ => Course::IsOver,
        }
    }

    fn may_extend(&self, now: Instant, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Adopt(..) => self.awaits(Some(purpose)),
            Purpose::Downgrade(_) if !self.may_downgrade() => false,
            _ => self.held().is_some_and(|hold| now < hold.deadline),
        }
    }

    /// Handles an extension that was won: the hold has until `deadline`. Returns `false` if this client has it
    /// no longer.
    fn extension_won(
        &mut self,
        at: &mut Around,
        round: &Round,
        purpose: Purpose,
        deadline: Instant,
    ) -> bool {
        let started = round.started;
        // A deadline that this round does not move rests on a later one, which was won before it.
        if self.hold().is_none_or(|hold| hold.deadline < deadline) {
            at.cx.check_deadline(deadline, started, self.ttl.span());
        }
        match purpose {
            Purpose::Renew(request) => self.renewed(&mut at.cx, request, deadline),
            Purpose::Detach(request) => {
                self.detach(at, request, round);
                return false;
            }
            Purpose::Adopt(request, keep_alive) => {
                if !self.adopt(at, (request, keep_alive), (started, deadline)) {
                    return false;
                }
            }
            Purpose::Downgrade(request) => self.become_reader(at, request, deadline),
        }
        self.keep_after(&mut at.cx, started);
        self.notify_if_due(at);
        if let RoundKind::Extend { extension, .. } = &round.kind {
            extension.lacking().iter().for_each(|node| self.top_up(&mut at.cx, node));
        }
        true
    }

    /// Handles an extension that has found the hold lost. Returns `false` if it was not one yet.
    fn extension_lost(&mut self, at: &mut Around, round: &Round, purpose: Option<Purpose>) -> bool {
        let gone = LossReason::QuorumGone(round.reports(at.cx.masters.names()));
        if let Some(Purpose::Adopt(request, _)) = purpose {
            self.refuse(at, request, NotAdopted::Lost(gone));
            return false;
        }
        let has_lapsed = self.hold().is_some_and(|hold| at.cx.now >= hold.deadline);
        let reason = if has_lapsed { LossReason::Lapsed } else { gone };
        self.settle_change(at);
        self.lose(at, reason);
        answer_not_extended(&mut at.cx, self.id, purpose, NotExtended::Lost);
        true
    }

    /// Handles an extension that too few masters have confirmed: the hold is what it was. Returns `false` if it
    /// was not one yet.
    fn extension_unconfirmed(&mut self, at: &mut Around, round: &Round, purpose: Purpose) -> bool {
        let reports = round.reports(at.cx.masters.names());
        match (purpose, self.hold().copied()) {
            (Purpose::Renew(Some(_)), _) => {}
            (Purpose::Renew(None), _) => self.keep_again(&mut at.cx),
            (Purpose::Adopt(request, _), _) => {
                self.refuse(at, request, NotAdopted::Unconfirmed(reports));
                return false;
            }
            // It is a reader's with its old deadline. The masters that have not heard of it make it a reader's
            // when it is extended, and readers are notified then.
            (Purpose::Downgrade(request), Some(old)) if round.may_have_extended() => {
                self.become_reader(at, request, old.deadline);
                self.keep_again(&mut at.cx);
                return true;
            }
            (Purpose::Detach(_) | Purpose::Downgrade(_), _) => {
                self.undo_change();
                self.keep_again(&mut at.cx);
            }
        }
        answer_not_extended(&mut at.cx, self.id, Some(purpose), NotExtended::Unconfirmed(reports));
        true
    }

    /// Moves the deadline of a hold, and answers its caller.
    fn renewed(&mut self, cx: &mut Cx, request: Option<RequestId>, deadline: Instant) {
        let id = self.id;
        if let Some(hold) = self.held_mut() {
            let old = hold.deadline;
            let extended = hold.prolong(cx, id, deadline);
            if extended.is_last && old < extended.deadline {
                let left = extended.deadline.since(cx.now);
                let is_last = || Observation::LastExtension { attempt: id, left };
                cx.events.show(Watching::Outcomes, is_last);
            }
            cx.events.push(Event::Extended { request, attempt: id, result: Ok(extended) });
        }
    }

    /// Sends the ordinary acquire command with the same token to a node that lacks the key in a
    /// round that was won, or that was warming up when the lock was won. Its answer does not count,
    /// not even `Granted`: it may refer to a key that an earlier, late SET put there, and whose life
    /// it does not prolong. Counting it leads to two holders of several resources (`SAFETY.md`). The node
    /// counts when it says *held* later.
    pub(crate) fn top_up(&mut self, cx: &mut Cx, node: usize) {
        if self.held().is_some() {
            self.send_top_up(cx, node, true);
        }
    }

    fn send_top_up(&mut self, cx: &mut Cx, node: usize, may_repeat: bool) {
        let life = self.claim.life.span();
        let barred = cx.masters.barred(cx.now, life);
        let set = self.claim.top_up(&mut cx.masters.packer, self.life_at(cx.now));
        let session = &mut cx.masters.sessions[node];
        if session.takes_for_hold(life, cx.now, barred.as_ref()).is_ok() {
            session.load_all(self.claim.scripts());
            self.touched.insert(node);
            session.push(PendingReply::TopUp { attempt: self.id, may_repeat }, set);
            let (attempt, node) = (self.id, &session.name);
            let topped_up = || Observation::ToppedUp { attempt, node: node.clone() };
            cx.events.show(Watching::Outcomes, topped_up);
        }
    }
}

impl Hold {
    /// Moves the deadline to `deadline`, but never back, and not past the end of the keep-alive, whether the
    /// caller or the keeper asked.
    pub(crate) fn prolong(&mut self, cx: &mut Cx, id: AttemptId, deadline: Instant) -> Extended {
        let capped = self.keeper.map_or(deadline, |keeper| keeper.cap(deadline));
        let deadline = capped.max(self.deadline);
        cx.timers.cancel(self.deadline, Timer::Deadline(id));
        cx.timers.set(deadline, Timer::Deadline(id));
        self.deadline = deadline;
        Extended { deadline, is_last: self.keeper.is_some_and(|keeper| keeper.is_last(deadline)) }
    }
}

/// Reports to the caller of an extension why the hold is not what it asked for. The keeper needs no
/// report, and an adoption has answers of its own.
pub(super) fn answer_not_extended(
    cx: &mut Cx,
    attempt: AttemptId,
    purpose: Option<Purpose>,
    why: NotExtended,
) {
    cx.events.push(match purpose {
        None | Some(Purpose::Renew(None) | Purpose::Adopt(..)) => return,
        Some(Purpose::Renew(request)) => Event::Extended { request, attempt, result: Err(why) },
        Some(Purpose::Detach(request)) => Event::Detached { request, attempt, result: Err(why) },
        Some(Purpose::Downgrade(request)) => {
            Event::Downgraded { request, attempt, result: Err(why) }
        }
    });
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
