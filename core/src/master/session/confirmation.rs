//! A master's confirmation of this client's settings, without which no vote is asked of it.

use super::redial::REDIAL_BASE;
use super::{RECONFIRM, State};
use crate::master::agreement::{Outcome, Report};
use crate::master::{Fault, Incoming, PendingReply, RestartGuard, Session};
use crate::quorum::agreement::HEARTBEAT;
use crate::quorum::{Instant, agreement};
use crate::report::Refusal;
use crate::routing::laggards::Trips;
use crate::shared::RoundId;
use crate::wire::Reply;
use std::time::Duration;

/// The questions and answers of one connection. Each instant is the one at which the question was
/// queued.
#[derive(Default)]
pub(super) struct Confirmation {
    /// The latest question.
    asked: Option<Instant>,
    /// How many questions have no answer yet.
    unanswered: usize,
    /// The latest question that was answered with an agreement, unless a disagreement came after
    /// it. An error is neither.
    agreed: Option<Instant>,
    /// The same for questions whose notes outlast what is sent on them.
    noted: Option<Instant>,
    /// The latest answer leaves nothing to ask before the next heartbeat.
    is_settled: bool,
    /// How long the latest two answers took that were some time apart, and when the latest of them was begun.
    trips: [Option<Duration>; 2],
    measured_at: Option<Instant>,
}

impl Confirmation {
    /// Returns whether an answer is still awaited.
    pub(super) const fn is_asking(&self) -> bool {
        self.unanswered > 0
    }

    #[cfg(any(test, feature = "testing"))]
    pub(super) const fn noted(&self) -> Option<Instant> {
        self.noted
    }

    /// Notes how long an answer took. Of several within half a heartbeat, as when many clients connect at once, the
    /// shortest counts.
    fn measure(&mut self, asked: Instant, now: Instant) {
        let trip = Some(now.since(asked));
        let [_, last] = self.trips;
        if self.measured_at.is_some_and(|at| asked < at.after(HEARTBEAT / 2)) {
            self.trips[1] = last.min(trip);
        } else {
            (self.trips, self.measured_at) = ([last, trip], Some(asked));
        }
    }
}

impl Session {
    /// Asks whether the other clients of the server have the same settings.
    pub(super) fn ask_to_confirm(&mut self, now: Instant) {
        self.confirmation.asked = Some(now);
        self.confirmation.unanswered += 1;
        if !self.settings.agreement.looks {
            self.departure.may_have_noted = true;
        }
        let run = self.identity.facts.run_id.as_deref().unwrap_or_default();
        let met = self.met.as_ref().map_or("", |(run_id, _)| run_id);
        let question = self.settings.agreement.question(self.is_brief, [&self.client, run, met]);
        self.push(PendingReply::Agree { asked: now, is_brief: self.is_brief }, &question);
    }

    /// Notes for longer from now on: rounds begin that rest on the notes. If `all_again`, no round
    /// begins before the answer to this question.
    pub(crate) fn note_for_rounds(&mut self, now: Instant, all_again: bool) {
        self.is_brief = false;
        if all_again {
            self.heard_at = None;
        }
        if self.is_open() {
            self.ask_to_confirm(now);
        }
    }

    /// Asks once more, where the handshake could not ask all: for a note that outlasts a round, or by
    /// the name of the server process.
    pub(super) fn complete(&mut self, now: Instant) {
        let is_brief = !self.is_brief && self.confirmation.agreed > self.confirmation.noted;
        let is_unnamed = self.settings.restart_guard == RestartGuard::TrustPersistence;
        if (is_brief || is_unnamed) && self.departure.leaves.is_none() {
            self.ask_to_confirm(now);
        }
    }

    /// Returns until when the master may take to answer a question that was asked at `since` or
    /// later, or that is younger than `age`. If no question is in flight, asks one. `None` if there
    /// is nothing to wait for: the master has answered such a question, or the last dial has failed,
    /// and it began not long ago.
    pub(crate) fn awaited_until(
        &mut self,
        now: Instant,
        since: Instant,
        age: Duration,
    ) -> Option<Instant> {
        if self.heard_at.is_some_and(|at| at >= since || now.since(at) <= age) {
            return None;
        }
        let from = if self.is_open() {
            if !self.confirmation.is_asking() {
                self.ask_to_confirm(now);
            }
            // A question that has not left yet cannot be answered.
            self.pipe.asked_at().or(self.confirmation.asked)
        } else {
            self.awaited_from(now, since)
        };
        from.map(|from| from.after(self.settings.operation_timeout))
    }

    /// Handles the last answer of a series: all that can be known is known.
    pub(super) fn agreement_answered(
        &mut self,
        now: Instant,
        asked: Instant,
        is_brief: bool,
        reply: &Reply,
    ) -> Incoming {
        self.confirmation.unanswered = self.confirmation.unanswered.saturating_sub(1);
        self.confirmation.measure(asked, now);
        #[cfg(any(test, feature = "testing"))]
        let asked = self.settings.agreement.counts_from(asked, now);
        self.heard_at = Some(asked);
        let (outcome, remembers) = self.settings.agreement.read(now, reply);
        self.identity.remembers = remembers;
        self.confirmation.is_settled = matches!(outcome, Outcome::Agreed | Outcome::Alike);
        match outcome {
            Outcome::Agreed => {
                self.confirmation.agreed = Some(asked);
                if !is_brief {
                    self.confirmation.noted = Some(asked);
                }
                self.report = None;
            }
            Outcome::Alike => self.report = None,
            Outcome::Disagrees(report) => {
                (self.confirmation.agreed, self.confirmation.noted) = (None, None);
                self.report = Some(report);
            }
            Outcome::Error(fault) if !self.is_open() => self.identity.unconfirmed = Some(fault),
            Outcome::Error(_) => {}
            Outcome::Unreadable => {
                let cause = "an answer to the agreement that it cannot have";
                return Incoming::Broken(Fault::down(cause));
            }
        }
        let again_at = self.asks_again_at(now);
        if let State::Open { heartbeat_at } = &mut self.state {
            *heartbeat_at = again_at.min(*heartbeat_at);
        }
        Incoming::Identified
    }

    /// Returns when to ask again at the latest: soon, after a disagreement or an error.
    pub(super) fn asks_again_at(&self, now: Instant) -> Instant {
        if self.confirmation.is_settled {
            return Instant::from_nanos(u64::MAX);
        }
        let soon = now.after(RECONFIRM);
        let lapses = |report: &Report| report.lapses.clamp(now.after(REDIAL_BASE), soon);
        self.report.as_ref().map_or(soon, lapses)
    }

    /// Checks whether a vote may be asked for: this client's own note is at the master. Once rounds
    /// have begun it outlasts them, or the question that makes it so is ahead on the connection.
    pub(crate) fn confirmed(&self, now: Instant) -> Result<(), Refusal> {
        let agreed = self.confirmation.agreed.is_some_and(|asked| agreement::is_fresh(asked, now));
        let lasts = self.is_brief || self.is_noted(now) || self.confirmation.is_asking();
        match &self.report {
            _ if agreed && lasts => Ok(()),
            Some(report) => Err(Refusal::Disagreement(report.cause.clone())),
            None => Err(Refusal::Unconfirmed),
        }
    }

    /// The same for reports: while the client rests, the last answer stands until the next is due.
    pub(crate) fn confirmed_or_rests(&self, now: Instant) -> Result<(), Refusal> {
        let confirmed = self.confirmed(now);
        let next_is_due = self.settings.rest.heartbeat.saturating_mul(2);
        let stands = self.confirmation.agreed.is_some_and(|asked| now.since(asked) <= next_is_due);
        match confirmed {
            Err(Refusal::Unconfirmed) if self.rests && stands => Ok(()),
            confirmed => confirmed,
        }
    }

    /// Returns whether this client's note is at the master and outlasts a round.
    fn is_noted(&self, now: Instant) -> bool {
        self.confirmation.noted.is_some_and(|asked| agreement::is_fresh(asked, now))
    }

    /// Returns the kind of reply to a command of a round that is sent now. A client's first round
    /// does not wait for its note to be prolonged: what each master answers to that question decides
    /// whether its vote counts.
    pub(crate) fn vote(&self, now: Instant, round: RoundId) -> PendingReply {
        if self.is_noted(now) {
            PendingReply::Vote(round)
        } else {
            PendingReply::Conditional(round)
        }
    }

    /// Handles a vote whose question was not answered when it was sent. By now it is: a server answers
    /// in order.
    pub(crate) fn conditional_vote(&self, now: Instant) -> Result<(), Refusal> {
        self.confirmed(now)?;
        if self.is_noted(now) { Ok(()) } else { Err(Refusal::Unconfirmed) }
    }

    /// Returns whether this master keeps away clients that wait for `quarantine`. It does so for
    /// keys that live for `life` and that a round starting now may set.
    pub(crate) fn shields(&self, now: Instant, life: Duration, quarantine: Duration) -> bool {
        let drift = self.settings.drift;
        let Confirmation { agreed, noted, .. } = self.confirmation;
        // Before its first round a client can only tell whether it would be kept from one.
        let asked = if self.is_brief { agreed } else { noted };
        let asked = asked.filter(|_| self.may_vote(now));
        asked.is_some_and(|asked| agreement::shields(asked, now, life, quarantine, drift))
    }

    /// Returns how long an answer takes, by the shorter of the latest two that were measured, or the only one.
    pub(crate) fn trip(&self) -> Duration {
        self.confirmation.trips.into_iter().flatten().min().unwrap_or_default()
    }

    /// Returns how long the server's latest two answers took, if that is known.
    pub(crate) fn trips(&self) -> Option<Trips> {
        let [first, second] = self.confirmation.trips;
        Some([first?, second?])
    }

    /// Returns the master's report on clients with different settings.
    pub(crate) const fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Forgets a report that no client has confirmed for long enough. Returns whether there was
    /// one.
    pub(super) fn forget(&mut self, now: Instant) -> bool {
        self.report.take_if(|report| report.until <= now).is_some()
    }
}
