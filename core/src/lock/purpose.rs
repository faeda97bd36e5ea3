//! What an extension is for. In any case it is one round: every master is asked to prolong the keys of one
//! hold.

use super::{Around, Attempt, Hold, Stage};
use crate::quorum::Nanos;
use crate::shared::{Cx, Keys, RequestId, Timer};
use crate::wire::Ballot;

/// The purpose of an extension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It moves the deadline, and may be one of several that are under way. Without a request, the keeper has
    /// asked for it.
    Renew(Option<RequestId>),
    /// The last one of a hold that is given to another process.
    Detach(RequestId),
    /// The first one of a hold that another process has given us, with what is left of its keep-alive.
    Adopt(RequestId, Option<Nanos>),
    /// A writer becomes a reader.
    Downgrade(RequestId),
}

/// What the extension under way makes of a hold. Nothing else acts on the hold meanwhile.
pub(crate) struct Change {
    pub(super) purpose: Purpose,
    /// The hold as it was until then; `None` if it is not held here before the extension is won.
    pub(super) hold: Option<Hold>,
    /// What a writer has claimed that becomes a reader.
    pub(super) claimed: Option<(Keys, Option<Box<Ballot>>)>,
}

impl Attempt {
    /// Begins to change a hold. The keeper no longer extends it: that would follow the extension under way.
    pub(crate) fn begin_change(
        &mut self,
        cx: &mut Cx,
        purpose: Purpose,
        claimed: Option<(Keys, Option<Box<Ballot>>)>,
    ) {
        if let Stage::Held(hold) = &mut self.stage {
            hold.extend_at.take().inspect(|at| cx.timers.cancel(*at, Timer::Keep(self.id)));
            let change = Change { purpose, hold: Some(*hold), claimed };
            self.stage = Stage::Changing(Box::new(change));
        }
    }

    /// Makes a hold that was to change what it was before.
    pub(crate) fn undo_change(&mut self) {
        if let Stage::Changing(change) = &mut self.stage
            && let Some(claimed) = change.claimed.take()
        {
            (self.claim.keys, self.claim.ballot) = claimed;
        }
        self.end_change();
    }

    /// Makes a hold that was to leave what it was before, and one that was to become a reader's a reader's.
    pub(crate) fn settle_change(&mut self, at: &mut Around) {
        if self.downgrading() {
            at.waiters.left(&at.cx, &self.claim.keys, self.id, Some(self.began));
        }
        self.end_change();
    }

    fn end_change(&mut self) {
        if let Some(hold) = self.hold() {
            self.stage = Stage::Held(*hold);
        }
    }

    /// Returns the hold, even while an extension changes it.
    pub(crate) const fn hold(&self) -> Option<&Hold> {
        match &self.stage {
            Stage::Held(hold) => Some(hold),
            Stage::Changing(change) => change.hold.as_ref(),
            Stage::Asked | Stage::Idle(_) | Stage::Lost(_) => None,
        }
    }

    /// Returns whether the answers to an extension for this purpose count. Without a purpose, it is decided.
    pub(crate) fn awaits(&self, purpose: Option<Purpose>) -> bool {
        match &self.stage {
            Stage::Held(_) => matches!(purpose, None | Some(Purpose::Renew(_))),
            Stage::Changing(change) => purpose == Some(change.purpose),
            Stage::Asked | Stage::Idle(_) | Stage::Lost(_) => false,
        }
    }
}
