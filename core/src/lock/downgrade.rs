//! The downgrade: a writer becomes a reader, without a moment in between.
//!
//! It is an extension round in which each master that finds the token alone makes it a reader.
//! Once one master may have done that, the holder is a reader: others may be let in from then on.
//! It is a writer again only if no master can have done it.

use super::{Attempt, Change, Hold, Stage};
use crate::quorum::Instant;
use crate::shared::{AttemptId, Cx, Event, Keys, RequestId};
use crate::waiting::Waiters;
use crate::wire::{Ballot, Claim};
use std::time::Duration;

/// A hold that is a writer's or a reader's, depending on the masters' answers.
pub(crate) struct Downgrade {
    pub(crate) hold: Hold,
    /// What the attempt has claimed as a writer.
    keys: Keys,
    ballot: Option<Box<Ballot>>,
}

impl Attempt {
    /// Makes a writer claim its key as a reader.
    pub(crate) fn prepare_downgrade(&mut self, cx: &mut Cx, id: AttemptId) {
        let Some(reader) = self.claim.keys.downgraded() else { return };
        let Some(hold) = self.take_from_keeper(&mut cx.timers, id) else { return };
        // A reader has no fence. That of the writer stays for as long as after its release.
        cx.masters.keep(cx.now, &self.claim, Duration::ZERO);
        let keys = std::mem::replace(&mut self.claim.keys, reader);
        let ballot = self.claim.ballot.take();
        let downgrade = Change::Downgrade(Downgrade { hold, keys, ballot });
        self.stage = Stage::Changing(Box::new(downgrade));
    }

    /// Makes the hold a reader's, after an extension that was won.
    pub(crate) fn become_reader(
        &mut self,
        cx: &mut Cx,
        waiters: &mut Waiters,
        request: RequestId,
        id: AttemptId,
        deadline: Instant,
    ) {
        self.settle_change(cx, waiters, id);
        if let Some(hold) = self.held_mut() {
            hold.notify = true;
            let result = Ok(hold.prolong(cx, id, deadline));
            cx.events.push(Event::Downgraded { request, attempt: id, result });
        }
    }

    /// Notifies readers that they may be let in beside this one, once a quorum says so.
    pub(crate) fn notify_if_due(&mut self, cx: &mut Cx, waiters: &mut Waiters) {
        if self.held_mut().is_some_and(|hold| std::mem::take(&mut hold.notify)) {
            waiters.shared(cx, &self.claim.keys);
        }
    }
}

impl Downgrade {
    /// Makes `claim` a writer's again.
    pub(crate) fn undo(&mut self, claim: &mut Claim) {
        std::mem::swap(&mut claim.keys, &mut self.keys);
        claim.ballot = self.ballot.take();
    }
}

impl Attempt {
    /// Returns whether a downgrade of the hold is under way.
    pub(crate) fn downgrading(&self) -> bool {
        match &self.stage {
            Stage::Changing(change) => matches!(**change, Change::Downgrade(_)),
            _ => false,
        }
    }

    pub(crate) fn may_downgrade(&self) -> bool {
        self.claim.keys.as_writer().is_some()
    }

    /// Returns whether it has its places in the local queue, if it is held: a reader has none.
    pub(crate) fn has_places(&self) -> bool {
        self.claim.keys.as_reader().is_none() || self.downgrading()
    }
}
