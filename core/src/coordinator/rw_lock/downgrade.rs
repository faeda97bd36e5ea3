//! The downgrade: a writer becomes a reader, without a moment in between.
//!
//! It is an extension round in which each master that finds the token alone makes it a reader.
//! Once one master may have done that, the holder is a reader: others may be let in from then on.
//! It is a writer again only if no master can have done it.

use crate::coordinator::attempt::{Attempt, Hold, Stage};
use crate::coordinator::purpose::{Change, Purpose};
use crate::coordinator::round::RoundKind;
use crate::coordinator::wire::{Ballot, Claim};
use crate::coordinator::{AttemptId, Coordinator, Event, Keys, NotExtended, RequestId};
use crate::quorum::Instant;

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
        self.begin_extend(now, attempt, Purpose::Downgrade(request));
        self.serve_waiting(now);
    }

    /// Makes a writer claim its key as a reader.
    pub(in crate::coordinator) fn prepare_downgrade(&mut self, id: AttemptId) {
        self.close_extensions(id);
        let Some(attempt) = self.attempts.get_mut(id) else { return };
        let Some(reader) = attempt.claim.keys.downgraded() else { return };
        let Some(hold) = attempt.take_from_keeper(&mut self.timers, id) else { return };
        let keys = std::mem::replace(&mut attempt.claim.keys, reader);
        let ballot = attempt.claim.ballot.take();
        let downgrade = Change::Downgrade(Downgrade { hold, keys, ballot });
        attempt.stage = Stage::Changing(Box::new(downgrade));
    }

    /// Closes the rounds that extend a hold: they ask for a writer.
    fn close_extensions(&mut self, id: AttemptId) {
        for round in self.rounds.ids(|round| round.kind.extends(id)) {
            let Some(round) = self.take_round(round) else { continue };
            let RoundKind::Extend { purpose: Some(purpose), .. } = round.kind else { continue };
            let reports = round.reports(self.sessions.iter().map(|session| &session.name));
            self.answer_not_extended(id, purpose, NotExtended::Unconfirmed(reports));
        }
    }

    /// Makes the hold a reader's, after an extension that was won.
    pub(in crate::coordinator) fn become_reader(
        &mut self,
        request: RequestId,
        id: AttemptId,
        deadline: Instant,
    ) {
        self.settle_change(id);
        let Some(hold) = self.attempts.get_mut(id).and_then(Attempt::held_mut) else { return };
        hold.untold = true;
        let result = Ok(self.prolong(id, deadline));
        self.events.push(Event::Downgraded { request, attempt: id, result });
    }

    /// Makes the hold a reader's with its old deadline. The masters that have not heard of it make it a reader
    /// when it is extended, and readers are notified then.
    pub(in crate::coordinator) fn become_reader_unconfirmed(
        &mut self,
        now: Instant,
        request: RequestId,
        id: AttemptId,
    ) {
        let Some(old) = self.attempts.get(id).and_then(Attempt::hold).copied() else { return };
        self.become_reader(request, id, old.deadline);
        self.keep_again(now, id);
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
}

impl Downgrade {
    /// Makes `claim` a writer's again, and returns its hold.
    pub(in crate::coordinator) fn undo(&mut self, claim: &mut Claim) -> Hold {
        std::mem::swap(&mut claim.keys, &mut self.keys);
        claim.ballot = self.ballot.take();
        self.hold
    }
}

impl Attempt {
    /// Returns whether a downgrade of the hold is under way.
    pub(in crate::coordinator) fn downgrading(&self) -> bool {
        match &self.stage {
            Stage::Changing(change) => matches!(**change, Change::Downgrade(_)),
            _ => false,
        }
    }

    /// Returns whether it has its places in the local queue, if it is held: a reader has none.
    pub(in crate::coordinator) fn has_places(&self) -> bool {
        self.claim.keys.as_reader().is_none() || self.downgrading()
    }
}
