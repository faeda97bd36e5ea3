//! The end of a held lock: loss and release.

use super::attempt::{Attempt, Stage};
use super::ledger::{Debt, Deleted, Deletion};
use super::local_queue::LocalQueue;
use super::round::RoundKind;
use super::timers::{Timer, Timers};
use super::wire::{Leaves, Way};
use super::{AttemptId, Coordinator, Event, Keys, Release, RequestId, RoundId};
use crate::quorum::{Instant, NodeSet, Tally, Verdict, Vote};
use crate::report::{Answer, LossReason, UnknownCause};
use std::sync::Arc;
use std::time::Duration;

impl Coordinator {
    // Loss.

    pub(super) fn lapse_if_due(&mut self, now: Instant, id: AttemptId) {
        let hold = self.attempts.get(id).and_then(Attempt::hold);
        if hold.is_some_and(|hold| now >= hold.deadline) {
            self.settle_change(id);
            self.lose_hold(id, LossReason::Lapsed);
        }
    }

    /// Marks a hold as lost for good. The keys stay until the guard is gone. A holder that works on
    /// without noticing is then not exposed to the next holder any earlier than necessary.
    pub(super) fn lose_hold(&mut self, id: AttemptId, reason: LossReason) {
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        if attempt.held().is_none() {
            return;
        }
        disarm(&mut self.timers, &mut self.local_queue, id, attempt);
        attempt.stage = Stage::Lost(reason.clone());
        self.events.push(Event::Lost { attempt: id, reason });
    }

    // Release.

    /// Deletes the key wherever it may exist. `request` is answered when a quorum has deleted it.
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
                let release = Release::Lost(LossReason::Released);
                self.events.push(Event::Released { request, release });
            }
            return;
        };
        disarm(&mut self.timers, &mut self.local_queue, id, &attempt);
        let stays = attempt.loss().is_some() && attempt.is_delayed() || attempt.stays(now);
        let life = if stays { attempt.claim.life.span() } else { Duration::ZERO };
        self.stays(now, &attempt, life);
        let counts = |reason: &&LossReason| !(in_time && **reason == LossReason::Lapsed);
        let lost = attempt.loss().filter(counts).cloned();
        match (request, lost) {
            // Whatever was still under way when the lock was lost has the lock-delay to arrive in.
            (request, Some(reason)) if attempt.is_delayed() => {
                if let Some(request) = request {
                    let release = Release::Lost(reason);
                    self.events.push(Event::Released { request, release });
                }
            }
            (None, _) => self.give_back(now, attempt, None),
            (Some(request), Some(reason)) => {
                self.give_back(now, attempt, None);
                self.events.push(Event::Released { request, release: Release::Lost(reason) });
            }
            (Some(request), None) => self.confirm_release(now, request, attempt),
        }
    }

    fn confirm_release(&mut self, now: Instant, request: RequestId, attempt: Attempt) {
        let tally = Tally::new(self.settings.membership);
        let deadline = attempt.held().map(|hold| hold.deadline);
        let kind = RoundKind::Release { request, tally, deadline, gone: NodeSet::EMPTY };
        let timeout = self.settings.round_timeout(attempt.ttl.span());
        let mut round = self.new_round(kind, now, timeout);
        for (node, session) in self.sessions.iter().enumerate() {
            if !attempt.touched.contains(node) {
                round.record(node, Answer::Vacant, now);
            } else if let Some(fault) = session.fault() {
                round.record(node, Answer::Unknown(UnknownCause::Down(fault.cause.clone())), now);
            }
        }
        let id: RoundId = self.rounds.reserve();
        self.timers.set(round.timeout_at, Timer::Round(id));
        self.rounds.insert(id, round);
        self.give_back(now, attempt, Some(id));
        self.judge_release(id);
    }

    pub(super) fn judge_release(&mut self, id: RoundId) {
        let Some(round) = self.rounds.get(id) else { return };
        let RoundKind::Release { request, tally, gone, .. } = &round.kind else { return };
        let request = *request;
        let release = match tally.verdict() {
            Verdict::Pending => return,
            Verdict::Won => Release::Released,
            Verdict::Lost => {
                let names = self.sessions.iter().map(|session| &session.name);
                let reports = round.reports(names);
                if self.settings.membership.can_spare(*gone) {
                    Release::Unconfirmed(reports)
                } else {
                    Release::Lost(LossReason::QuorumGone(reports))
                }
            }
        };
        self.events.push(Event::Released { request, release });
        self.close_round(id);
    }

    /// Leaves the key until it expires: it is neither extended nor deleted.
    pub(super) fn forget(&mut self, now: Instant, id: AttemptId) {
        if let Some(attempt) = self.attempts.remove(id) {
            disarm(&mut self.timers, &mut self.local_queue, id, &attempt);
            self.stays(now, &attempt, attempt.claim.life.span());
        }
    }

    /// Gives back a lock, or what was set of it: to the next acquire in this process, or to the
    /// waiters that are notified.
    pub(super) fn give_back(&mut self, now: Instant, attempt: Attempt, round: Option<RoundId>) {
        if attempt.stays(now) {
            // They are not free: there is nothing to announce.
            return self.owe(now, attempt, round, false, &Told::By(None), Leaves::Hold);
        }
        let keys = &attempt.claim.keys;
        let in_turn = keys.queue().is_some();
        let passed_on = self.pass_permit_on(now, keys);
        // Where clients wait in turn, the next may be in any process.
        let passes_on = || in_turn || !attempt.has_places() || self.local_queue.pass_on(keys);
        let tell = passed_on.unwrap_or_else(passes_on);
        if tell && keys.as_writer().is_some() {
            // They begin in the same write as this release.
            self.readers.stir(keys.first());
        }
        let told = match tell && self.settings.wake_ups {
            true if keys.len() == 1 => {
                let channel = keys.messages().next();
                Told::By(channel.and_then(|(channel, _)| self.first_node(now, channel)))
            }
            true => {
                let by = |key: &Arc<str>| Some((self.first_node(now, key)?, key.clone()));
                Told::Apart(keys.iter().filter_map(by).collect())
            }
            false => Told::By(None),
        };
        // The SET of the next acquire follows in the same write: a forgotten script would cost it
        // that vote.
        let is_waited_for = || keys.iter().any(|key| self.local_queue.is_waited_for(key));
        let by_hash = in_turn || (passed_on.is_none() && !is_waited_for());
        let leaves = match attempt.stage {
            Stage::Asked => Leaves::Place,
            _ => Leaves::Hold,
        };
        self.owe(now, attempt, round, by_hash, &told, leaves);
    }

    /// Records the deletion as a debt of every node where the key may exist.
    pub(super) fn owe(
        &mut self,
        now: Instant,
        attempt: Attempt,
        round: Option<RoundId>,
        by_hash: bool,
        told: &Told,
        leaves: Leaves,
    ) {
        let stays = attempt.stays(now);
        let Attempt { claim, touched, began, staying, .. } = attempt;
        let (keys, ttl) = (claim.keys.clone(), claim.life.span());
        let what = match staying.filter(|_| stays) {
            Some(staying) => Deleted::Kept(Box::new(staying.keep(claim, began))),
            None => Deleted::Claim(claim),
        };
        let is_told = told.is_anybody();
        let deletion = Arc::new(Deletion { what, leaves, ttl, is_told, round, began });
        for node in touched.iter() {
            let mut debt = Debt::new(deletion.clone());
            (debt.tells, debt.by_hash) = (told.by(node, &keys), by_hash);
            self.sessions[node].send_deletion(now, debt, &mut self.packer);
        }
    }

    /// Repeats a release that `node` has not done. Waiters elsewhere may have been notified by
    /// another node before, and may have tried while the key still existed here. They are notified
    /// again, after this release.
    pub(super) fn release_again(&mut self, now: Instant, node: usize, debt: Debt) {
        let deletion = debt.deletion.clone();
        let tells_itself = debt.tells.is_some();
        self.sessions[node].send_deletion(now, debt, &mut self.packer);
        let claim = deletion.what.claim();
        if deletion.is_told && !tells_itself {
            for (channel, message) in claim.keys.messages() {
                if let Some(teller) = self.first_node(now, channel) {
                    self.sessions[teller].tell(channel, message, &mut self.packer);
                }
            }
        }
    }
}

/// The nodes that notify waiters elsewhere that a key is free: one for each key, where they listen.
pub(super) enum Told {
    /// This node announces all keys; with `None`, no node does.
    By(Option<usize>),
    /// Each key is announced by a node of its own.
    Apart(Vec<(usize, Arc<str>)>),
}

impl Told {
    const fn is_anybody(&self) -> bool {
        match self {
            Self::By(teller) => teller.is_some(),
            Self::Apart(told) => !told.is_empty(),
        }
    }

    /// Returns those of `keys` that `node` announces.
    fn by(&self, node: usize, keys: &Keys) -> Option<Keys> {
        match self {
            Self::By(teller) => (*teller == Some(node)).then(|| keys.clone()),
            Self::Apart(told) => {
                let told = told.iter().filter(|(teller, _)| *teller == node);
                Keys::several(told.map(|(_, key)| key.clone()))
            }
        }
    }
}

/// Cancels the timers of a hold that is over, and frees its places. Nothing is left to do if this
/// was done when it was lost.
pub(super) fn disarm(
    timers: &mut Timers,
    queue: &mut LocalQueue,
    id: AttemptId,
    attempt: &Attempt,
) {
    if matches!(attempt.stage, Stage::Asked | Stage::Lost(_)) {
        return;
    }
    if let Some(hold) = attempt.hold() {
        timers.cancel(hold.deadline, Timer::Deadline(id));
        if let Some(at) = hold.extend_at {
            timers.cancel(at, Timer::Keep(id));
        }
    }
    if attempt.has_places() {
        queue.leave(&attempt.claim.keys, id);
    }
}

/// Reads what a master said to a release that was sent in this way: whether the keys were ours, or
/// an error.
pub(super) fn answer(said: Result<bool, Arc<str>>, way: Way) -> Answer {
    match said {
        Ok(true) if way == Way::Shorten => Answer::Shortened,
        Ok(true) => Answer::Deleted,
        Ok(false) => Answer::Vacant,
        Err(error) => Answer::Unknown(UnknownCause::Server(error)),
    }
}

/// Returns how an answer to a release counts.
pub(super) const fn vote(answer: &Answer) -> Vote {
    match answer {
        Answer::Deleted | Answer::Shortened => Vote::Granted,
        Answer::Vacant => Vote::Refused,
        _ => Vote::Unknown,
    }
}
