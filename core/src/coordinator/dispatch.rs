//! The masters' answers, and what the coordinator does with them.

use super::session::{Settled, Wake};
use super::{Action, Coordinator, Event, Fault, RoundId, acquire, extend, round, wire};
use crate::quorum::Instant;
use crate::report::{Answer, Cause, Reason};
use std::sync::Arc;

impl Coordinator {
    pub(super) fn handle_settled(&mut self, now: Instant, node: usize, settled: Settled) {
        match settled {
            Settled::Nothing => {}
            Settled::Identified => self.identified(now, node),
            Settled::HandedOver => self.open(now, node),
            Settled::Broken(fault) => self.break_session(now, node, fault),
            Settled::Vote(round, reply) => match self.rounds.get(round).map(|one| &one.purpose) {
                Some(round::Purpose::Acquire { .. }) => {
                    if reply.is_noscript() {
                        self.sessions[node].load(wire::ACQUIRE);
                    }
                    self.learn(now, round, node, &reply);
                    self.vote_acquire(now, round, node, acquire::answer(&reply));
                }
                Some(round::Purpose::Extend { .. }) => {
                    // For the next round, not for this one: a second round trip could arrive after
                    // the release.
                    if reply.is_noscript() {
                        self.sessions[node].load(wire::EXTEND);
                    }
                    self.vote_extension(now, round, node, extend::answer(&reply));
                }
                Some(round::Purpose::Inspect { .. } | round::Purpose::ForceRelease { .. }) => {
                    self.hear(now, round, node, &reply);
                }
                Some(round::Purpose::Release { .. }) => {}
                // Too late for its round, which alone knew which script it had called.
                None if reply.is_noscript() => {
                    self.sessions[node].load(wire::ACQUIRE);
                    self.sessions[node].load(wire::EXTEND);
                }
                None => {}
            },
            Settled::Remaining(request, attempt, reply) => {
                self.learn_remaining(node, request, attempt, &reply);
            }
            Settled::Release { round, said } => self.vote_release(now, round, node, said),
            Settled::NotDone(debt) => self.release_again(now, node, debt),
            Settled::Told { key, listeners } => {
                let ours = u64::from(self.listens(node, &key));
                self.local_queue.heard(&key, listeners > ours);
            }
            Settled::Subscribed(key) => self.subscribed(now, node, &key),
            Settled::Freed(key) => self.wake_contender(now, &key),
        }
    }

    /// Handles a server that has answered all it was asked, in the handshake or with a heartbeat.
    fn identified(&mut self, now: Instant, node: usize) {
        self.barrier.stir();
        // Its report counts, whether or not the master itself can be used.
        self.weigh_numbers(now);
        if let Some(fault) = self.unfit(node) {
            return self.break_session(now, node, fault);
        }
        let session = &mut self.sessions[node];
        session.judge_standing(now, &self.settings);
        if session.is_open() {
            session.take_back(now, &self.settings, &mut self.packer);
            self.unsubscribe_unwanted(node);
            self.wake_starved(now);
        } else if session.hand_over(now) {
            self.open(now, node);
        }
    }

    fn open(&mut self, now: Instant, node: usize) {
        self.barrier.stir();
        let Self { sessions, settings, random, packer, .. } = self;
        sessions[node].open(now, &mut **random, packer);
        sessions[node].take_back(now, settings, packer);
        self.wake_starved(now);
        self.note_settled();
    }

    /// Returns why this node may not be used, if it may not.
    fn unfit(&self, node: usize) -> Option<Fault> {
        let session = &self.sessions[node];
        let identity = session.identity()?;
        let by_itself = identity.unfit().map(Fault::unfit);
        let fault = by_itself.or_else(|| session.distrust(&self.settings));
        if let Some(fault) = fault.or_else(|| self.twin(node)) {
            return Some(fault);
        }
        identity.unconfirmed.clone()
    }

    /// Returns a fault if another address leads to the same server.
    fn twin(&self, node: usize) -> Option<Fault> {
        let run_id = self.sessions[node].identity()?.run_id.as_ref()?;
        let twin = self.sessions.iter().enumerate().find_map(|(other, one)| {
            let theirs = one.identity()?.run_id.as_ref()?;
            (other != node && theirs == run_id).then_some(&one.name)
        })?;
        let alike = match self.settings.membership.also() {
            Some(_) => ", and one that is in both lists is spelled alike in both",
            None => "",
        };
        Some(Fault::unfit(format!("the same server as {twin}: each master counts once{alike}")))
    }

    pub(super) fn break_session(&mut self, now: Instant, node: usize, fault: Fault) {
        self.barrier.stir();
        let session = &mut self.sessions[node];
        if session.has_connection() {
            self.actions.push_back(Action::Close { node, epoch: session.epoch() });
        }
        let cause = fault.cause.clone();
        for vote in session.close(now, fault, &mut *self.random) {
            self.strand(now, node, vote.round, vote.may_have_left, &cause);
        }
        self.note_settled();
    }

    /// Handles a vote whose connection is gone.
    fn strand(
        &mut self,
        now: Instant,
        node: usize,
        id: RoundId,
        may_have_left: bool,
        cause: &Arc<str>,
    ) {
        let Some(round) = self.rounds.get(id) else { return };
        let lost = Answer::Unknown(Cause::ConnectionLost(cause.clone()));
        match &round.purpose {
            round::Purpose::Acquire { .. } if may_have_left => {
                self.vote_acquire(now, id, node, lost)
            }
            round::Purpose::Acquire { attempt, .. } => {
                if let Some(attempt) = self.attempts.get_mut(*attempt) {
                    attempt.touched.remove(node);
                }
                let down = Answer::Refused(Reason::Down(cause.clone()));
                self.vote_acquire(now, id, node, down);
            }
            round::Purpose::Extend { .. } => self.vote_extension(now, id, node, lost),
            round::Purpose::Inspect { .. } | round::Purpose::ForceRelease { .. } => {
                self.hear_nothing(now, id, node, lost);
            }
            round::Purpose::Release { .. } => {}
        }
    }

    /// Handles a round whose operation timeout has passed: what has not been answered is unknown.
    /// All of it is noted before the round is judged. Otherwise the failure would be reported as if
    /// some answers were still awaited.
    pub(super) fn time_out(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        let silent = Answer::Unknown(Cause::TimedOut);
        let outstanding = round.outstanding();
        let outstanding = outstanding.iter();
        match round.purpose {
            round::Purpose::Acquire { .. } if round.held_back.is_some() => {
                self.ask_the_others(now, id);
            }
            round::Purpose::Acquire { .. } => {
                outstanding.for_each(|node| round.vote(node, silent.clone(), now));
                self.judge_acquire(now, id);
            }
            round::Purpose::Extend { .. } => {
                outstanding.for_each(|node| round.report(node, silent.clone(), now));
                self.judge_extension(now, id);
            }
            round::Purpose::Inspect { .. } | round::Purpose::ForceRelease { .. } => {
                outstanding.for_each(|node| round.hear(node, Err(silent.clone()), now));
                self.judge_heard(id);
            }
            // The release goes on, but no caller waits for it any more.
            round::Purpose::Release { .. } => {
                outstanding.for_each(|node| round.deletion(node, silent.clone(), now));
                self.judge_release(id);
            }
        }
    }

    pub(super) fn wake_sessions(&mut self, now: Instant) {
        for node in 0..self.sessions.len() {
            match self.sessions[node].wake(now, &self.settings, &mut *self.random, &mut self.packer)
            {
                Wake::Nothing => {}
                Wake::Dial => {
                    let epoch = self.sessions[node].dial();
                    self.actions.push_back(Action::Dial { node, epoch });
                }
                Wake::Changed => {
                    self.weigh_numbers(now);
                    self.wake_starved(now);
                }
                Wake::Close(fault) => self.break_session(now, node, fault),
            }
        }
    }

    fn note_settled(&mut self) {
        if !self.settled && self.sessions.iter().all(|session| session.settled_once) {
            self.settled = true;
            self.events.push_back(Event::Settled);
        }
    }
}
