//! What an extension is for. In any case it is one round: every master is asked to prolong the keys of one
//! hold.

use super::adopt::Adoption;
use super::downgrade::Downgrade;
use super::{Attempt, Hold, Stage};
use crate::shared::{AttemptId, Cx, RequestId, Timer, Timers};
use crate::waiting::Waiters;

/// The purpose of an extension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It moves the deadline, and may be one of several that are under way. Without a request, the keeper has
    /// asked for it.
    Renew(Option<RequestId>),
    /// The last one of a hold that is given to another process.
    Detach(RequestId),
    /// The first one of a hold that another process has given us.
    Adopt,
    /// A writer becomes a reader.
    Downgrade(RequestId),
}

/// What the extension under way makes of a hold. Nothing else acts on the hold meanwhile.
pub(crate) enum Change {
    /// It leaves, and is as it was until then.
    Detach(Hold),
    /// It is a writer's or a reader's, depending on the masters' answers.
    Downgrade(Downgrade),
    /// It is not held here before the extension is won.
    Adopt(Adoption),
}

impl Attempt {
    /// Makes a hold that was to change what it was before.
    pub(crate) fn undo_change(&mut self) {
        if let Stage::Changing(change) = &mut self.stage
            && let Change::Downgrade(downgrade) = &mut **change
        {
            downgrade.undo(&mut self.claim);
        }
        self.end_change();
    }

    /// Makes a hold that was to leave what it was before, and one that was to become a reader's a reader's.
    pub(crate) fn settle_change(&mut self, cx: &Cx, waiters: &mut Waiters, id: AttemptId) {
        if self.downgrading() {
            waiters.left(cx, &self.claim.keys, id, Some(self.began));
        }
        self.end_change();
    }

    fn end_change(&mut self) {
        if let Some(hold) = self.hold() {
            self.stage = Stage::Held(*hold);
        }
    }

    /// Returns the hold, which its keeper no longer extends.
    pub(crate) fn take_from_keeper(&self, timers: &mut Timers, id: AttemptId) -> Option<Hold> {
        let mut hold = *self.held()?;
        if let Some(at) = hold.extend_at.take() {
            timers.cancel(at, Timer::Keep(id));
        }
        Some(hold)
    }

    /// Returns the hold, even while an extension changes it.
    pub(crate) const fn hold(&self) -> Option<&Hold> {
        match &self.stage {
            Stage::Held(hold) => Some(hold),
            Stage::Changing(change) => match &**change {
                Change::Detach(hold) | Change::Downgrade(Downgrade { hold, .. }) => Some(hold),
                Change::Adopt(_) => None,
            },
            Stage::Asked | Stage::Idle(_) | Stage::Lost(_) => None,
        }
    }

    /// Returns whether the answers to an extension for this purpose count. Without a purpose, it is decided.
    pub(crate) fn awaits(&self, purpose: Option<Purpose>) -> bool {
        match &self.stage {
            Stage::Held(_) => matches!(purpose, None | Some(Purpose::Renew(_))),
            Stage::Changing(change) => match **change {
                Change::Detach(_) => matches!(purpose, Some(Purpose::Detach(_))),
                Change::Downgrade(_) => matches!(purpose, Some(Purpose::Downgrade(_))),
                Change::Adopt(_) => purpose == Some(Purpose::Adopt),
            },
            Stage::Asked | Stage::Idle(_) | Stage::Lost(_) => false,
        }
    }
}
