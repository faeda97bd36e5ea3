//! The end of a client: it takes back what it has noted, as far as nothing that it has sent rests on
//! it. The others' notes stand, since each client has a part of its own.

use crate::master::{PendingReply, Session};
use crate::quorum::Instant;

/// What a session does about this client's note once the client ends.
#[derive(Default)]
pub(super) struct Departure {
    /// When the last of what this client has sent may be over, once it sends nothing more.
    leaves: Option<Instant>,
    /// This client may have noted something.
    may_have_noted: bool,
    /// Until when the note lasts that was taken back last, on this connection.
    taken_back: Option<Instant>,
    /// The command that takes it back has no answer yet.
    is_awaited: bool,
}

impl Departure {
    /// Returns whether nothing more is noted, and what was noted is taken back.
    pub(super) const fn withdraws(&self) -> bool {
        self.leaves.is_some()
    }

    pub(super) const fn noted(&mut self) {
        self.may_have_noted = true;
    }

    pub(super) const fn connected(&mut self) {
        (self.taken_back, self.is_awaited) = (None, false);
    }

    pub(super) const fn answered(&mut self) {
        self.is_awaited = false;
    }
}

impl Session {
    /// Withdraws this client: no round begins any more, and what it has sent is over at `until`. It
    /// asks no more questions. What a question in flight prolongs is taken back once that question is
    /// answered.
    pub(crate) fn withdraw(&mut self, now: Instant, until: Instant) {
        self.departure.leaves = Some(until);
        self.take_back(now);
    }

    /// Takes back this client's note, once the client withdraws and no answer is awaited.
    pub(crate) fn take_back(&mut self, now: Instant) {
        let Departure { leaves: Some(until), may_have_noted, taken_back, .. } = self.departure
        else {
            return;
        };
        let is_shorter = taken_back.is_none_or(|before| until < before);
        if !may_have_noted || !is_shorter || !self.is_open() || self.confirmation.is_asking() {
            return;
        }
        let left = until.since(now);
        let left = if left.is_zero() { left } else { left + self.settings.drift.of(left) };
        (self.departure.taken_back, self.departure.is_awaited) = (Some(until), true);
        self.push(PendingReply::TakenBack, &self.settings.agreement.withdrawal(&self.client, left));
    }

    /// Returns whether a note may still have to be taken back: the client withdraws while a handshake
    /// or a question is in flight, or has no answer yet.
    pub(crate) fn may_yet_withdraw(&self) -> bool {
        let Departure { is_awaited, may_have_noted, .. } = self.departure;
        let asks = !self.is_open() || self.confirmation.is_asking() || is_awaited;
        self.departure.withdraws() && may_have_noted && self.has_connection() && asks
    }
}
