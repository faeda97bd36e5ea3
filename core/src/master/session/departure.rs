//! The end of a client: it takes back what it has noted, as far as nothing that it has sent rests on
//! it. The others' notes stand, since each client has a part of its own.

use crate::master::{Fault, FaultKind, PendingReply, Session};
use crate::quorum::Instant;

/// What a session does about this client's note once the client ends.
#[derive(Default)]
pub(super) struct Departure {
    /// When the last of what this client has sent may be over, once it sends nothing more: then nothing more is noted,
    /// and what was noted is taken back.
    pub(super) leaves: Option<Instant>,
    /// This client may have noted something.
    pub(super) may_have_noted: bool,
    /// Until when the note lasts that was taken back last, on this connection.
    taken_back: Option<Instant>,
    /// The command that takes it back has no answer yet.
    is_awaited: bool,
    /// A connection is sought for the sake of the note alone: this master has no vote, so it had none.
    pub(super) seeks: bool,
    /// Until when the note was to last for which one was sought last.
    sought: Option<Instant>,
    /// Why the connection is of no use once the note is taken back.
    then: Option<Fault>,
}

impl Departure {
    pub(super) fn connected(&mut self) {
        (self.taken_back, self.is_awaited, self.seeks, self.then) = (None, false, false, None);
    }

    /// Handles the answer of a master that has taken the note back, or denies it: then the note stays
    /// until it lapses. Returns why the connection is of no use any more, if it is of none.
    pub(super) const fn answered(&mut self) -> Option<Fault> {
        self.is_awaited = false;
        self.then.take()
    }
}

impl Session {
    /// Withdraws this client: no round begins any more, and what it has sent is over at `until`. It
    /// asks no more questions. What a question in flight prolongs is taken back once that question is
    /// answered.
    pub(crate) fn withdraw(&mut self, now: Instant, until: Instant) {
        self.departure.leaves = Some(until);
        self.take_back(now);
        self.seek_note(now, until);
    }

    /// Dials a master without a vote, once for each `until`: it answers, and has been asked before, so
    /// it has a note of this client.
    fn seek_note(&mut self, now: Instant, until: Instant) {
        let Departure { sought, taken_back, .. } = self.departure;
        let is_shorter = [sought, taken_back].into_iter().flatten().all(|before| until < before);
        let is_unfit = self.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::Unfit);
        if is_unfit && is_shorter && self.departure.may_have_noted && self.redial_now(now) {
            (self.departure.seeks, self.departure.sought) = (true, Some(until));
        }
    }

    /// Takes the note back over a connection that was made in vain, because of `fault`. Returns whether
    /// its end has to wait for that.
    pub(crate) fn parts_first(&mut self, now: Instant, fault: &Fault) -> bool {
        if fault.kind != FaultKind::Unfit || self.is_open() || self.confirmation.is_asking() {
            return false;
        }
        self.send_back(now);
        if self.departure.is_awaited {
            self.departure.then = Some(fault.clone());
        }
        self.departure.is_awaited
    }

    /// Takes back this client's note, once the client withdraws and no answer is awaited.
    pub(crate) fn take_back(&mut self, now: Instant) {
        if self.is_open() && !self.confirmation.is_asking() {
            self.send_back(now);
        }
    }

    fn send_back(&mut self, now: Instant) {
        let Departure { leaves: Some(until), may_have_noted, taken_back, .. } = self.departure
        else {
            return;
        };
        let is_shorter = taken_back.is_none_or(|before| until < before);
        if !may_have_noted || !is_shorter {
            return;
        }
        let left = until.since(now);
        let left = if left.is_zero() { left } else { left + self.settings.drift.of(left) };
        (self.departure.taken_back, self.departure.is_awaited) = (Some(until), true);
        self.push(PendingReply::TakenBack, &self.settings.agreement.withdrawal(&self.client, left));
    }

    /// Returns whether a note may still have to be taken back: the client withdraws while a handshake
    /// or a question is in flight, or has no answer yet, or while a master without a vote is dialled.
    pub(crate) fn may_yet_withdraw(&self) -> bool {
        let Departure { is_awaited, may_have_noted, seeks, .. } = self.departure;
        let asks = !self.is_open() || self.confirmation.is_asking() || is_awaited;
        let goes_on = seeks || self.has_connection() && asks;
        self.departure.leaves.is_some() && may_have_noted && goes_on
    }
}
