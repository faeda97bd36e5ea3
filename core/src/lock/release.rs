//! The end of a held lock: loss and release.

use super::round::Course;
use super::{Around, Attempt, Locks, Round, RoundKind, Stage};
use crate::master::{Debt, Deletion};
use crate::quorum::{NodeSet, Tally, Verdict, Vote};
use crate::report::{Answer, LossReason, UnknownCause};
use crate::shared::{AttemptId, Cx, Event, Keys, Release, RequestId, RoundId};
use crate::wire::Way;
use crate::wire::waitlist::Says;
use std::sync::Arc;
use std::time::Duration;

impl Locks {
    // Loss.

    pub(crate) fn end_if_due(&mut self, at: &mut Around, id: AttemptId) {
        self.look_at_idle(at, id);
        if let Some(attempt) = self.attempts.get_mut(id.0) {
            attempt.lapse_if_due(at);
        }
    }

    // Release.

    /// Deletes the key wherever it may exist. `request` is answered when a quorum has deleted it.
    pub(crate) fn begin_release(
        &mut self,
        at: &mut Around,
        request: Option<RequestId>,
        id: AttemptId,
        in_time: bool,
    ) {
        let Some(mut attempt) = self.attempts.remove(id.0) else {
            return answer_lost(&mut at.cx, request, LossReason::Released);
        };
        if !in_time {
            attempt.lapse_if_due(at);
        }
        // No caller may take it from the shelf any more.
        let _is_idle = attempt.recall(at);
        attempt.disarm(at);
        let stays = attempt.loss().is_some() && attempt.is_delayed() || attempt.stays(at.cx.now);
        let life = if stays { attempt.claim.life.span() } else { Duration::ZERO };
        at.cx.masters.keep(at.cx.now, &attempt.claim, life);
        let counts = |reason: &&LossReason| !(in_time && **reason == LossReason::Lapsed);
        let lost = attempt.loss().filter(counts).cloned();
        match (request, lost) {
            (Some(request), None) => self.confirm_release(at, request, attempt),
            (None, None) => attempt.give_back(at, None),
            (request, Some(reason)) => {
                // Whatever was still under way when the lock was lost has the lock-delay to arrive in.
                if !attempt.is_delayed() {
                    attempt.give_back(at, None);
                }
                answer_lost(&mut at.cx, request, reason);
            }
        }
    }

    fn confirm_release(&mut self, at: &mut Around, request: RequestId, attempt: Attempt) {
        let tally = Tally::new(at.cx.masters.settings.membership);
        let deadline = attempt.held().map(|hold| hold.deadline);
        let kind = RoundKind::Release { request, tally, deadline, gone: NodeSet::EMPTY };
        let timeout = at.cx.masters.settings.round_timeout(attempt.ttl.span());
        let mut round = Round::new(&at.cx, kind, timeout, &mut self.rooms);
        for (node, session) in at.cx.masters.sessions.iter().enumerate() {
            if !attempt.touched.contains(node) {
                round.record(node, Answer::Vacant, at.cx.now);
            } else if let Some(fault) = &session.fault {
                let cause = UnknownCause::Down(fault.cause.clone());
                round.record(node, Answer::Unknown(cause), at.cx.now);
            }
        }
        let id = RoundId(self.rounds.reserve());
        self.rounds.open(&mut at.cx, id, round);
        attempt.give_back(at, Some(id));
        self.judge(at, id);
    }

    /// Leaves the key until it expires: it is neither extended nor deleted.
    pub(crate) fn forget(&mut self, at: &mut Around, id: AttemptId) {
        if let Some(attempt) = self.attempts.remove(id.0) {
            attempt.disarm(at);
            at.cx.masters.keep(at.cx.now, &attempt.claim, attempt.claim.life.span());
        }
    }

    /// Repeats a release that `node` has not done. Waiters elsewhere may have been notified by
    /// another node before, and may have tried while the key still existed here. They are notified
    /// again, after this release.
    pub(crate) fn release_again(&mut self, cx: &mut Cx, node: usize, debt: Debt) {
        let deletion = debt.deletion.clone();
        let tells_itself = debt.tells.is_some();
        cx.masters.sessions[node].send_deletion(cx.now, debt, &mut cx.masters.packer);
        if deletion.notifies && !tells_itself {
            cx.masters.tell_all_of(cx.now, &deletion.claim.keys);
        }
    }
}

impl Round {
    /// Answers the caller of a release once the answers so far decide it.
    pub(super) fn judge_release(&self, cx: &mut Cx) -> Course {
        let RoundKind::Release { request, tally, gone, .. } = &self.kind else {
            return Course::GoesOn;
        };
        let reports = || self.reports(cx.masters.names());
        let release = match tally.verdict() {
            Verdict::Pending => return Course::GoesOn,
            Verdict::Won => Release::Released,
            Verdict::Lost if cx.masters.settings.membership.can_spare(*gone) => {
                Release::Unconfirmed(reports())
            }
            Verdict::Lost => Release::Lost(LossReason::QuorumGone(reports())),
        };
        cx.events.push(Event::Released { request: *request, release });
        Course::IsOver
    }
}

impl Attempt {
    pub(crate) fn lapse_if_due(&mut self, at: &mut Around) {
        if self.hold().is_some_and(|hold| at.cx.now >= hold.deadline) {
            self.settle_change(at);
            self.lose(at, LossReason::Lapsed);
        }
    }

    /// Marks a hold as lost for good. The keys stay until the guard is gone. A holder that works on
    /// without noticing is then not exposed to the next holder any earlier than necessary.
    pub(crate) fn lose(&mut self, at: &mut Around, reason: LossReason) {
        if self.held().is_some() {
            self.disarm(at);
            self.stage = Stage::Lost(reason.clone());
            at.cx.events.push(Event::Lost { attempt: self.id, reason });
        }
    }

    /// Cancels the timers of a hold that is over, and frees its places. Nothing is left to do if this
    /// was done when it was lost.
    pub(crate) fn disarm(&self, at: &mut Around) {
        if matches!(self.stage, Stage::Asked | Stage::Lost(_)) {
            return;
        }
        self.cancel_timers(&mut at.cx.timers);
        if self.has_places() {
            let began = (!self.stays(at.cx.now)).then_some(self.began);
            at.waiters.left(&at.cx, &self.claim.keys, self.id, began);
        }
    }

    /// Gives back a lock, or what was set of it: to the next acquire in this process, or to the
    /// waiters that are notified.
    pub(crate) fn give_back(self, at: &mut Around, round: Option<RoundId>) {
        let announce = match self.stays(at.cx.now) {
            // They are not free: no waiter is called.
            true => Announce::NOTHING,
            false => at.waiters.freed(&mut at.cx, &self),
        };
        self.owe(&mut at.cx, round, &announce);
    }

    /// Records the deletion as a debt of every node where the key may exist.
    pub(crate) fn owe(self, cx: &mut Cx, round: Option<RoundId>, announce: &Announce) {
        let Announce { tellers, calls, by_hash } = announce;
        let stays = self.stays(cx.now);
        let Self { claim, touched, refused, began, staying, .. } = self;
        let keys = claim.keys.clone();
        let at_least = staying.filter(|_| stays).map(|staying| staying.at_least.into());
        let (notifies, calls) = (tellers.are_any(), *calls);
        let deletion = Arc::new(Deletion { claim, at_least, notifies, calls, round, began });
        for node in touched.iter() {
            let mut debt = Debt::new(deletion.clone());
            (debt.tells, debt.by_hash) = (tellers.keys_of(node, &keys), *by_hash);
            debt.says = if refused.contains(node) { Says::Nothing } else { Says::Held };
            cx.masters.sessions[node].send_deletion(cx.now, debt, &mut cx.masters.packer);
        }
    }
}

/// Answers the caller of a release, if there is one, whose lock was lost before.
fn answer_lost(cx: &mut Cx, request: Option<RequestId>, reason: LossReason) {
    if let Some(request) = request {
        cx.events.push(Event::Released { request, release: Release::Lost(reason) });
    }
}

/// The nodes that notify waiters elsewhere that a key is free: for each key, those where they listen.
pub(crate) enum Tellers {
    /// These nodes announce all keys.
    Together(NodeSet),
    /// Each key is announced by a node of its own, or by two.
    Apart(Vec<(usize, Arc<str>)>),
}

/// How a release announces that keys are free.
pub(crate) struct Announce {
    pub(crate) tellers: Tellers,
    /// Whether the next waiter in the list of each key is called.
    pub(crate) calls: bool,
    /// Whether the release may call a script that the server is thought to know. The SET of the next acquire may
    /// follow in the same write: a forgotten script would cost it that vote.
    pub(crate) by_hash: bool,
}

impl Announce {
    /// The keys are not free.
    pub(crate) const NOTHING: Self =
        Self { tellers: Tellers::Together(NodeSet::EMPTY), calls: false, by_hash: false };

    /// What is rolled back was never won.
    pub(crate) const ROLLBACK: Self = Self { by_hash: true, ..Self::NOTHING };
}

impl Tellers {
    fn are_any(&self) -> bool {
        match self {
            Self::Together(nodes) => *nodes != NodeSet::EMPTY,
            Self::Apart(announced) => !announced.is_empty(),
        }
    }

    /// Returns those of `keys` that `node` announces.
    fn keys_of(&self, node: usize, keys: &Keys) -> Option<Keys> {
        match self {
            Self::Together(nodes) => nodes.contains(node).then(|| keys.clone()),
            Self::Apart(announced) => {
                let announced = announced.iter().filter(|(teller, _)| *teller == node);
                Keys::several(announced.map(|(_, key)| key.clone()))
            }
        }
    }
}

/// Reads what a master said to a release that was sent in this way: whether the keys were ours, or
/// an error.
pub(crate) fn answer(outcome: Result<bool, Arc<str>>, way: Way) -> Answer {
    match outcome {
        Ok(true) if way == Way::Shorten => Answer::Shortened,
        Ok(true) => Answer::Deleted,
        Ok(false) => Answer::Vacant,
        Err(error) => Answer::Unknown(UnknownCause::Server(error)),
    }
}

/// Returns how an answer to a release counts.
pub(crate) const fn vote(answer: &Answer) -> Vote {
    match answer {
        Answer::Deleted | Answer::Shortened => Vote::Granted,
        Answer::Vacant => Vote::Refused,
        _ => Vote::Unknown,
    }
}
