//! The downgrade: a writer becomes a reader, without a moment in between.
//!
//! It is an extension round in which each master that finds the token alone makes it a reader.
//! Once one master may have done that, the holder is a reader: others may be let in from then on.
//! It is a writer again only if no master can have done it.

use super::{Around, Attempt, Purpose, Stage};
use crate::quorum::Instant;
use crate::shared::{Cx, Event, RequestId};
use std::time::Duration;

impl Attempt {
    /// Makes a writer claim its key as a reader.
    pub(crate) fn prepare_downgrade(&mut self, cx: &mut Cx, purpose: Purpose) {
        if let Some(reader) = self.claim.keys.downgraded() {
            // A reader has no fence. That of the writer stays for as long as after its release.
            cx.masters.keep(cx.now, &self.claim, Duration::ZERO);
            let keys = std::mem::replace(&mut self.claim.keys, reader);
            let claimed = Some((keys, self.claim.ballot.take()));
            self.begin_change(cx, purpose, claimed);
        }
    }

    /// Makes the hold a reader's, after an extension that was won.
    pub(crate) fn become_reader(&mut self, at: &mut Around, request: RequestId, deadline: Instant) {
        self.settle_change(at);
        let id = self.id;
        if let Some(hold) = self.held_mut() {
            hold.notify = true;
            let result = Ok(hold.prolong(&mut at.cx, id, deadline));
            at.cx.events.push(Event::Downgraded { request, attempt: id, result });
        }
    }

    /// Notifies readers that they may be let in beside this one, once a quorum says so.
    pub(crate) fn notify_if_due(&mut self, at: &mut Around) {
        if self.held_mut().is_some_and(|hold| std::mem::take(&mut hold.notify)) {
            at.waiters.shared(&mut at.cx, &self.claim.keys);
        }
    }

    /// Returns whether a downgrade of the hold is under way.
    pub(crate) fn downgrading(&self) -> bool {
        matches!(&self.stage, Stage::Changing(change) if change.claimed.is_some())
    }

    pub(crate) fn may_downgrade(&self) -> bool {
        self.claim.keys.as_writer().is_some()
    }

    /// Returns whether it has its places in the local queue, if it is held: a reader has none.
    pub(crate) fn has_places(&self) -> bool {
        self.claim.keys.as_reader().is_none() || self.downgrading()
    }
}
