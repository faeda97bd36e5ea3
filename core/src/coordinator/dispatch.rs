//! The masters' answers, and what the coordinator does with them.

use super::round::RoundKind;
use super::session::{Incoming, Stranded, Wake};
use super::wire::Reply;
use super::{Action, Coordinator, Event, Fault, RoundId, acquire, extend, inspect, turns, wire};
use crate::quorum::Instant;
use crate::report::{Answer, Refusal, UnknownCause};
use std::sync::Arc;

impl Coordinator {
    pub(super) fn handle_incoming(&mut self, now: Instant, node: usize, incoming: Incoming) {
        match incoming {
            Incoming::Nothing => {}
            Incoming::Identified => self.identified(now, node),
            Incoming::HandedOver => self.open(now, node),
            Incoming::Broken(fault) => self.break_session(now, node, fault),
            Incoming::Vote(round, reply) => self.replied(now, round, node, &reply),
            Incoming::Uncounted(round, why) => {
                self.answered(now, round, node, Answer::Refused(why));
            }
            Incoming::Remaining(request, attempt, reply) => {
                self.learn_remaining(node, request, attempt, &reply);
            }
            Incoming::ToppedUp(attempt, reply) => self.topped_up(now, attempt, node, &reply),
            Incoming::Release { round, answer } => self.answered(now, round, node, answer),
            Incoming::NotDone(debt) => self.release_again(now, node, debt),
            Incoming::Told { key, listeners } => {
                let ours = u64::from(self.listens(node, &key));
                self.local_queue.heard(&key, listeners > ours);
                self.slot_heard(&key, listeners > ours);
            }
            Incoming::Subscribed(key) => self.subscribed(now, node, &key),
            Incoming::Freed { key, message } => {
                self.wake_contender(now, &key, Some(&message));
                self.hear(&key, Some(&message));
            }
        }
    }

    /// Handles the reply to a command of a round.
    fn replied(&mut self, now: Instant, id: RoundId, node: usize, reply: &Reply) {
        let answer = match self.rounds.get(id).map(|round| &round.kind) {
            Some(RoundKind::Acquire { .. }) => {
                if reply.is_noscript() {
                    self.sessions[node].reload(wire::ACQUIRE);
                }
                self.learn(now, id, node, reply);
                self.learn_place(id, node, reply);
                acquire::answer(reply)
            }
            Some(RoundKind::Extend { .. }) => {
                // For the next round, not for this one: a second round trip could arrive after the
                // release.
                if reply.is_noscript() {
                    self.sessions[node].reload(wire::EXTEND);
                }
                extend::answer(reply)
            }
            Some(RoundKind::Ask { .. }) => {
                if reply.is_noscript() {
                    self.sessions[node].reload(wire::ASK);
                }
                self.learn(now, id, node, reply);
                self.learn_place(id, node, reply);
                turns::told(reply)
            }
            Some(RoundKind::Inspect { .. }) => return self.inspected(now, id, node, reply),
            Some(RoundKind::Look { .. }) => return self.looked(now, id, node, reply),
            Some(RoundKind::ForceRelease { .. }) => inspect::deleted(reply),
            // Its answers come from the ledger.
            Some(RoundKind::Release { .. }) => return,
            // Too late for its round, which alone knew which script it had called.
            None => {
                if reply.is_noscript() {
                    self.sessions[node].reload(wire::ACQUIRE);
                    self.sessions[node].reload(wire::EXTEND);
                }
                return;
            }
        };
        self.answered(now, id, node, answer);
    }

    /// Handles a command of a round whose connection is gone.
    fn strand(&mut self, now: Instant, node: usize, stranded: &Stranded, cause: &Arc<str>) {
        let Stranded { round: id, may_have_left } = *stranded;
        let answer = match self.rounds.get(id).map(|round| &round.kind) {
            Some(RoundKind::Acquire { attempt, .. }) if !may_have_left => {
                if let Some(attempt) = self.attempts.get_mut(*attempt) {
                    attempt.touched.remove(node);
                }
                Answer::Refused(Refusal::Down(cause.clone()))
            }
            _ => Answer::Unknown(UnknownCause::ConnectionLost(cause.clone())),
        };
        self.answered(now, id, node, answer);
    }

    /// Handles a round whose operation timeout has passed: what has not been answered is unknown.
    /// All of it is noted before the round is judged. Otherwise the failure would be reported as if
    /// some answers were still awaited. A release goes on, but no caller waits for it any more.
    pub(super) fn time_out(&mut self, now: Instant, id: RoundId) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        if round.held_back.is_some() {
            return self.ask_the_others(now, id);
        }
        for node in round.outstanding().iter() {
            round.record(node, Answer::Unknown(UnknownCause::TimedOut), now);
        }
        self.judge(now, id);
    }

    /// Notes the answer of one node, and judges its round.
    fn answered(&mut self, now: Instant, id: RoundId, node: usize, answer: Answer) {
        let Some(round) = self.rounds.get_mut(id) else { return };
        // A straggler of an extension that was already won.
        let topped_up = match round.kind {
            RoundKind::Extend { purpose: None, attempt, .. }
                if matches!(answer, Answer::Vacant | Answer::Taken) =>
            {
                Some(attempt)
            }
            _ => None,
        };
        round.record(node, answer, now);
        self.judge(now, id);
        if let Some(attempt) = topped_up {
            self.top_up(now, attempt, node);
        }
    }

    /// Judges a round by the answers so far.
    fn judge(&mut self, now: Instant, id: RoundId) {
        match self.rounds.get(id).map(|round| &round.kind) {
            Some(RoundKind::Acquire { .. }) => self.judge_acquire(now, id),
            Some(RoundKind::Ask { .. }) => self.judge_ask(now, id),
            Some(RoundKind::Extend { .. }) => self.judge_extension(now, id),
            Some(RoundKind::Release { .. }) => self.judge_release(id),
            Some(RoundKind::Inspect { .. } | RoundKind::ForceRelease { .. }) => {
                self.judge_heard(id);
            }
            Some(RoundKind::Look { .. }) => self.judge_look(id),
            None => {}
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
            session.take_back(now, &self.settings);
            self.unsubscribe_unwanted(node);
            self.wake_starved(now);
            self.listen_anew(now);
        } else if session.hand_over(now) {
            self.open(now, node);
        }
    }

    fn open(&mut self, now: Instant, node: usize) {
        self.barrier.stir();
        let Self { sessions, settings, random, packer, .. } = self;
        sessions[node].open(now, settings, &mut **random, packer);
        sessions[node].take_back(now, settings);
        self.wake_starved(now);
        self.listen_anew(now);
        self.note_connected();
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
        let run_id = self.sessions[node].identity()?.facts.run_id.as_ref()?;
        let twin = self.sessions.iter().enumerate().find_map(|(other, one)| {
            let theirs = one.identity()?.facts.run_id.as_ref()?;
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
            self.strand(now, node, &vote, &cause);
        }
        self.miss_messages(now, node);
        self.listen_anew(now);
        self.note_connected();
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
                    self.listen_anew(now);
                }
                Wake::Close(fault) => self.break_session(now, node, fault),
            }
        }
    }

    fn note_connected(&mut self) {
        if !self.connected && self.sessions.iter().all(|session| session.was_tried) {
            self.connected = true;
            self.events.push(Event::Connected);
        }
    }
}
