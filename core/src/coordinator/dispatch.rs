//! The masters' answers, and what the coordinator does with them.

use super::Coordinator;
use crate::lock::{RoundKind, acquire, extend};
use crate::master::{Fault, Incoming, Masters, PendingReply, Stranded, Wake, barrier};
use crate::questions::Question;
use crate::questions::remaining::Reported;
use crate::quorum::Instant;
use crate::report::{Answer, Refusal, UnknownCause};
use crate::shared::{Cx, Event, IdleEnd, RoundId};
use crate::waiting::{Step, Waiters};
use crate::wire::Reply;
use crate::wire::waitlist::Called;
use std::sync::Arc;

impl Coordinator {
    /// Handles a master's reply to this command.
    pub(super) fn handle_reply(&mut self, node: usize, pending: PendingReply, reply: Reply) {
        let Self { at, locks } = self;
        let (now, session) = (at.cx.now, &mut at.cx.masters.sessions[node]);
        match pending {
            PendingReply::Vote(round) => self.replied(round, node, reply),
            PendingReply::Conditional(id) => match session.conditional_vote(now) {
                Ok(()) => self.replied(id, node, reply),
                Err(why) => {
                    let round = locks.rounds.get_mut(id.0);
                    round.into_iter().for_each(|round| round.is_uncounted = true);
                    self.answered(id, node, Answer::Refused(why));
                }
            },
            PendingReply::Remaining(request, round, attempt) => {
                if let Some(reported) = Reported::in_reply(&reply)
                    && !locks.learn_remaining(node, round, attempt, &reported)
                {
                    at.waiters.learn_remaining(&mut at.cx, node, request, attempt, &reported);
                }
            }
            PendingReply::TopUp { attempt, may_repeat: true } if !reply.is_noscript() => {
                locks.topped_up(&mut at.cx, attempt, node, &reply);
            }
            PendingReply::Deletion(debt, way) => {
                match session.debt_answered(now, debt, way, &reply) {
                    Ok(None) => {}
                    Ok(Some((round, answer))) => self.answered(round, node, answer),
                    Err(debt) => {
                        // A rollback notifies no waiter.
                        if !debt.deletion.notifies {
                            at.waiters.meet_own(&debt.deletion.claim.keys);
                        }
                        locks.release_again(&mut at.cx, node, debt);
                    }
                }
            }
            PendingReply::Holders(key) => {
                at.waiters.holders_seen(&mut at.cx, node, &key, &reply);
            }
            PendingReply::Wait(request, waiter) => {
                at.waiters.listed(&mut at.cx, node, request, waiter, &reply);
            }
            PendingReply::Call { key, says, is_repeated } => match Called::in_reply(&reply) {
                Some(called) => at.waiters.called(&mut at.cx, node, key, says, called),
                None => {
                    let is_forgotten = session.not_called(&reply, is_repeated);
                    at.cx.masters.notify(node, key, is_forgotten.then_some(says));
                }
            },
            PendingReply::Subscribe(key) if matches!(reply, Reply::Push(_)) => {
                at.waiters.subscribed(&mut at.cx, node, &key);
            }
            other => match session.answered(now, other, &reply) {
                Incoming::Nothing => {}
                Incoming::Identified => self.identified(node),
                Incoming::HandedOver => self.open(node),
                Incoming::Broken(fault) => self.break_session(node, fault),
            },
        }
    }

    /// Handles a message on the channel of a key: it has become free, or what the message says of it.
    pub(super) fn handle_message(&mut self, node: usize, message: &Reply) {
        let Cx { masters, .. } = &self.at.cx;
        let Reply::Push(parts) = message else { return };
        let channel = parts.get(1).and_then(Reply::text);
        let key = channel.and_then(|name| name.strip_prefix(&*masters.sessions[node].channels));
        let text = parts.get(2).and_then(Reply::text).unwrap_or_default();
        if let Some(key) = key {
            self.at.waiters.freed_elsewhere(&mut self.at.cx, key, &text.into());
        }
    }

    /// Handles the reply to a command of a round.
    fn replied(&mut self, id: RoundId, node: usize, reply: Reply) {
        let Self { at, locks } = self;
        let kind = locks.rounds.get(id.0).map(|round| &round.kind);
        if reply.is_noscript() {
            // For the next round, not for this one: a second round trip could arrive after the
            // release.
            at.cx.masters.sessions[node].reload();
        }
        let answer = match kind {
            Some(RoundKind::Acquire { request, .. }) => {
                // A refusal may report a fence and a clock, too.
                if let Reply::Array(parts) = &reply {
                    if let Some(clock_us) = at.cx.masters.learn_fence(parts) {
                        at.waiters.learn_clock(&at.cx, *request, node, clock_us);
                    }
                    at.waiters.learn_refusing(*request, node, parts);
                }
                acquire::answer(&reply)
            }
            Some(RoundKind::Extend { .. }) => extend::answer(&reply),
            Some(RoundKind::Question(_)) => return locks.hear(&mut at.cx, id, node, reply),
            // The answers of a release come from the ledger.
            Some(RoundKind::Release { .. }) | None => return,
        };
        self.answered(id, node, answer);
    }

    /// Handles a command of a round whose connection is gone.
    fn strand(&mut self, node: usize, stranded: Stranded, cause: &Arc<str>) {
        let Stranded { round: id, may_have_left } = stranded;
        let answer = match self.locks.rounds.get(id.0).map(|round| &round.kind) {
            Some(RoundKind::Acquire { attempt, .. }) if !may_have_left => {
                if let Some(attempt) = self.locks.attempts.get_mut(attempt.0) {
                    attempt.touched.remove(node);
                }
                Answer::Refused(Refusal::Down(cause.clone()))
            }
            _ => Answer::Unknown(UnknownCause::ConnectionLost(cause.clone())),
        };
        self.answered(id, node, answer);
    }

    /// Handles a round whose operation timeout has passed: what has not been answered is unknown.
    /// All of it is noted before the round is judged. Otherwise the failure would be reported as if
    /// some answers were still awaited. A release goes on, but no caller waits for it any more.
    pub(super) fn time_out(&mut self, id: RoundId) {
        let Self { at, locks } = self;
        let Some(round) = locks.rounds.get_mut(id.0) else { return };
        if round.held_back.is_some() {
            return locks.ask_the_others(at, id);
        }
        for node in round.outstanding.iter() {
            round.record(node, Answer::Unknown(UnknownCause::TimedOut), at.cx.now);
        }
        locks.judge(at, id);
    }

    /// Notes the answer of one node, and judges its round.
    fn answered(&mut self, id: RoundId, node: usize, answer: Answer) {
        let Some(round) = self.locks.rounds.get_mut(id.0) else { return };
        // A straggler of an extension that was already won.
        let topped_up = match round.kind {
            RoundKind::Extend { purpose: None, attempt, .. }
                if matches!(answer, Answer::Vacant | Answer::Taken) =>
            {
                Some(attempt)
            }
            _ => None,
        };
        round.record(node, answer, self.at.cx.now);
        self.locks.judge(&mut self.at, id);
        self.go_on();
        if let Some(id) = topped_up
            && let Some(attempt) = self.locks.attempts.get_mut(id.0)
        {
            attempt.top_up(&mut self.at.cx, node);
        }
    }

    /// Handles a server that has answered all it was asked, in the handshake or with a heartbeat.
    fn identified(&mut self, node: usize) {
        let Cx { now, masters, .. } = &mut self.at.cx;
        masters.barrier.stir();
        // Its report counts, whether or not the master itself can be used.
        masters.weigh_numbers(*now);
        masters.judge_laggards();
        if let Some(fault) = masters.unfit(node) {
            if !masters.sessions[node].parts_first(*now, &fault) {
                self.break_session(node, fault);
            }
            return;
        }
        let session = &mut masters.sessions[node];
        session.judge_standing(*now, masters.quarantine);
        if session.is_open() {
            session.take_back(*now);
            self.at.waiters.unsubscribe_unwanted(&mut self.at.cx, node);
            self.came_back();
        } else if session.hand_over(*now) {
            self.open(node);
        }
    }

    fn open(&mut self, node: usize) {
        self.at.waiters.open_mailbox(&mut self.at.cx, node);
        self.at.cx.masters.open(self.at.cx.now, node);
        self.came_back();
        self.note_connected();
    }

    pub(super) fn break_session(&mut self, node: usize, fault: Fault) {
        let cause = fault.cause.clone();
        for vote in self.at.cx.masters.close(self.at.cx.now, node, fault) {
            self.strand(node, vote, &cause);
        }
        self.at.waiters.miss_messages(&mut self.at.cx, node);
        self.at.waiters.listen_anew(&mut self.at.cx);
        self.note_connected();
    }

    /// Reports, once, that every master has been reached or has failed.
    fn note_connected(&mut self) {
        let Masters { sessions, connected, .. } = &mut self.at.cx.masters;
        let all = sessions.iter().all(|session| session.was_tried);
        if all && !std::mem::replace(connected, true) {
            self.at.cx.events.push(Event::Connected);
        }
    }

    pub(super) fn wake_sessions(&mut self) {
        let is_idle = self.locks.attempts.len() == 0 && self.at.waiters.is_empty();
        for node in 0..self.at.cx.masters.sessions.len() {
            match self.at.cx.masters.wake(self.at.cx.now, node, is_idle) {
                Wake::Nothing | Wake::Dial | Wake::Renew => {}
                Wake::Changed => {
                    self.at.cx.masters.weigh_numbers(self.at.cx.now);
                    self.came_back();
                }
                Wake::Close(fault) => self.break_session(node, fault),
            }
        }
    }

    /// Lets waiters go on after a master has come back, or counts again.
    fn came_back(&mut self) {
        self.at.waiters.wake_starved(&mut self.at.cx);
        self.go_on();
        self.at.waiters.listen_anew(&mut self.at.cx);
    }

    // What follows.

    /// Handles the end of reading: all that has arrived by `now` has been read. Time alone is not a
    /// reason to go on without a master: after a stop, its answer may have been there for a long
    /// time.
    pub fn handle_caught_up(&mut self, now: Instant) {
        self.at.cx.now = now;
        if self.at.cx.masters.opens_at().is_none_or(|at| at > now) {
            return;
        }
        self.at.cx.masters.barrier.stir();
        self.let_through(true);
        self.serve();
    }

    /// Begins rounds that were held up, in their order: those whose masters have answered.
    fn let_through(&mut self, is_read: bool) {
        for round in self.at.cx.masters.let_through(self.at.cx.now, is_read) {
            let Self { at, locks } = self;
            match round {
                barrier::Round::Acquire(request) => at.waiters.let_through(request),
                barrier::Round::Extend(attempt, purpose) => {
                    locks.send_extension(at, attempt, purpose);
                }
            }
            self.go_on();
        }
    }

    /// Serves those that wait, until nothing is left to do.
    pub(super) fn serve(&mut self) {
        self.go_on();
        self.let_through(false);
        while self.serve_one(Waiters::serve_backlog) {}
        while self.serve_one(Waiters::serve_next) {}
        while self.serve_one(Waiters::serve_seeker) {}
        while self.serve_one(Waiters::serve_reader) {}
    }

    #[inline]
    pub(super) fn serve_one(&mut self, serve: impl Fn(&mut Waiters, &mut Cx) -> bool) -> bool {
        let has_served = serve(&mut self.at.waiters, &mut self.at.cx);
        if has_served {
            self.go_on();
        }
        has_served
    }

    /// Takes the steps that acquires have asked for, in their order.
    #[inline]
    pub(super) fn go_on(&mut self) {
        if self.at.waiters.has_steps() {
            self.take_steps();
        }
    }

    #[inline(never)]
    fn take_steps(&mut self) {
        let mut behind = 0;
        while let Some((step, left)) = self.at.waiters.next_step(behind) {
            behind = left;
            self.take(step);
        }
    }

    fn take(&mut self, step: Step) {
        let Self { at, locks } = self;
        match step {
            Step::Attempt(request) => {
                if !at.waiters.may_begin(&mut at.cx, request) {
                    return;
                }
                let Some((acquire, asking, contention)) = at.waiters.ask(&at.cx, request) else {
                    return;
                };
                match locks.attempt(&mut at.cx, request, acquire, asking) {
                    Some(begun) => {
                        contention.begun(at.cx.now, &begun);
                        locks.judge(at, begun.round);
                    }
                    None => at.waiters.without_randomness(&mut at.cx, request),
                }
            }
            Step::Look { request, slots, all } => {
                let channel = (!all).then_some(slots.channel());
                locks.ask(&mut at.cx, Question::look(request, slots.names(), channel));
            }
            Step::Withdraw { round, attempt } => locks.withdraw(at, round, attempt),
            Step::Reuse(request) => locks.reuse(at, request),
            Step::Release(attempt) => locks.begin_release(at, None, attempt, true),
            Step::MakeWay(attempt) => {
                let _is_idle = locks.release_idle(at, attempt, IdleEnd::NotSuited);
            }
            Step::GiveWay(key) => locks.give_way(at, &key),
        }
    }
}
