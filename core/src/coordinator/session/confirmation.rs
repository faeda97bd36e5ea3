//! A master's confirmation of this client's settings, without which no vote is asked of it.

use super::{Incoming, PendingReply, RECONFIRM, REDIAL_BASE, Session, State};
use crate::coordinator::Settings;
use crate::coordinator::agreement::{Said, Told};
use crate::coordinator::fault::Fault;
use crate::coordinator::wire::Reply;
use crate::quorum::{ClockDrift, Instant, agreement};
use crate::report::Refusal;
use std::time::Duration;

/// The questions and answers of one connection. Each instant is the one at which the question was
/// queued.
#[derive(Default)]
pub(super) struct Confirmation {
    /// The latest question.
    asked: Option<Instant>,
    /// The latest question that was answered at all.
    answered: Option<Instant>,
    /// The latest question that was answered with an agreement, unless a disagreement came after
    /// it. An error is neither.
    agreed: Option<Instant>,
    /// The latest answer leaves nothing to ask before the next heartbeat.
    is_settled: bool,
}

impl Confirmation {
    /// Returns whether an answer is still awaited.
    pub(super) fn is_asking(&self) -> bool {
        self.asked != self.answered
    }
}

impl Session {
    /// Asks whether the other clients of the server have the same settings.
    pub(super) fn ask_to_confirm(&mut self, now: Instant, settings: &Settings) {
        self.confirmation.asked = Some(now);
        self.push(PendingReply::Agree(now), settings.agreement.question());
    }

    /// Returns until when the master may take to answer a question that was asked at `since` or
    /// later, or that is younger than `age`. If no question is in flight, asks one. `None` if there
    /// is nothing to wait for: the master has answered such a question, or has not been reached
    /// since it was lost.
    pub(in crate::coordinator) fn awaited_until(
        &mut self,
        now: Instant,
        since: Instant,
        age: Duration,
        settings: &Settings,
    ) -> Option<Instant> {
        if self.heard_at.is_some_and(|at| at >= since || now.since(at) <= age) {
            return None;
        }
        let from = if self.is_open() {
            if !self.confirmation.is_asking() {
                self.ask_to_confirm(now, settings);
            }
            // A question that has not left yet cannot be answered.
            self.pipe.asked_at().or(self.confirmation.asked)
        } else {
            self.lost_at
        };
        from.map(|from| from.after(settings.operation_timeout))
    }

    /// Returns whether a note may still be made that then has to be taken back: the client
    /// withdraws while a handshake or a question is in flight.
    pub(in crate::coordinator) fn may_yet_note(&self) -> bool {
        let asks = !self.is_open() || self.confirmation.is_asking();
        self.withdraws && self.has_connection() && asks
    }

    /// Handles the last answer of a series: all that can be known is known.
    pub(super) fn agreement_answered(
        &mut self,
        now: Instant,
        settings: &Settings,
        asked: Instant,
        reply: &Reply,
    ) -> Incoming {
        self.confirmation.answered = Some(asked);
        #[cfg(any(test, feature = "testing"))]
        let asked = settings.agreement.counts_from(asked, now);
        self.heard_at = Some(asked);
        let said = settings.agreement.said(now, reply);
        // The uptime was reported before this answer, and no earlier than the question.
        let at_the_question = |memory: Duration| Some(memory.saturating_sub(now.since(asked)));
        self.confirmation.is_settled = matches!(said, Said::Agreed { .. } | Said::Alike { .. });
        match said {
            Said::Agreed { ends, before, memory } => {
                self.confirmation.agreed = Some(asked);
                self.told = None;
                self.identity.memory = at_the_question(memory);
                let still_ours = before == 0 || self.noted_until == Some(before);
                self.noted_until = still_ours.then_some(ends);
            }
            Said::Alike { memory } => {
                self.told = None;
                self.identity.memory = at_the_question(memory);
            }
            Said::Told { told, memory } => {
                self.confirmation.agreed = None;
                self.told = Some(told);
                self.identity.memory = at_the_question(memory);
            }
            Said::Error(fault) if !self.is_open() => self.identity.unconfirmed = Some(fault),
            Said::Error(_) => {}
            Said::Unreadable => {
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
        self.told.as_ref().map_or(soon, |told| told.lapses.clamp(now.after(REDIAL_BASE), soon))
    }

    /// Checks whether a vote may be asked for: this client's own note is at the master.
    pub(in crate::coordinator) fn confirmed(&self, now: Instant) -> Result<(), Refusal> {
        match (&self.told, self.confirmation.agreed) {
            (_, Some(asked)) if agreement::is_fresh(asked, now) => Ok(()),
            (Some(told), _) => Err(Refusal::Disagreement(told.cause.clone())),
            (None, _) => Err(Refusal::Unconfirmed),
        }
    }

    /// Returns whether this master keeps away clients that wait for `quarantine`. It does so for
    /// keys that live for `life` and that a round starting now may set.
    pub(in crate::coordinator) fn shields(
        &self,
        now: Instant,
        life: Duration,
        quarantine: Duration,
        drift: ClockDrift,
    ) -> bool {
        let asked = self.confirmation.agreed.filter(|_| self.may_vote(now));
        asked.is_some_and(|asked| agreement::shields(asked, now, life, quarantine, drift))
    }

    /// Returns the master's report on clients with different settings.
    pub(in crate::coordinator) const fn told(&self) -> Option<&Told> {
        self.told.as_ref()
    }

    /// Forgets a report that no client has confirmed for long enough. Returns whether there was
    /// one.
    pub(super) fn forget(&mut self, now: Instant) -> bool {
        self.told.take_if(|told| told.until <= now).is_some()
    }
}
